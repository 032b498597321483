"""What the tasks do once their options are understood: run, and print what there is."""

from __future__ import annotations

import datetime
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from suite import doctor, environments, images, oracle, preset, results
from suite.case import TARGETS
from suite.console import Bar, Lines, listener, minutes_text, print_table, seconds_text
from suite.engines import Choice
from suite.errors import UserError, unknown
from suite.launch.container import sweep
from suite.launch.engine import worker_environment
from suite.plan import Plan
from suite.report.page import tables
from suite.report.render import render
from suite.report.tables import StackRow
from suite.request import Planning, absent, measure_ceiling, runner, to_json
from suite.results.store import ResultSet, exit_code
from suite.session import Session
from suite.stacks.catalog import REAL_STACKS, STACKS
from suite.workloads.catalog import Workload, find
from suite.workloads.optimizers import training_state_bytes

INTERRUPTED = 130


def run(
    store: ResultSet, plan: Plan, workloads: dict[str, Workload], engine: Choice, again: frozenset[str], as_json: bool
) -> int:
    """Run a plan, or what is left of it, render its report and say where everything is. The exit code."""
    shown = listener(plan.protocol.blocks * len(plan.block(1)))
    shown.note(f"Result set {store.folder}")
    shown.note(engine.why)
    for case in sweep(engine.client) if engine.client else ():
        shown.note(f"Removed the container that a killed run had left: {case}")
    dropped = worker_environment(os.environ)[1]
    if dropped:
        shown.note(f"Not passed on to the measured processes: {', '.join(sorted(dropped))}")
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends as cleanly as Ctrl-C
    try:
        measure_ceiling(store, plan)
        rows = Session(runner(store, plan, workloads, engine), shown, again).run()
    except KeyboardInterrupt:
        return interrupted(store, shown)
    except OSError as broken:
        rest = f"What is finished is kept; `invoke run --resume={store.folder}` completes the set."
        raise UserError(f"The result set can't be written: {broken}. {rest}") from broken
    finally:
        shown.close()
    page = render(store.folder)
    store.seal()
    code = exit_code(rows)
    if as_json:
        print(to_json(store, rows, page, code))
    else:
        print_headline(results.load(store.folder))
        print(f"Results: {store.folder / 'results.parquet'}\nReport:  {page}")
    return code


def interrupted(store: ResultSet, shown: Lines | Bar) -> int:
    """Ctrl-C: what is finished stays, and how to go on."""
    finished = len(list((store.folder / "attempts").glob("*.parquet")))
    shown.note(
        f"Interrupted. {finished} finished attempts are kept; `invoke run --resume={store.folder}` completes the set."
    )
    return INTERRUPTED


def print_headline(loaded: results.Results) -> None:
    """Per question the first / second / steady table, what has no times, and the answer in a sentence."""
    shown = tables(loaded, loaded.baseline)
    columns = ["stack", "first run", "second run", "average steady state", f"speedup over {shown.baseline}", "verdict"]
    for comparison, answer in zip(shown.comparisons, shown.headlines, strict=True):
        rows = [[row.stack, *map(seconds_or_dash, (row.first, row.second, row.average)), *speedup_words(row)]
                for row in comparison.rows]  # fmt: skip
        rows += [[cell.stack, "-", "-", "-", "-", cell.outcome] for cell in comparison.failed]
        print_table(comparison.name, columns, rows)
        print(f"{answer.text}\n")


def seconds_or_dash(seconds: float | None) -> str:
    """A time with its unit, or a dash where there is none."""
    return "-" if seconds is None else seconds_text(seconds)


def speedup_words(row: StackRow) -> tuple[str, str]:
    """The speedup with its interval, and the verdict; a stack that isn't `ok` has its outcome there."""
    if row.is_baseline or row.speedup is None:
        return "-", "baseline" if row.is_baseline else row.outcome
    interval = "" if row.speedup.low is None else f" [{row.speedup.low:.3g}, {row.speedup.high:.3g}]"
    return f"{row.speedup.ratio:.3g}x{interval}", row.speedup.verdict


def print_plan(planning: Planning) -> None:
    """Cases, blocks, engine and an estimate of minutes, for --dry-run."""
    plan, workloads = planning.plan, planning.workloads
    rows = [
        [p.case.case_name, ",".join(f"{k}={v}" for k, v in p.case.dims.items()), p.unsupported or "runs"]
        for p in plan.cases
    ]
    print_table("Cases", ["case", "dims", "verdict"], rows)
    attempts = plan.block(1)
    processes = sum(plan.reason(attempt.case) is None for attempt in attempts)
    most = plan.protocol.blocks_max
    stage = f", up to {most} if their spread asks for it" if most > plan.protocol.blocks else ""
    twin = f", the A/A twin of {plan.baseline} included" if plan.twin else ""
    minutes = minutes_text(plan.seconds(workloads))
    print(f"{len(plan.cases)} cases; {plan.protocol.blocks} block(s){stage}; {processes} processes a block{twin}.")
    print(planning.engine.why)
    print(f"About {minutes} for the first {plan.protocol.blocks} block(s) on a small machine.")


def training_state(workload: Workload) -> str:
    """What training needs at least, at the size with the most of it."""
    most = max(training_state_bytes(workload.spec, workload.dims(size, {})) for size in workload.sizes)
    return f"{most / 1e9:.3g} GB"


def print_catalogue(paths: Sequence[Path]) -> None:
    """Workloads with their sizes, stacks with what they lack here, presets."""
    workloads = find(paths)
    rows = [
        [w.name, w.spec.TITLE, ", ".join(w.sizes), training_state(w), ", ".join(w.spec.PASSES), ", ".join(w.dialects)]
        for w in workloads.values()
    ]
    heads = ["workload", "what it computes", "sizes", "state of the largest", "passes", "dialects"]
    print_table("Workloads", heads, rows)
    stacks = []
    for name in REAL_STACKS:
        stack = STACKS[name]
        lack = absent(stack, "cpu")
        stacks.append([name, stack.title, stack.environment, ", ".join(stack.targets), lack or "yes"])
    print_table("Stacks", ["stack", "what it is", "environment", "targets", "runs on this CPU"], stacks)
    presets = [[name, preset.load(name).title] for name in preset.names()]
    print_table("Presets", ["preset", "what it asks"], presets)
    for target, lack in doctor.devices().items():
        if lack:
            print(f"--target={target}: {lack}")


def print_checks() -> int:
    """The doctor's findings; 0 if nothing needed is missing, else 3."""
    found = doctor.checks()
    word = {True: "ok", False: "MISSING", None: "fact"}
    rows = [[check.name, word[check.ok], check.found, "" if check.ok else check.remedy] for check in found]
    print_table("This machine", ["check", "verdict", "found", "remedy"], rows)
    missing = [check.name for check in found if check.ok is False]
    print(f"Missing: {', '.join(missing)}." if missing else "Nothing is missing.", file=sys.stderr)
    return 3 if missing else 0


def build_images(target: str, names: Sequence[str], base: str | None) -> None:
    """Build what is asked for, by default all environments of a target; tags that are there already stay."""
    if target not in TARGETS:
        raise unknown("target", target, TARGETS)
    client = images.connect()
    for name in names or environments.names(target):
        if base is None and images.find(client, name, target) is not None:
            environments.say(f"{images.tag(name, target)} is there already")
        else:
            images.build(client, name, target, base)


def make_golden(names: Sequence[str], sizes: Sequence[str], check: bool) -> int:
    """Make golden files, or compare the stored ones with new ones. 3 if some differ."""
    models = {name: workload for name, workload in find().items() if (workload.folder / "oracle.py").exists()}
    for name in names:
        if name not in models:
            raise unknown("model", name, models)
    code = 0
    for name in names or models:
        workload = models[name]
        for size in sizes or ("tiny", "odd"):
            if size not in workload.sizes:
                raise unknown(f"size of workload '{name}'", size, workload.sizes)
            path = oracle.path_of(workload, size)
            if not check:
                oracle.make(workload, size, path)
            found = oracle.differences(workload, size) if check else []
            print(f"{path}: {'differs in ' + ', '.join(found) if found else 'as stored' if check else 'made'}")
            code = 3 if found else code
    return code


def print_images(prune: bool) -> None:
    """What is built, or what was removed because its lock has changed."""
    client = images.connect()
    found = images.prune(client) if prune else list(images.built(client))
    now = datetime.datetime.now(datetime.UTC)
    rows = [
        [image.tag, f"{image.size_bytes / 1e6:.0f} MB", image.lock_sha256[:12], age_text(now - image.created),
         "yes" if image.current else "no: its lock has changed"]
        for image in found
    ]  # fmt: skip
    print_table("Removed images" if prune else "Images", ["image", "size", "lock", "age", "current"], rows)


def age_text(age: datetime.timedelta) -> str:
    """`3 days`, `5 h` or `12 min`."""
    minutes = int(age.total_seconds()) // 60
    days, hours = minutes // 1440, minutes // 60
    return f"{days} days" if days > 1 else f"{hours} h" if hours else f"{minutes} min"
