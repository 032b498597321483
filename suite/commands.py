"""What the tasks do once their options are understood: run, and print what there is."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from suite import doctor, preset, results
from suite.console import Bar, Lines, listener, minutes_text, print_table
from suite.launch.local import worker_environment
from suite.plan import Plan
from suite.report import headline
from suite.report.render import render
from suite.request import absent, runner, to_json
from suite.results.store import ResultSet, exit_code
from suite.session import Session
from suite.stacks.catalog import REAL_STACKS, STACKS
from suite.workloads.catalog import Workload, find

INTERRUPTED = 130


def run(store: ResultSet, plan: Plan, workloads: dict[str, Workload], again: frozenset[str], as_json: bool) -> int:
    """Run a plan, or what is left of it, render its report and say where everything is. The exit code."""
    blocks, target = plan.protocol.blocks, store.plan["request"]["target"]
    shown = listener(blocks * len(plan.block(1)))
    shown.note(f"Result set {store.folder}")
    dropped = worker_environment(os.environ)[1]
    if dropped:
        shown.note(f"Not passed on to the measured processes: {', '.join(sorted(dropped))}")
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends as cleanly as Ctrl-C
    try:
        rows = Session(runner(store, plan, workloads, target), shown, again).run()
    except KeyboardInterrupt:
        return interrupted(store, shown)
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
    """The answer to each question, one line each."""
    for answer in headline(loaded):
        print(f"{answer.question}: {answer.text}")


def print_plan(plan: Plan, workloads: dict[str, Workload]) -> None:
    """Cases, blocks and an estimate of minutes, for --dry-run."""
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
    print(f"{len(plan.cases)} cases; {plan.protocol.blocks} blocks{stage}; {processes} processes a block{twin}.")
    print(f"About {minutes} for the first {plan.protocol.blocks} blocks on a small machine.")


def print_catalogue(paths: Sequence[Path]) -> None:
    """Workloads with their sizes, stacks with what they lack here, presets."""
    workloads = find(paths)
    rows = [
        [w.name, w.spec.TITLE, ", ".join(w.sizes), ", ".join(w.spec.PASSES), ", ".join(w.dialects)]
        for w in workloads.values()
    ]
    print_table("Workloads", ["workload", "what it computes", "sizes", "passes", "dialects"], rows)
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
