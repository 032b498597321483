"""What the tasks do once their options are understood: run, and print what there is."""

from __future__ import annotations

import datetime
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path

from suite import units
from suite.archive.naming import named
from suite.case import TARGETS
from suite.cli import answer, doctor
from suite.cli.console import Bar, Lines, listener, print_table
from suite.cli.dry_run import plan_json, print_plan
from suite.cli.ending import explained
from suite.cli.options import Options, parse_outcomes
from suite.cli.output import print_json
from suite.cluster.schedule import CLUSTER, SCHEDULERS, forget, hand_out
from suite.environments import images, pythons, say, venv
from suite.environments.locks import names as environment_names
from suite.errors import COMMAND, UserError, unknown
from suite.launch.container import sweep
from suite.launch.engine import worker_environment
from suite.machine import facts, noise
from suite.machine.description import describe
from suite.plan.memory import too_tight
from suite.plan.shards import Shard
from suite.reference import check
from suite.report.formats.render import render
from suite.results.outcomes import FAILED, INTERRUPTED, exit_code
from suite.results.store.one_command import sole
from suite.results.store.result_set import ResultSet
from suite.results.store.rows import Row
from suite.run import ceilings
from suite.run.session import Session
from suite.run.start import Run, create, prepare, reopen, runner
from suite.workloads.catalog import find

UNFINISHED = 1  # exit code: other machines haven't done all of it


def run(
    options: Options,
    resume: str | None,
    again: Sequence[str],
    *,
    trust: bool = False,
    force: bool,
    dry_run: bool,
    as_json: bool,
    address: str = "auto",
) -> int:
    """`./stackwars run`: plan what is asked, or take the plan of a set to complete, and run it. The exit code."""
    outcomes = parse_outcomes(again)
    if resume is None and outcomes:
        raise UserError("--again goes with --resume=SET: it says which outcomes of that set are run again.")
    if resume is None and trust:
        raise UserError("--trust goes with --resume=SET: it says that a set which wasn't begun here is yours.")
    if resume is not None:
        if options != Options() or dry_run:
            raise UserError(
                "--resume takes its plan from the set; it goes with --again, --trust, --address, "
                "--force and --json alone."
            )
        store, asked = reopen(named(resume, Path(options.results)), trust=trust)
        if asked.scheduler:
            return elsewhere(store, outcomes, force, as_json, address)
        with noise.alone(len(facts.usable_cores()), force) as disturbances:
            return carry_out(store, asked, outcomes, disturbances, as_json)
    if options.fits is not None:
        options = replace(options, fits=str(named(options.fits, Path(options.results))))
    chosen = options.chosen_preset()
    asked = prepare(
        chosen,
        options.selection(facts.usable_cores()),
        baseline=options.baseline,
        engine=options.engine,
        python=options.python,
        workload_paths=options.workload_paths,
        fits=options.fits,
        build=not dry_run,
        shard=Shard.parse(options.shard) if options.shard else None,
        scheduler=scheduler_of(options),
    )
    if dry_run:
        if as_json:
            print_json(plan_json(asked))
        else:
            print_plan(asked)
        return 0
    command = options.command(engine=asked.engine.name, workload_path=asked.workload_paths)
    begin = partial(create, asked, chosen.path, command, Path(options.results))
    if asked.scheduler:
        return elsewhere(begin(), outcomes, force, as_json, address)
    with noise.alone(len(facts.usable_cores()), force) as disturbances:
        return carry_out(begin(), asked, outcomes, disturbances, as_json)


def scheduler_of(options: Options) -> str:
    """Who says where each comparison runs. Raises UserError for one that there isn't."""
    if options.scheduler not in ("", *SCHEDULERS):
        raise unknown("scheduler", options.scheduler, SCHEDULERS)
    if options.scheduler and options.shard:
        raise UserError("--shard and --scheduler are two ways to share a plan among machines: choose one.")
    return options.scheduler


def elsewhere(store: ResultSet, again: frozenset[str], force: bool, as_json: bool, address: str) -> int:
    """Have a plan carried out by other machines. The exit code."""
    say(f"Result set {store.folder}")
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with sole(store.folder) as mark:
        try:
            forget(store, again)
            if not hand_out(store, address, force, mark):
                say(f"What came back is kept; `{COMMAND} run --resume={store.folder}` completes the set.")
                return UNFINISHED
            store.make_latest()
            done = ResultSet.open(store.folder)  # its machines may have said what they can't run
            return finish(done, done.commit(), as_json)
        except KeyboardInterrupt:
            say(
                f"Interrupted. All {store.finished()} attempts that came back are kept; "
                f"`{COMMAND} run --resume={store.folder}` completes the set."
            )
            return INTERRUPTED


def carry_out(store: ResultSet, asked: Run, again: frozenset[str], disturbances: Sequence[str], as_json: bool) -> int:
    """Run a plan, or what is left of it, here; render its report and say where everything is. The exit code."""
    with sole(store.folder):
        rows = measured(store, asked, again, disturbances)
        return INTERRUPTED if rows is None else finish(store, rows, as_json)


def measured(store: ResultSet, asked: Run, again: frozenset[str], disturbances: Sequence[str]) -> Sequence[Row] | None:
    """The rows of a plan, or of what is left of it; None where a person has interrupted it."""
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
            return Session(runner(store, asked), shown, again).run()
        except KeyboardInterrupt:
            interrupted(store, shown)
            return None
        except OSError as broken:
            rest = f"What is finished is kept; `{COMMAND} run --resume={store.folder}` completes the set."
            raise UserError(f"The run can't go on: {broken}. {rest}") from broken


def finish(store: ResultSet, rows: Sequence[Row], as_json: bool) -> int:
    """Render a whole set's report, and say where everything is. The exit code."""
    page = render(store.folder)
    code = exit_code(rows)
    answer.tell(store, page, code, as_json)
    for line in explained(code, rows, store.folder, page):
        say(line)
    return code


def interrupted(store: ResultSet, shown: Lines | Bar) -> None:
    """Ctrl-C: what is finished stays, and how to go on."""
    whole = {block.block for block in store.blocks()}
    # What isn't in a block stands by itself.
    cut = sum(row["block"] > 0 and row["block"] not in whole for row in store.read()[0])
    rest = f" A block that was cut short is run again whole, since half a block isn't paired: that is {cut} of them."
    shown.note(
        f"Interrupted. All {store.finished()} finished attempts are kept.{rest if cut else ''} "
        f"`{COMMAND} run --resume={store.folder}` completes the set."
    )


def print_checks(*, as_json: bool) -> int:
    """The doctor's findings; 0 if nothing needed is missing, else 3."""
    found = doctor.checks()
    described = describe(facts.machine(), ceilings.reading(tuple(facts.usable_cores())))
    missing = [check.name for check in found if check.ok is False]
    if as_json:
        print_json({"machine": described, "missing": missing, "checks": [asdict(check) for check in found]})
        return FAILED if missing else 0
    word = {True: "ok", False: "MISSING", None: "fact"}
    rows = [[check.name, word[check.ok], check.found, "" if check.ok else check.remedy] for check in found]
    print_table("This machine", ["check", "verdict", "found", "remedy"], rows)
    print(f"To stand beside figures: {described}\n")
    print(f"Missing: {', '.join(missing)}." if missing else "Nothing is missing.", file=sys.stderr)
    return FAILED if missing else 0


def set_up(target: str) -> None:
    """Make every environment that has a lock on a target."""
    facts.refuse_platform()
    if target not in (known := (*TARGETS, CLUSTER)):
        raise unknown("target", target, known)
    refused = venv.get_pythons(environment_names(target), target, again=True)
    lacking = [name for name in environment_names(target) if refused and pythons.lacking(name, target)]
    for sentence in venv.chosen([name for name in environment_names(target) if name not in lacking], target):
        say(sentence)
    for name in environment_names(target):
        if name not in lacking:
            venv.ensure(name, target)
    if refused:
        refused.append(f"Not made for want of it: {', '.join(lacking)}. All else is there.")
        raise UserError("\n".join(refused))


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


def print_images(*, prune: bool, as_json: bool) -> None:
    """What is built, or what was removed because its lock has changed."""
    client = images.connect()
    found = images.prune(client) if prune else list(images.built(client))
    if as_json:
        listed = [asdict(image) | {"created": image.created.isoformat()} for image in found]
        print_json({"removed": prune, "images": listed})
        return
    now = datetime.datetime.now(datetime.UTC)
    rows = [
        [
            image.tag,
            f"{image.size_bytes / 1e6:.0f} MB",
            image.lock_sha256[:12],
            units.age((now - image.created).total_seconds()),
            "yes" if image.current else "no: its lock has changed",
        ]
        for image in found
    ]
    print_table("Removed images" if prune else "Images", ["image", "size", "lock", "age", "current"], rows)
