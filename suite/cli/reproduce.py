"""`./stackwars reproduce`: a set's plan run here, with its own locks and seeds, and a verdict on what it claims."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from suite import results, units
from suite.archive import fetch
from suite.archive.naming import archived, named
from suite.archive.place import Place
from suite.archive.reproduce import Claim, Reproduction, Verdict, reproduction
from suite.cli.commands import carry_out
from suite.cli.console import print_table
from suite.cli.output import print_json
from suite.environments import say
from suite.environments.locks import CHOSEN, all_locks
from suite.errors import COMMAND, UserError
from suite.machine import facts, noise
from suite.results.speedup.verdicts import Speedup
from suite.results.store.result_set import ResultSet
from suite.run.start import again, create, strange

DIFFERS, UNTRUSTED = 5, 6  # exit codes
HEADS = ["question", "stack", "there", "here", "verdict", "why"]


def reproduce(
    name: str,
    origin: str | None,
    against: str | None,
    *,
    engine: str,
    trust: bool,
    workload_path: Sequence[str],
    folder: str,
    force: bool,
    as_json: bool,
) -> int:
    """Run it and judge; with `against`, judge a set that was run already. 0 if reproduced, 5 if not; 6 if it would run
    what isn't this project's, and nobody has said that it may."""
    there = brought(name, origin, Path(folder))
    judged = named(against, Path(folder)) if against else None
    if judged is None:
        unknown_here = strange(ResultSet.open(there))
        if unknown_here and not trust:
            return refused(there, unknown_here, as_json)
        for sentence in unknown_here:
            say(f"Trusted: {sentence}")
    here = judged or run(there, origin, engine, workload_path, Path(folder), force=force)
    found = reproduction(results.load(there), results.load(here))
    tell(found, there, here, as_json)
    return DIFFERS if found.verdict in (Verdict.SHIFTED, Verdict.CONTRADICTED) else 0


def brought(name: str, origin: str | None, folder: Path) -> Path:
    """The set's folder, fetched if it lies elsewhere. Raises UserError for one that isn't intact."""
    if origin is None:
        path = named(name, folder)
    else:
        place = Place.of(origin)
        path = folder / archived(name, place)
        if not path.exists():
            fetch.fetch(place, path.name, folder)
    problems = ResultSet.open(path).problems()
    if problems:
        raise UserError(f"{path} isn't as it was published: {'; '.join(problems[:3])}.")
    return path


def refused(there: Path, unknown_here: Sequence[str], as_json: bool) -> int:
    """Say what would run here that isn't this project's. The exit code."""
    if as_json:
        print_json({"there": str(there), "untrusted": list(unknown_here)})
    else:
        print(f"To reproduce {there.name}, this would be installed or passed on that isn't this project's:")
        for sentence in unknown_here:
            print(f"  {sentence}")
    say("Nothing was run. Packages run code of whoever made them: if you trust who made this set, say --trust.")
    return UNTRUSTED


def run(
    there: Path, origin: str | None, engine: str, workload_path: Sequence[str], folder: Path, *, force: bool
) -> Path:
    """The new set's folder. What its locks name is installed, by hash: that is code of others."""
    store = ResultSet.open(there)
    asked = again(store, engine, [Path(path).absolute() for path in workload_path])
    borrowed = [name for (name, target), lock in CHOSEN.items() if lock not in all_locks(name, target)]
    if borrowed:
        say(f"With the set's own locks of {', '.join(sorted(borrowed))}.")
    asked_of = [f"--set={there.name}", f"--from={origin}"] if origin else [f"--set={there}"]
    command = shlex.join(["invoke", "reproduce", *asked_of])
    with noise.alone(len(facts.usable_cores()), force) as disturbances:
        made = create(asked, None, command, folder)
        carry_out(made, asked, frozenset(), disturbances, as_json=False)
    return made.folder


def tell(found: Reproduction, there: Path, here: Path, as_json: bool) -> None:
    """Every claim, then the verdict."""
    if as_json:
        claims = [
            {
                "question": each.name,
                "stack": each.stack,
                "outcomes": list(each.outcomes),
                "there": ratio_json(each.there),
                "here": ratio_json(each.here),
                "verdict": each.verdict,
                "why": each.words,
            }
            for each in found.claims
        ]
        print_json(
            {
                "there": str(there),
                "here": str(here),
                "baseline": found.baseline,
                "unlike": list(found.unlike),
                "verdict": found.verdict,
                "claims": claims,
            }
        )
        return
    print_table(
        f"Speedups over {found.baseline}, there and here",
        HEADS,
        [line(each) for each in found.claims],
        numbers=HEADS[2:4],
    )
    if found.unlike:
        print(f"Another class of machine ({', '.join(found.unlike)} differ): only who is faster is judged.")
    counts = {verdict: sum(each.verdict == verdict for each in found.claims) for verdict in Verdict}
    print(", ".join(f"{count} {verdict}" for verdict, count in counts.items() if count) + ".")
    print(
        f"{there.name}: {found.verdict}. Relative claims only: absolute times are compared by `{COMMAND} compare "
        f"{there} {here}`."
    )


def line(claim: Claim) -> list[str]:
    """One claim."""
    sides = [
        units.estimate(each.ratio.value, each.ratio.low, each.ratio.high) if each else units.UNKNOWN
        for each in (claim.there, claim.here)
    ]
    return [claim.name, claim.stack, *sides, str(claim.verdict), claim.words]


def ratio_json(each: Speedup | None) -> dict[str, object] | None:
    """A ratio with its interval and verdict."""
    return None if each is None else {**asdict(each.ratio), "verdict": each.verdict}
