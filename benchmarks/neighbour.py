"""Measures how a neighbour changes ratios: does the same run on a quiet machine, then beside bursts of other work.

It shows the disturbed run's ratios twice: by the suite's rules, and as they would be if every sample counted. Required:
ratios within 3 % of the quiet run's, and no verdict that the quiet run contradicts. benchmarks/README.md shows the
command.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from suite import results
from suite.sets.rows import Row
from suite.units import interval, ratio
from suite.verdicts.verdicts import Speedup

STACKWARS = Path(sys.executable).parent / "stackwars"
BURST_SECONDS = (0.2, 2.0)  # the shortest and the longest burst
SHARES = ("synced_others", "pipelined_others", "fetch_others")  # columns: the share of our cores that others used


def burn(share: float, seed: int) -> None:
    """Uses `share` of one core, in random bursts, until the process is killed."""
    draw = random.Random(seed)
    while True:
        burst = draw.uniform(*BURST_SECONDS)
        until = time.perf_counter() + burst
        while time.perf_counter() < until:
            pass
        time.sleep(burst * (1 - share) / share)


@contextmanager
def neighbour(share: float, cores: int) -> Iterator[None]:
    """Runs processes that together use `share` of all cores. Each process uses at most half of a core."""
    burner_share = min(0.5, share * cores)
    burners = [
        subprocess.Popen([sys.executable, __file__, f"--burn={burner_share}", f"--seed={seed}"])
        for seed in range(max(1, round(share * cores / burner_share)))
    ]
    try:
        yield
    finally:
        for burner in burners:
            burner.kill()
            burner.wait()


def measured(options: argparse.Namespace, place: Path) -> results.Results:
    """Runs the stacks and workloads of the options once. Returns the set."""
    words = [
        str(STACKWARS),
        "run",
        "--engine=local",
        "--json",
        "--force",
        f"--preset={options.preset}",
        f"--repeats={options.blocks}",
        f"--results={place}",
    ]
    words += [f"--stack={stack}" for stack in options.stack] + [f"--workload={name}" for name in options.workload]
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"The run ended with exit code {done.returncode}.")
    return results.load(Path(json.loads(done.stdout)["set"]))


def unaware(rows: list[Row]) -> list[Row]:
    """Returns the rows as if neighbours didn't matter: of each process the first try, with all of its samples."""
    first = {row.place: row for row in sorted(rows, key=lambda row: -row.integer("retry"))}
    flags = {place: [flag for flag in row["flags"] if flag != "disturbed"] for place, row in first.items()}
    return [row | dict.fromkeys(SHARES) | {"flags": flags[place]} for place, row in first.items()]


def speedups(loaded: results.Results, rows: list[Row]) -> dict[tuple[str, str], Speedup]:
    """Returns {(question, stack): speedup} of these rows, by the set's baseline and protocol."""
    from suite.verdicts.speedups import Pairing

    return {
        (speedup.name, speedup.stack): speedup
        for speedup in Pairing.of(rows, loaded.protocol, loaded.baseline).over(loaded.baseline).values()
    }


def contradicts(here: Speedup, there: Speedup) -> bool:
    """Whether two verdicts can't both be true."""
    pairs = {
        ("faster", "slower"),
        ("slower", "faster"),
        ("faster", "tie"),
        ("slower", "tie"),
        ("tie", "faster"),
        ("tie", "slower"),
    }
    return (here.verdict, there.verdict) in pairs


def main() -> None:
    """Does both runs and prints their table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--preset", default="quick")
    parser.add_argument("--blocks", type=int, default=5)
    parser.add_argument("--stack", action="append", default=[])
    parser.add_argument("--workload", action="append", default=[])
    parser.add_argument("--share", type=float, default=0.2, help="the share of all cores that the neighbour uses")
    parser.add_argument("--burn", type=float, help="be the neighbour, and use this share of one core")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    if options.burn:
        burn(options.burn, options.seed)
    with tempfile.TemporaryDirectory() as place:
        quiet = measured(options, Path(place) / "quiet")
        with neighbour(options.share, len(os.sched_getaffinity(0))):
            beside = measured(options, Path(place) / "beside")
    truth = speedups(quiet, quiet.rows)
    for title, rows in (("by the suite's rules", beside.rows), ("every sample counts", unaware(beside.rows))):
        disturbed = speedups(beside, rows)
        print(f"\nBeside a neighbour on {options.share:.0%} of the cores, {title}")
        changes = []
        for (question, stack), here in sorted(disturbed.items()):
            there = truth[question, stack]
            changes.append(here.ratio.value / there.ratio.value)
            print(
                f"  {question:32} {stack:16} quiet {shown(there):34} beside {shown(here):34} {changes[-1]:.3f}"
                f"{'  FALSE' if contradicts(here, there) else ''}"
            )
        within = sum(abs(change - 1) <= 0.03 for change in changes)
        print(
            f"  within 3 %: {within} of {len(changes)}; largest change {max(changes, key=lambda x: abs(x - 1)):.3f}; "
            f"false verdicts: {sum(contradicts(here, truth[side]) for side, here in disturbed.items())}"
        )


def shown(speedup: Speedup) -> str:
    """Returns a speedup's ratio, interval and verdict as text."""
    estimate = speedup.ratio
    return f"{ratio(estimate.value)} {interval(estimate.low, estimate.high)} {speedup.verdict}"


if __name__ == "__main__":
    main()
