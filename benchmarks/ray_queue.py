"""Measures what a queue of machines costs: runs 24 cases of 2 s of the fake stack here, and with two Ray nodes.

    PYTHONPATH=. .venv/bin/python benchmarks/ray_queue.py [--pairs=3]

Both nodes are on this machine, which has room for them since the fake stack sleeps. The ideal is half the time that the
cases take one after the other. Both ways are timed by two clocks: one for the whole command, as a person waits for it,
and one from the start of the first process to the end of the last block.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from datetime import datetime
from pathlib import Path
from statistics import median

from suite import results
from tests.extras.machines.test_ray import Machines, cluster
from tests.scenes import FAKE, SCENARIOS

STACKWARS = Path(sys.executable).parent / "stackwars"
CASES, SECONDS = 24, 2.0
PRESET = f"""
title = "Cases of {SECONDS} s"
size = "calm"
baseline = "fake"
stacks = ["fake"]
twin = false
questions = [{{ workload = "story", pass = "forward" }}]

[protocol]
blocks = 1
blocks_max = 1
seconds_min = {SECONDS}
samples_max = 100000
noisy_retries = 0
disturbed_retries = 0
replaced_seconds_max = 0.0
roofline = false
"""


def run(place: Path, *options: str) -> tuple[float, float]:
    """Runs all cases. Returns (seconds of the command, seconds from the start of the first process to the end of the
    last block)."""
    (place / "two.toml").write_text(PRESET, encoding="utf-8")
    words = [
        str(STACKWARS),
        "run",
        f"--preset={place / 'two.toml'}",
        f"--workload-path={SCENARIOS}",
        f"--stack-path={FAKE}",
        "--force",
        f"--python={sys.executable}",
        f"--results={place / 'results'}",
        *options,
        *(f"--dims=step_us={1000 + number}" for number in range(CASES)),
    ]
    started = time.perf_counter()
    subprocess.run(words, check=True, capture_output=True)
    whole = time.perf_counter() - started
    loaded = results.load(place / "results" / "latest")
    assert len(loaded.rows) == CASES and {row.outcome for row in loaded.rows} == {"ok"}
    begins = min(row["started_at"] for row in loaded.rows)
    ends = max(datetime.fromisoformat(block["ended_at"]) for block in loaded.blocks)
    return whole, (ends - begins).total_seconds()


def by_ray(machines: Machines) -> tuple[float, float]:
    """Runs the cases with two Ray nodes."""
    with tempfile.TemporaryDirectory() as place:
        return run(Path(place), "--scheduler=ray", f"--address={machines.address}")


def here() -> tuple[float, float]:
    """Runs the cases one after the other."""
    with tempfile.TemporaryDirectory() as place:
        return run(Path(place))


def main() -> None:
    """Runs both ways in alternation, since a machine may change its pace."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--pairs", type=int, default=3)
    pairs = parser.parse_args().pairs
    with cluster([1, 1]) as machines:
        readings = [(here(), by_ray(machines)) for _ in range(pairs)]
    for name, clock in (("whole command", 0), ("first start to last end", 1)):
        ratios = [ray[clock] / (alone[clock] / 2) for alone, ray in readings]
        print(f"{name}: {median(ratios):.3f} of the ideal, {min(ratios):.3f} to {max(ratios):.3f}")
        for alone, ray in readings:
            print(f"    {alone[clock]:.1f} s here, {ray[clock]:.1f} s with two nodes")


if __name__ == "__main__":
    main()
