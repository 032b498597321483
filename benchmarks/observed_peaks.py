"""Compares the memory peaks in rows with those that an observer sees: runs memory processes and watches them in /proc.

Required: within 2 % on every stack and engine. benchmarks/README.md shows the command.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections import defaultdict
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import sleep

from suite import results
from suite.worker.process_memory import status_bytes

STACKWARS = Path(sys.executable).parent / "stackwars"
POLL_SECONDS = 0.01
WORKER = b"suite.worker\0"


@dataclass
class ObservedPeaks:
    """The peaks of one worker that the observer saw, in bytes: its `VmHWM`, and the peak in its cgroup's file."""

    resident: int = 0
    cgroup: int = 0


def watch(run: Future[str]) -> dict[str, ObservedPeaks]:
    """Watches every worker until a run ends. Returns {name of the worker's folder: peaks}."""
    observed: dict[str, ObservedPeaks] = defaultdict(ObservedPeaks)
    while not run.done():
        for folder, pid in workers().items():
            peaks = observed[folder]
            peaks.resident = max(peaks.resident, status_bytes(pid, "VmHWM") or 0)
            peaks.cgroup = max(peaks.cgroup, cgroup_bytes(pid))
        sleep(POLL_SECONDS)
    return observed


def cgroup_bytes(pid: int) -> int:
    """Returns the peak in the file of a process's memory cgroup (version 1 or 2); 0 if there is none."""
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/cgroup").read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            if path == "/":  # not yet in its own cgroup
                continue
            if "memory" in controllers.split(","):
                return int(Path(f"/sys/fs/cgroup/memory{path}/memory.max_usage_in_bytes").read_text())
            if not controllers and (file := Path(f"/sys/fs/cgroup{path}/memory.peak")).exists():
                return int(file.read_text())
    return 0


def workers() -> dict[str, int]:
    """Returns {name of the worker's folder: process id} of all workers that run now, without their parents."""
    pids: dict[str, int] = {}
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            words = path.read_bytes()
            if WORKER in words and b"--out\0" in words:
                pids.setdefault(Path(words.split(b"--out\0")[1].rstrip(b"\0").decode()).name, int(path.parts[2]))
    return pids


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engine", default="local")
    parser.add_argument("options", nargs="*", help="further options of ./stackwars run, after --")
    options = parser.parse_args()
    words = [str(STACKWARS), "run", "--purpose=memory", f"--engine={options.engine}", "--json", *options.options]
    with ThreadPoolExecutor() as pool:
        run = pool.submit(subprocess.check_output, words, text=True)
        observed = watch(run)
    rows = results.load(json.loads(run.result())["set"]).rows
    print("| case | row | VmHWM outside | row / outside | row's cgroup | its file | row / file |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for row in rows:
        peak = max(row["host_peak_build_bytes"] or 0, row["host_peak_step_bytes"] or 0)
        name = next((folder for folder in observed if row["case_name"][:100] in folder and "-memory-" in folder), None)
        if row["purpose"] == "memory" and peak and name:
            pairs = ((peak, observed[name].resident), (row["cgroup_peak_bytes"] or 0, observed[name].cgroup))
            cells = [f"{a >> 20:,} MiB | {b >> 20:,} MiB | {a / b:.4f}" if b else "– | – | –" for a, b in pairs]
            print(f"| {row['case_name']} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
