"""What the tasks do once their options are understood: run, and print what there is."""

from __future__ import annotations

import datetime
import os
import signal
import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from suite import units
from suite.case import TARGETS, Planned, Purpose, dims_text
from suite.cli import answer, doctor
from suite.cli.console import Bar, Lines, listener, print_table
from suite.cli.options import Options, parse_outcomes
from suite.environments import images, say, venv
from suite.environments.locks import names as environment_names
from suite.errors import UserError, unknown
from suite.launch.attempt import spare_bytes
from suite.launch.container import sweep
from suite.launch.engine import worker_environment
from suite.machine import devices, facts, noise
from suite.machine.description import describe
from suite.plan import preset
from suite.plan.memory import too_tight
from suite.plan.shards import Shard
from suite.reference import check
from suite.reference.floor import floor
from suite.report.render import render
from suite.results.store import INTERRUPTED, NOTHING_MEASURED, ResultSet, exit_code
from suite.run import ceilings
from suite.run.engines import absent
from suite.run.session import Session
from suite.run.start import Run, create, prepare, reopen, runner
from suite.stacks.catalog import REAL_STACKS, STACKS
from suite.workloads.catalog import Workload, find


def run(
    options: Options, resume: str | None, again: Sequence[str], *, force: bool, dry_run: bool, as_json: bool
) -> int:
    """`invoke run`: plan what is asked, or take the plan of a set to complete, and run it. The exit code."""
    outcomes = parse_outcomes(again)
    if resume is None and outcomes:
        raise UserError("--again goes with --resume=SET: it says which outcomes of that set are run again.")
    if resume is not None:
        if options != Options() or dry_run:
            raise UserError("--resume takes its plan from the set; it goes with --again and --json alone.")
        with noise.alone(len(facts.usable_cores()), force) as disturbances:
            return carry_out(*reopen(Path(resume)), outcomes, disturbances, as_json)
    chosen = options.chosen_preset()
    asked = prepare(
        chosen, options.selection(facts.usable_cores()), baseline=options.baseline, engine=options.engine,
        python=options.python, workload_paths=options.workload_paths, fits=options.fits, build=not dry_run,
        shard=Shard.parse(options.shard) if options.shard else None,
    )  # fmt: skip
    if dry_run:
        print_plan(asked)
        return 0
    command = options.command(engine=asked.engine.name, workload_path=asked.workload_paths)
    with noise.alone(len(facts.usable_cores()), force) as disturbances:
        store = create(asked, chosen.path, command, Path(options.results))
        return carry_out(store, asked, outcomes, disturbances, as_json)


def carry_out(store: ResultSet, asked: Run, again: frozenset[str], disturbances: Sequence[str], as_json: bool) -> int:
    """Run a plan, or what is left of it, render its report and say where everything is. The exit code."""
    shown = listener(len(store.plan.attempts))
    shown.note(f"Result set {store.folder}")
    shown.note(asked.engine.why)
    for case in sweep(asked.engine.client) if asked.engine.client else ():
        shown.note(f"Removed the container that a killed run had left: {case}")
    dropped = worker_environment(os.environ)[1]
    if dropped:
        shown.note(f"Not passed on to the measured processes: {', '.join(sorted(dropped))}")
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends as cleanly as Ctrl-C
    with ExitStack() as stack:
        stack.callback(shown.close)
        for disturbance in disturbances:
            shown.note(disturbance)
        for sentence in too_tight(asked.plan.cases):
            shown.note(sentence)
        try:
            for sentence in ceilings.measure(store):
                shown.note(sentence)
            rows = Session(runner(store, asked), shown, again).run()
        except KeyboardInterrupt:
            return interrupted(store, shown)
        except OSError as broken:
            rest = f"What is finished is kept; `invoke run --resume={store.folder}` completes the set."
            raise UserError(f"The run can't go on: {broken}. {rest}") from broken
    page = render(store.folder)
    code = exit_code(rows)
    answer.tell(store, page, code, as_json)
    if code == NOTHING_MEASURED:
        say("Nothing was measured: no case of this run can run here. The page has each case's reason.")
    return code


def interrupted(store: ResultSet, shown: Lines | Bar) -> int:
    """Ctrl-C: what is finished stays, and how to go on."""
    whole = {block.block for block in store.blocks()}
    # What isn't in a block stands by itself.
    cut = sum(row["block"] > 0 and row["block"] not in whole for row in store.read()[0])
    rest = f" A block that was cut short is run again whole, since half a block isn't paired: that is {cut} of them."
    shown.note(f"Interrupted. All {store.finished()} finished attempts are kept.{rest if cut else ''} "
               f"`invoke run --resume={store.folder}` completes the set.")  # fmt: skip
    return INTERRUPTED


def verdict(asked: Run, planned: Planned) -> str:
    """What will become of a case, as far as that is known before it runs."""
    case = planned.case
    if planned.unsupported:
        return planned.unsupported
    if planned.too_large:
        return f"runs out of memory: {planned.too_large}"
    if asked.plan.purpose is Purpose.IR and asked.plan.protocol.abstract:
        return "only compiled"
    least = floor(asked.workloads[case.workload].spec, case.dims, case.pass_).least
    limit = case.limit_memory_bytes or spare_bytes()
    if least > limit:
        return f"runs out of memory: tensors of {units.quantity(least)}, a limit of {units.quantity(limit)}"
    return "runs"


def print_plan(asked: Run) -> None:
    """Cases, blocks, engine and an estimate of the time, for --dry-run."""
    plan = asked.plan
    rows = [[each.case.case_name, dims_text(each.case.dims), verdict(asked, each)] for each in plan.cases]
    print_table("Cases", ["case", "dims", "verdict"], rows)
    attempts = [attempt for attempt in plan.attempts() if plan.reason(attempt.case) is None]
    of = Counter(attempt.purpose for attempt in attempts)
    most = plan.protocol.blocks_max
    stage = f", up to {most} if their spread asks for it" if most > plan.protocol.blocks else ""
    twin = f", the A/A twin of {plan.baseline} included" if plan.twin else ""
    timed = plan.purpose is Purpose.TIMED
    if plan.purpose is Purpose.IR:
        print(f"{len(plan.cases)} cases; {of[Purpose.IR]} processes that keep what is handed to the compiler.")
    elif plan.purpose is Purpose.EXPLAIN:
        print(f"{len(plan.cases)} cases; {of[Purpose.EXPLAIN]} processes that tell which kernels do the work, "
              f"{of[Purpose.PROFILE]} that tell where the time goes.")  # fmt: skip
    elif timed:
        processes = of[Purpose.TIMED] + of[Purpose.PRIME]
        print(f"{len(plan.cases)} cases; {processes} processes in {plan.protocol.blocks} block(s){stage}{twin}.")
    else:
        sparing = "" if plan.exhaustive else ", fewer where a smaller case runs out of it"
        print(f"{len(plan.cases)} cases; {of[Purpose.MEMORY]} processes that ask what memory they need{sparing}.")
    if of[Purpose.IR] and plan.purpose is not Purpose.IR:
        print(f"After them {of[Purpose.IR]} processes more, untimed, keep what is handed to the compiler.")
    if of[Purpose.EXPLAIN] and plan.purpose is not Purpose.EXPLAIN:
        print(f"After them {of[Purpose.EXPLAIN]} processes more, untimed, tell which kernels do the work and what "
              "holds the memory.")  # fmt: skip
    if of[Purpose.PROFILE] and plan.purpose is not Purpose.EXPLAIN:
        print(f"After them {of[Purpose.PROFILE]} processes more tell where the time goes.")
    print(asked.engine.why)
    for sentence in too_tight(plan.cases):
        print(sentence)
    time = units.duration(plan.seconds(asked.workloads))
    print(f"About {time} {f'for the first {plan.protocol.blocks} block(s) ' if timed else ''}on a small machine.")


def training_state(workload: Workload) -> str:
    """What training needs at least, at the size with the most of it."""
    most = max(floor(workload.spec, workload.dims(size, {}), "train").state for size in workload.sizes)
    return f"{most / 1e9:.3g} GB"


def print_catalogue(paths: Sequence[Path]) -> None:
    """Workloads with their sizes, stacks with what they lack here, presets."""
    workloads = find(paths)
    rows = [
        [w.name, w.spec.TITLE, ", ".join(w.sizes), training_state(w), ", ".join(w.spec.PASSES), ", ".join(w.dialects)]
        for w in workloads.values()
    ]
    heads = ["workload", "what it computes", "sizes", "largest state", "passes", "dialects"]
    print_table("Workloads", heads, rows)
    stacks = []
    for name in REAL_STACKS:
        stack = STACKS[name]
        lack = absent(stack, "cpu")
        stacks.append([name, stack.title, stack.environment, ", ".join(stack.targets), lack or "yes"])
    print_table("Stacks", ["stack", "what it is", "environment", "targets", "runs on this CPU"], stacks)
    presets = [[name, preset.load(name).title] for name in preset.names()]
    print_table("Presets", ["preset", "what it asks"], presets)
    for target, lack in devices.missing().items():
        if lack:
            print(f"--target={target}: {lack}")


def print_checks() -> int:
    """The doctor's findings; 0 if nothing needed is missing, else 3."""
    found = doctor.checks()
    word = {True: "ok", False: "MISSING", None: "fact"}
    rows = [[check.name, word[check.ok], check.found, "" if check.ok else check.remedy] for check in found]
    print_table("This machine", ["check", "verdict", "found", "remedy"], rows)
    cores = tuple(facts.usable_cores())
    print(f"To stand beside figures: {describe(facts.machine(), ceilings.reading(cores))}\n")
    missing = [check.name for check in found if check.ok is False]
    print(f"Missing: {', '.join(missing)}." if missing else "Nothing is missing.", file=sys.stderr)
    return 3 if missing else 0


def set_up(target: str) -> None:
    """Make every environment that has a lock on a target."""
    facts.refuse_platform()
    if target not in TARGETS:
        raise unknown("target", target, TARGETS)
    for name in environment_names(target):
        venv.ensure(name, target)


def build_images(target: str, names: Sequence[str], base: str | None) -> None:
    """Build what is asked for, by default all environments of a target; tags that are there already stay."""
    if target not in TARGETS:
        raise unknown("target", target, TARGETS)
    client = images.connect()
    for name in names or environment_names(target):
        if base is None and images.find(client, name, target) is not None:
            say(f"{images.tag(name, target)} is there already")
        else:
            images.build(client, name, target, base)


def make_golden(names: Sequence[str], sizes: Sequence[str], only_check: bool) -> int:
    """Make golden files, or compare the stored ones with new ones. 3 if some differ."""
    models = {name: workload for name, workload in find().items() if (workload.folder / "oracle.py").exists()}
    for name in names:
        if name not in models:
            raise unknown("model", name, models)
    oracle = check.Oracle(venv.ensure("oracle", "test").python, worker_environment(os.environ)[0])
    code = 0
    for name in names or models:
        workload = models[name]
        for size in sizes or ("tiny", "odd", "small"):
            if size not in workload.sizes:
                raise unknown("size", size, workload.sizes, of=f"Workload '{name}'")
            path = check.path_of(workload, size)
            if not only_check:
                oracle.make(workload, size, path)
            found = oracle.differences(workload, size) if only_check else []
            print(f"{path}: {'differs in ' + ', '.join(found) if found else 'as stored' if only_check else 'made'}")
            code = 3 if found else code
    return code


def print_images(prune: bool) -> None:
    """What is built, or what was removed because its lock has changed."""
    client = images.connect()
    found = images.prune(client) if prune else list(images.built(client))
    now = datetime.datetime.now(datetime.UTC)
    rows = [
        [image.tag, f"{image.size_bytes / 1e6:.0f} MB", image.lock_sha256[:12],
         units.age((now - image.created).total_seconds()),
         "yes" if image.current else "no: its lock has changed"]
        for image in found
    ]  # fmt: skip
    print_table("Removed images" if prune else "Images", ["image", "size", "lock", "age", "current"], rows)
