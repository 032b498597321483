"""`./stackwars reproduce`: runs a set's plan here, with that set's locks and seeds, and checks the set's speedups."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import asdict
from pathlib import Path

from suite import results, units
from suite.archive import fetch
from suite.archive.naming import archived, named
from suite.archive.reproduce import Claim, ClaimResult, Reproduction, reproduction
from suite.archive.storage import Storage
from suite.cli.measure.run import carry_out
from suite.cli.options.plans import ReproduceOptions
from suite.cli.options.values import needed
from suite.cli.terminal.console import print_table
from suite.cli.terminal.output import print_json
from suite.environments import say
from suite.environments.locks import all_locks
from suite.errors import COMMAND, UserError
from suite.machine import facts, noise
from suite.results.outcomes import INTERRUPTED
from suite.results.speedup.verdicts import Speedup
from suite.results.store.result_set import ResultSet
from suite.run.start.reproduce import prepare_reproduction, strange
from suite.run.start.run import create
from suite.stacks.catalog import add as add_stacks

DIFFERS, UNTRUSTED = 5, 6  # exit codes
HEADS = ["question", "stack", "there", "here", "verdict", "why"]


def reproduce(options: ReproduceOptions) -> int:
    """Runs a set's plan here and compares the two sets; with --against, compares with a set that was run already.
    Returns the exit code: 5 if a claim shifted or was contradicted, 6 if the set names packages or variables that
    aren't this project's and --trust isn't given, 130 after Ctrl-C, else 0 (also if no claim could be decided)."""
    folder = Path(options.results)
    there = brought(needed("set", options.set), options.from_, folder)
    here = named(options.against, folder) if options.against else None
    if here is None:
        unknown_here = strange(ResultSet.open(there))
        if unknown_here and not options.trust:
            return refused(there, unknown_here, options.json)
        for sentence in unknown_here:
            say(f"Trusted: {sentence}")
        here = run(there, options)
        if here is None:
            return INTERRUPTED
    reproduced = reproduction(results.load(there), results.load(here))
    print_claims(reproduced, there, here, options.json)
    return DIFFERS if reproduced.result in (ClaimResult.SHIFTED, ClaimResult.CONTRADICTED) else 0


def brought(name: str, origin: str | None, folder: Path) -> Path:
    """Returns the folder of a set; fetches it first if it is in the archive `origin`. Raises UserError if it is damaged
    or was changed."""
    if origin is None:
        path = named(name, folder)
    else:
        storage = Storage.of(origin)
        path = folder / archived(name, storage)
        if not path.exists():
            fetch.fetch(storage, path.name, folder)
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


def run(there: Path, options: ReproduceOptions) -> Path | None:
    """Installs the packages of the set's locks, by hash, and runs the set's plan. Returns the new set's folder; None
    after Ctrl-C."""
    store = ResultSet.open(there)
    add_stacks(options.stack_paths)
    planned = prepare_reproduction(store, options.engine, options.workload_paths)
    borrowed = [name for name, lock in planned.locks.chosen.items() if lock not in all_locks(name, planned.target)]
    if borrowed:
        say(f"Using the set's own locks for {', '.join(sorted(borrowed))}.")
    source = [f"--set={there.name}", f"--from={options.from_}"] if options.from_ else [f"--set={there}"]
    command = shlex.join(["invoke", "reproduce", *source])  # every plan stores its command as one of `invoke`
    with noise.alone(len(facts.usable_cores()), options.force) as disturbances:
        new = create(planned, None, command, Path(options.results))
        # With --json, standard output has only the JSON: the new set's tables go to standard error, like the progress.
        with redirect_stdout(sys.stderr if options.json else sys.stdout):
            code = carry_out(new, planned, frozenset(), disturbances, as_json=False)
    return None if code == INTERRUPTED else new.folder


def print_claims(reproduced: Reproduction, there: Path, here: Path, as_json: bool) -> None:
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
    print_table(
        f"Speedups over {reproduced.baseline}, there and here",
        HEADS,
        [line(claim) for claim in reproduced.claims],
        numbers=HEADS[2:4],
    )
    if reproduced.unlike:
        print(
            f"The machines differ in {', '.join(reproduced.unlike)}: the verdicts say only whether the same stack is "
            "faster, not by how much."
        )
    counts = {result: sum(claim.result == result for claim in reproduced.claims) for result in ClaimResult}
    print(", ".join(f"{count} {result}" for result, count in counts.items() if count) + ".")
    print(
        f"{there.name}: {reproduced.result}. This compares speedups; `{COMMAND} compare {there} {here}` compares "
        "absolute times."
    )


def line(claim: Claim) -> list[str]:
    """Returns the table's line for one claim."""
    sides = [
        units.estimate(speedup.ratio.value, speedup.ratio.low, speedup.ratio.high) if speedup else units.UNKNOWN
        for speedup in (claim.there, claim.here)
    ]
    return [claim.name, claim.stack, *sides, str(claim.result), claim.words]


def ratio_json(speedup: Speedup | None) -> dict[str, object] | None:
    """Returns a speedup with its interval and verdict as JSON; None if there is none."""
    return None if speedup is None else {**asdict(speedup.ratio), "verdict": speedup.verdict}
