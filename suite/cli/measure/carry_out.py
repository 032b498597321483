"""Carries a planned run out on this machine, and prints its results. What renders the page is imported once
all is measured: it takes half a second."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from contextlib import ExitStack

from suite import results
from suite.answers.sentences import counted
from suite.cli.terminal.progress import ProgressLines, listener
from suite.environments import say
from suite.environments.together import make_all
from suite.errors import COMMAND, UserError
from suite.launch.engine import skewing
from suite.plan.memory import too_tight
from suite.results.outcomes import INTERRUPTED, NOTHING_MEASURED, exit_code
from suite.run import ceilings
from suite.run.rounds import ROUNDS
from suite.run.session import Session
from suite.run.start.run import Run, needed, runner
from suite.sets.files import sole
from suite.sets.result_set import ResultSet
from suite.sets.rows import Row


def carry_out(
    store: ResultSet, prepared: Run, again: frozenset[str], disturbances: Sequence[str], as_json: bool
) -> int:
    """Measures the rest of a set's plan on this machine, renders the report and prints the results. Returns the exit
    code."""
    with sole(store.folder):
        rows = measured(store, prepared, again, disturbances)
        return finish(store, rows, as_json) if rows is not None else so_far(store, as_json=as_json)


def measured(
    store: ResultSet, prepared: Run, again: frozenset[str], disturbances: Sequence[str]
) -> Sequence[Row] | None:
    """Measures the rest of a set's plan on this machine. Returns all its rows; None if Ctrl-C was pressed."""
    protocol = prepared.plan.protocol
    shown = listener(in_turns=protocol.sampling == ROUNDS, is_check=protocol.at_once)
    shown.note(f"Result set {store.folder}")
    shown.note(prepared.engine.why)
    if prepared.engine.client:
        from suite.launch.container import sweep

        for case in sweep(prepared.engine.client):
            shown.note(f"Removed the container that a killed run had left: {case}")
    if prepared.engine.client is None and prepared.python is None:
        make_all(prepared.locks.of(name) for name in needed(prepared.plan))
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
    from suite.cli.measure import answer
    from suite.page.formats.render import render_report
    from suite.page.report import Report

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


def so_far(store: ResultSet, *, as_json: bool) -> int:
    """Prints the answer of an interrupted run's whole blocks, if there are any, and says that it is one. Returns the
    exit code."""
    from suite.cli.measure import answer
    from suite.page.formats.render import render_report
    from suite.page.report import Report

    loaded = results.load(store.folder)
    analysis = loaded.analysis()
    if blocks := len(analysis.blocks):
        report = Report(loaded, analysis)
        say(f"The answer so far, of {counted(blocks, 'block')}; the run isn't complete:")
        answer.print_results(store, loaded, analysis, report, render_report(store.folder, report), INTERRUPTED, as_json)
    return INTERRUPTED


def say_latest(store: ResultSet) -> None:
    """Says it where there is no link to the newest set: the file system has none, or something else has its name."""
    if not store.latest.is_symlink():
        say(f"There is no link {store.latest} here; as the name of a set it means the newest one in that folder.")


def interrupted(store: ResultSet, shown: ProgressLines) -> None:
    """Prints which attempts are kept after Ctrl-C, and how to complete the set."""
    whole = {block.block for block in store.blocks()}
    # Processes outside the blocks have block 0.
    cut = sum(row["block"] > 0 and row["block"] not in whole for row in store.read()[0])
    rest = f" {cut} of them are of a block that isn't whole, which runs again." if cut else ""
    completes = f"`{COMMAND} run --resume={store.folder}` completes the set."
    if store.plan_file.revisions:
        completes = "The trees of the revisions are gone, so the set stays as it is."
    shown.note(f"Interrupted. {store.finished()} finished processes are kept.{rest} {completes}")
