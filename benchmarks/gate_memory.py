"""Compares the host memory of the gate with that of the timed step, by watching the worker's peak in each phase.

Required: no higher peak in the phase `gate` than from `first` to `fetch`; otherwise a case might fit when it is timed,
but not when it is checked. The phase `late` may go higher, because a step after the clocks is taken only where there is
room for it. Runs in the orchestrator's environment; benchmarks/README.md shows the command.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import tempfile
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from time import sleep
from typing import Any

from benchmarks.cases import attempt_of, case_of, run_worker
from suite.environments.locks import Locks
from suite.machine import facts
from suite.protocol import Protocol
from suite.reference.floor import floor
from suite.run.start import engines
from suite.stacks.catalog import STACKS
from suite.worker.process_memory import status_bytes
from suite.workloads.catalog import find

GIB = 1 << 30
POLL_SECONDS = 0.02
STEPPING = ("first", "second", "third", "steady", "pipelined", "fetch")


def worker_of(folder: Path) -> int | None:
    """Returns the process id of the worker that writes into a folder; None if none runs."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            words = path.read_bytes().split(b"\0")
            if b"suite.worker" in words and str(folder).encode() in words:
                return int(path.parent.name)
    return None


def phase_of(events: Path) -> str:
    """Returns the last phase in a worker's events; `start` before the first one."""
    lines = events.read_text(encoding="utf-8").splitlines() if events.exists() else []
    phases = [json.loads(line)["phase"] for line in lines if '"event": "phase"' in line and line.endswith("}")]
    return phases[-1] if phases else "start"


def watch(folder: Path, running: Future[Any]) -> dict[str, int]:
    """Returns {phase: largest resident set in bytes}, once the process has ended.

    It polls, so it may miss a short peak; but no phase of these models is shorter than the polling interval.
    """
    peaks: dict[str, int] = {}
    pid = None
    while not running.done():
        pid = pid or worker_of(folder)
        if pid is not None:
            phase = phase_of(folder / "events.jsonl")
            peaks[phase] = max(peaks.get(phase, 0), status_bytes(pid, "VmRSS") or 0)
        sleep(POLL_SECONDS)
    return peaks


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("stacks", nargs="*", default=["tf_graph", "torchax_jit", "torch_eager", "jax_jit"])
    parser.add_argument("--model", default="gpt_neo")
    parser.add_argument("--size", default="full")
    parser.add_argument("--dims", default="", help="as for ./stackwars run: layers=4,seq=32")
    options = parser.parse_args()
    workload = find()[options.model]
    pairs = (pair.split("=") for pair in options.dims.split(",") if pair)
    dims = workload.dims(options.size, {name: int(value) for name, value in pairs})
    state = floor(workload, dims, "train").state / GIB
    print(f"{options.model} {options.size} {options.dims} train; parameters and moments: {state:.2f} GiB")
    protocol = dataclasses.replace(Protocol(), seconds_min=0.1, samples_min=3, slow_samples_min=3, samples_max=3)
    for stack in options.stacks:
        case = case_of(stack, workload.name, "train", options.size, dims, threads=len(facts.usable_cores()))
        attempt = attempt_of(case)
        environment = STACKS[stack].environment
        engine = engines.provider(engines.Choice("local", ""), Locks("cpu"), "benchmark", None)(environment)
        with tempfile.TemporaryDirectory(prefix="stack-wars-") as home, ThreadPoolExecutor(1) as pool:
            running = pool.submit(run_worker, attempt, engine, Path(home), protocol, gate=True)
            peaks, row = watch(Path(home) / "logs", running), running.result()
        stepping = max((peaks.get(phase, 0) for phase in STEPPING), default=0) / GIB
        late, gate = (peaks.get(phase, 0) / GIB for phase in ("late", "gate"))
        ending = f"{row['outcome']} in {row['phase']}" + (f" ({row['reason']})" if row["reason"] else "")
        print(
            f"{stack}: stepping {stepping:.2f} GiB, late {late:.2f} GiB, gate {gate:.2f} GiB, gate / stepping "
            f"{gate / (stepping or 1):.2f}; {ending}",
            flush=True,
        )


if __name__ == "__main__":
    main()
