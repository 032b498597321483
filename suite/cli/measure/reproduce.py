"""`./stackwars reproduce`: runs a set's plan here, with that set's locks and seeds, and checks the set's speedups."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import asdict
from pathlib import Path

from suite import units
from suite.cli.measure.carry_out import carry_out
from suite.cli.sets.naming import OWN_PREFIX, fetched, named
from suite.cli.terminal.output import Columns, print_columns, print_json
from suite.cli.values import Engine, Force, Json, Origin, ResultsFolder, absolute, needed
from suite.environments import say
from suite.environments.locks import all_locks
from suite.errors import COMMAND, UserError
from suite.machine import noise
from suite.results import load
from suite.results.outcomes import INTERRUPTED
from suite.results.reproduction import Claim, ClaimResult, Reproduction, reproduction
from suite.run.start.reproduce import prepare_reproduction, strange
from suite.run.start.run import create
from suite.sets.result_set import ResultSet
from suite.stacks.catalog import add as add_stacks
from suite.verdicts.verdicts import Speedup

DIFFERS, UNTRUSTED = 5, 6  # exit codes
COLUMNS: Columns[Claim] = {
    "question": lambda claim: claim.name,
    "stack": lambda claim: claim.stack,
    "there": lambda claim: interval(claim.there),
    "here": lambda claim: interval(claim.here),
    "verdict": lambda claim: str(claim.result),
    "why": lambda claim: claim.words,
}


def reproduce(
    set: str | None = None,
    *,
    against: str | None = None,
    trust: bool = False,
    from_: Origin = None,
    results: ResultsFolder = "results",
    engine: Engine = "auto",
    workload_path: tuple[str, ...] = (),
    stack_path: tuple[str, ...] = (),
    force: Force = False,
    json: Json = False,
) -> int:
    """Runs a set's plan here and compares the two sets; with --against, compares with a set that was run already.
    Returns the exit code: 5 if a claim shifted or was contradicted, 6 if the set names packages or variables that
    aren't this project's and --trust isn't given, 130 after Ctrl-C, else 0 (also if no claim could be decided).

    :param set: a result set's folder, or its name in an archive
    :param against: run nothing, and compare with this result set, which has been measured already
    :param trust: install packages and pass variables that aren't this project's; else they are listed and nothing runs
    :param workload_path: your copy of the set's own workloads, a folder; their code is never taken from the set
    :param stack_path: your copy of the set's own stacks, a file or folder; their code is never taken from the set
    """
    folder = Path(results)
    there = brought(needed("set", set), from_, folder)
    here = named(against, folder) if against else None
    if here is None:
        unknown_here = strange(ResultSet.open(there))
        if unknown_here and not trust:
            return refused(there, unknown_here, json)
        for sentence in unknown_here:
            say(f"Trusted: {sentence}")
        add_stacks(absolute(stack_path))
        own = set if set and set.startswith(OWN_PREFIX) else there
        source = [f"--set={there.name}", f"--from={from_}"] if from_ else [f"--set={own}"]
        here = run(there, source, folder, engine, absolute(workload_path), force=force, quiet=json)
        if here is None:
            return INTERRUPTED
    reproduced = reproduction(load(there), load(here))
    print_claims(reproduced, there, here, json)
    if not json and ResultSet.open(there).plan_file.machine_id == ResultSet.open(here).plan_file.machine_id:
        print(f"`{COMMAND} compare {there} {here}` compares absolute times.")
    return DIFFERS if reproduced.result in (ClaimResult.SHIFTED, ClaimResult.CONTRADICTED) else 0


def brought(name: str, origin: str | None, folder: Path) -> Path:
    """Returns the folder of a set; fetches it first if it is in the archive `origin`. Raises UserError if it is damaged
    or was changed."""
    path = named(name, folder) if origin is None else fetched(name, origin, folder)
    problems = ResultSet.open(path).problems()
    if problems:
        raise UserError(f"{path} is damaged or was changed: {'; '.join(problems[:3])}.")
    return path


def refused(there: Path, unknown_here: Sequence[str], as_json: bool) -> int:
    """Prints the packages and variables of the set that aren't this project's. Returns the exit code."""
    if as_json:
        print_json({"there": str(there), "untrusted": list(unknown_here)})
    else:
        print(f"Reproducing {there.name} would use these packages and variables, which aren't this project's:")
        for sentence in unknown_here:
            print(f"  {sentence}")
    say("Nothing was run. Packages can run any code: add --trust only if you trust whoever made this set.")
    return UNTRUSTED


def run(
    there: Path, source: Sequence[str], folder: Path, engine: str, paths: Sequence[Path], *, force: bool, quiet: bool
) -> Path | None:
    """Installs the packages of the set's locks, by hash, and runs the set's plan. `source` are the options that name
    the set. Returns the new set's folder; None after Ctrl-C."""
    store = ResultSet.open(there)
    planned = prepare_reproduction(store, engine, tuple(paths))
    borrowed = [name for name in planned.locks.chosen if planned.locks.of(name) not in all_locks(name, planned.target)]
    if borrowed:
        say(f"Using the set's own locks for {', '.join(sorted(borrowed))}.")
    with noise.alone(force=force) as disturbances:
        new = create(planned, None, ["reproduce", *source], folder, store.plan_file.options)
        # With --json, standard output has only the JSON: the new set's tables go to standard error, like the progress.
        with redirect_stdout(sys.stderr if quiet else sys.stdout):
            code = carry_out(new, planned, frozenset(), disturbances, as_json=False)
    return None if code == INTERRUPTED else new.folder


def print_claims(reproduced: Reproduction, there: Path, here: Path, as_json: bool = False) -> None:
    """Prints every claim, then the result of the whole set."""
    if as_json:
        claims = [
            {
                "question": claim.name,
                "stack": claim.stack,
                "outcomes": list(claim.outcomes),
                "there": ratio_json(claim.there),
                "here": ratio_json(claim.here),
                "verdict": claim.result,
                "why": claim.words,
            }
            for claim in reproduced.claims
        ]
        print_json(
            {
                "there": str(there),
                "here": str(here),
                "baseline": reproduced.baseline,
                "unlike": list(reproduced.unlike),
                "verdict": reproduced.result,
                "claims": claims,
            }
        )
        return
    title = f"Speedups over {reproduced.baseline}, there and here"
    print_columns(title, COLUMNS, reproduced.claims, numbers=("there", "here"))
    if reproduced.unlike:
        print(
            f"The machines differ in {', '.join(reproduced.unlike)}: the verdicts say only whether the same stack is "
            "faster, not by how much."
        )
    counts = {result: sum(claim.result == result for claim in reproduced.claims) for result in ClaimResult}
    told = ", ".join(f"{count} {result}" for result, count in counts.items() if count)
    print(f"{there.name}: {reproduced.result}, of {len(reproduced.claims)} speedups {told or 'none'}.")


def interval(speedup: Speedup | None) -> str:
    ratio = speedup.ratio if speedup else None
    return units.estimate(ratio.value, ratio.low, ratio.high) if ratio else units.UNKNOWN


def ratio_json(speedup: Speedup | None) -> dict[str, object] | None:
    return None if speedup is None else {**asdict(speedup.ratio), "verdict": speedup.verdict}
