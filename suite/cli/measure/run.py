"""`./stackwars run`, `frontier` and `explain`: plan, measure, and print the results."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from suite import results
from suite.cli.measure import answer
from suite.cli.measure.dry_run import plan_json, print_plan
from suite.cli.options import ExplainOptions, FrontierOptions, MeasuringOptions, RunOptions
from suite.cli.terminal.output import print_json
from suite.cli.terminal.progress import ProgressLines, listener
from suite.cli.values import absolute, parse_outcomes
from suite.cluster.schedule import forget, hand_out
from suite.environments import say
from suite.errors import COMMAND, UserError
from suite.launch.container import sweep
from suite.launch.engine import skewing
from suite.machine import devices, facts, noise
from suite.page.formats.render import render_report
from suite.page.report import Report
from suite.plan.layout import runnable
from suite.plan.memory import too_tight
from suite.reference.finite import doubts
from suite.results.outcomes import INTERRUPTED, NOTHING_MEASURED, exit_code
from suite.run import ceilings
from suite.run.rounds import ROUNDS
from suite.run.session import Session
from suite.run.start.prepare import prepare
from suite.run.start.reopen import reopen
from suite.run.start.run import Run, create, from_checkout, runner
from suite.sets.archive.naming import named
from suite.sets.files import sole
from suite.sets.result_set import ResultSet
from suite.sets.rows import Row
from suite.stacks.catalog import STACKS
from suite.stacks.catalog import add as add_stacks

UNFINISHED = 1  # exit code: the other machines haven't measured every comparison


def run(*questions: str, options: RunOptions = RunOptions()) -> int:
    """Begins a new set and measures it, or completes a set with --resume. Returns the exit code.

    :param questions: workloads and question files: `run gemm,ffn`, `run mine.py`
    """
    options = options.with_words(questions)
    outcomes = parse_outcomes(options.again)
    if options.resume is not None:
        return complete(options, options.resume, outcomes)
    for name in ("again", "trust"):
        if getattr(options, name):
            raise UserError(f"--{name} goes with --resume=SET: it is about the result set that is completed.")
    if options.fits is not None:
        options = replace(options, fits=str(named(options.fits, Path(options.results))))
    return measure(options)


def frontier(*workloads: str, options: FrontierOptions = FrontierOptions()) -> int:
    """Searches for the largest batch, or other dim, that fits under a memory limit. Returns the exit code.

    :param workloads: the workloads: `frontier gpt2`
    """
    return measure(options.with_words(workloads))


def explain(*workloads: str, options: ExplainOptions = ExplainOptions()) -> int:
    """Runs processes under each framework's own profiler. Returns the exit code.

    :param workloads: the workloads: `explain gpt2`
    """
    return measure(options.with_words(workloads))


def complete(options: RunOptions, name: str, again: frozenset[str]) -> int:
    """Measures the rest of a set's plan. Returns the exit code."""
    if options.words(*RunOptions.RESUMING):
        allowed = ", ".join(f"--{each}" for each in RunOptions.RESUMING[1:])
        raise UserError(f"--resume takes its plan from the set: it goes only with {allowed}.")
    store, planned = reopen(named(name, Path(options.results)), trust=options.trust, machine=options.machine)
    if planned.scheduler:
        return elsewhere(store, again, options)
    with noise.alone(force=options.force) as disturbances:
        return carry_out(store, planned, again, disturbances, options.json)


def measure(options: MeasuringOptions) -> int:
    """Makes a plan from options and measures it, or prints it with --dry-run. Returns the exit code."""
    if options.dry_run or options.prepared.get("scheduler"):
        return begin(options, [])
    # Before environments are made, which takes minutes: another run may be going on.
    with noise.alone(force=options.force) as disturbances:
        return begin(options, disturbances)


def begin(options: MeasuringOptions, disturbances: Sequence[str]) -> int:
    add_stacks(absolute(options.stack_path))
    preset = options.chosen_preset()
    planned = prepare(
        preset,
        options.selection(facts.usable_cores()),
        engine=options.engine,
        workload_paths=options.workload_paths,
        build=not options.dry_run,
        **options.prepared,
    )
    cases = [of.case for of in planned.plan.cases]
    for sentence in doubts(planned.workloads[name] for name in sorted({case.workload for case in cases})):
        say(sentence)
    idle_stacks = {*options.stack} & STACKS.keys() - {case.stack for case in cases}
    if cases and idle_stacks:
        lonely = ", ".join(name for name in options.stack if name in idle_stacks)
        say(f"{lonely}: the question has no function for it, so it doesn't run.")
    lacking = None if planned.scheduler else devices.missing().get(planned.target)
    idle = lacking and not options.dry_run and not runnable(planned.plan)
    if lacking:
        told = f"Nothing was measured: {lacking}" if idle else lacking
        from suite.cli.measure.predict import prediction_instead  # that module imports this one

        say(f"{told}. `{prediction_instead(options)}` asks its compiler what would fit there.")
    if idle:
        return NOTHING_MEASURED
    if options.dry_run:
        print_json(plan_json(planned)) if options.json else print_plan(planned)
        return 0
    given = options.given(
        engine=planned.engine.name,
        # `file` names questions.
        workload_path=tuple(from_checkout(path) for path in planned.workload_paths if path.suffix != ".py"),
        stack_path=tuple(map(from_checkout, absolute(options.stack_path))),
    )
    store = create(planned, preset.path, given, Path(options.results))
    if isinstance(options, RunOptions) and planned.scheduler:
        return elsewhere(store, frozenset(), options)
    return carry_out(store, planned, frozenset(), disturbances, options.json)


def elsewhere(store: ResultSet, again: frozenset[str], options: RunOptions) -> int:
    """Has other machines measure the rest of a set's plan. Returns the exit code."""
    say(f"Result set {store.folder}")
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with sole(store.folder) as mark:
        try:
            forget(store, again)
            if not hand_out(store, options.address, options.force, mark):
                say(f"All results that arrived are kept; `{COMMAND} run --resume={store.folder}` completes the set.")
                return UNFINISHED
            store.make_latest()
            done = ResultSet.open(store.folder)  # read again: the queue wrote into the plan what its machines can't run
            return finish(done, done.commit(), options.json)
        except KeyboardInterrupt:
            say(
                f"Interrupted. All {store.finished()} attempts that arrived are kept; "
                f"`{COMMAND} run --resume={store.folder}` completes the set."
            )
            return INTERRUPTED


def carry_out(
    store: ResultSet, prepared: Run, again: frozenset[str], disturbances: Sequence[str], as_json: bool
) -> int:
    """Measures the rest of a set's plan on this machine, renders the report and prints the results. Returns the exit
    code."""
    with sole(store.folder):
        rows = measured(store, prepared, again, disturbances)
        return INTERRUPTED if rows is None else finish(store, rows, as_json)


def measured(
    store: ResultSet, prepared: Run, again: frozenset[str], disturbances: Sequence[str]
) -> Sequence[Row] | None:
    """Measures the rest of a set's plan on this machine. Returns all its rows; None if Ctrl-C was pressed."""
    protocol = prepared.plan.protocol
    shown = listener(in_turns=protocol.sampling == ROUNDS, is_check=protocol.at_once)
    shown.note(f"Result set {store.folder}")
    shown.note(prepared.engine.why)
    for case in sweep(prepared.engine.client) if prepared.engine.client else ():
        shown.note(f"Removed the container that a killed run had left: {case}")
    dropped = skewing(os.environ)
    if dropped:
        shown.note(f"The measured processes don't get these variables: {', '.join(sorted(dropped))}")
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that it ends the run as cleanly as Ctrl-C
    if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:  # not under nohup
        signal.signal(signal.SIGHUP, signal.default_int_handler)
    with ExitStack() as stack:
        stack.callback(shown.close)
        for disturbance in disturbances:
            shown.note(disturbance)
        for sentence in too_tight(prepared.plan.cases):
            shown.note(sentence)
        try:
            for sentence in ceilings.measure(store, prepared.locks, prepared.workloads):
                shown.note(sentence)
            return Session(runner(store, prepared), shown, again).run()
        except KeyboardInterrupt:
            interrupted(store, shown)
            return None
        except OSError as broken:
            rest = f"All finished attempts are kept; `{COMMAND} run --resume={store.folder}` completes the set."
            if not (store.folder / "plan.json").exists():
                rest = "The set was moved or deleted meanwhile; where it was moved to, --resume completes it."
            raise UserError(f"The run can't go on: {broken}. {rest}") from broken


def finish(store: ResultSet, rows: Sequence[Row], as_json: bool) -> int:
    """Renders a whole set's report and prints the results. Returns the exit code."""
    loaded = results.load(store.folder)
    analysis = loaded.analysis()
    report = Report(loaded, analysis)
    page = render_report(store.folder, report)
    code = exit_code(rows)
    if code != NOTHING_MEASURED:
        say_latest(store)
    answer.print_results(store, loaded, analysis, report, page, code, as_json)
    for line in answer.explained(code, rows, store.folder, page):
        say(line)
    return code


def say_latest(store: ResultSet) -> None:
    """Says it where there is no link to the newest set: the file system has none, or something else has its name."""
    if not store.latest.is_symlink():
        say(f"There is no link {store.latest} here; as the name of a set it means the newest one in that folder.")


def interrupted(store: ResultSet, shown: ProgressLines) -> None:
    """Prints which attempts are kept after Ctrl-C, and how to complete the set."""
    whole = {block.block for block in store.blocks()}
    # Processes outside the blocks have block 0.
    cut = sum(row["block"] > 0 and row["block"] not in whole for row in store.read()[0])
    rest = f" {cut} of them belong to a block that isn't whole: they don't count, and the block runs again."
    completes = f"`{COMMAND} run --resume={store.folder}` completes the set."
    if store.plan_file.revisions:
        completes = "The trees of the revisions are gone, so the set stays as it is."
    shown.note(f"Interrupted. {store.finished()} finished processes are kept.{rest if cut else ''} {completes}")
