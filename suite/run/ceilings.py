"""What the machine reaches, measured outside every block: its roofline, and the ceiling that every set has."""

from __future__ import annotations

import datetime
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from suite.case import Purpose
from suite.environments import venv
from suite.errors import UserError
from suite.launch.engine import worker_environment
from suite.machine.description import moved
from suite.machine.roofline import undisturbed
from suite.results.store.files import write_json
from suite.results.store.result_set import ResultSet
from suite.stacks.threads import thread_environ

AGAIN, PAUSE_SECONDS = 3, 10.0  # a host changes its pace for 10 to 20 s at a time: look again before saying so
REMEDY = (
    "Look for another load, for power or frequency settings, for a virtual machine that was moved. To be sure, "
    "stop now (Ctrl-C) and begin a new run."
)


def measure(store: ResultSet) -> list[str]:
    """The roofline, where the protocol asks for it, and the ceiling; what a person must know of them, in sentences.

    CPUs alone have either, and only times are held against them.
    """
    if store.plan.target != "cpu" or store.plan.purpose is not Purpose.TIMED:
        return []
    measure_roofline(store)
    earlier = store.ceilings
    now = reading(store.plan.cores)
    for _ in range(AGAIN - 1):
        if not any(map(undisturbed, earlier)) or (undisturbed(now) and not moved([*earlier, now])):
            break
        time.sleep(PAUSE_SECONDS)
        now = max(now, reading(store.plan.cores), key=lambda each: (undisturbed(each), each["flops_per_second"]))
    store.ceilings = [*earlier, now]
    return [*shared(store, now), *(f"{said} {REMEDY}" for said in filter(None, [moved(store.ceilings)]))]


def shared(store: ResultSet, ceiling: Mapping[str, Any]) -> Iterable[str]:
    """What can't be said of a machine that was doing something else while it was looked at."""
    if not undisturbed(ceiling):
        yield f"This machine's f32 ceiling was taken with {ceiling['cores_had']:.0%} of its cores: it reaches more."
    if store.roofline and not undisturbed(store.roofline):
        yield "This machine did something else while its roofline was measured: this set has no efficiency."


def reading(cores: tuple[int, ...]) -> dict[str, Any]:
    """The ceiling now. By the orchestrator's NumPy, which is the locked one of every environment."""
    at = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    return {"measured_at": at, **job(Path(sys.executable), "suite.machine.roofline", cores, "--ceiling")}


def measure_roofline(store: ResultSet) -> None:
    """What the machine reaches into the set, from today's sweep of this machine or a new one. Not for `quick`."""
    if not store.plan.protocol.roofline or store.roofline:
        return
    today = datetime.datetime.now(datetime.UTC).strftime("%Y%m%d")
    bf16 = any(planned.case.precision == "bf16" and not planned.unsupported for planned in store.plan.cases)
    # Only where PyTorch is installed here: its images can't be asked for this, and no roof is better than a wait.
    bf16 = bf16 and venv.status("torch", "cpu") == "ready"
    name = f"{store.plan.machine_id}-{today}-{len(store.plan.cores)}{'-bf16' if bf16 else ''}.json"
    kept = store.folder.parent / ".rooflines" / name
    if kept.exists():
        store.roofline = json.loads(kept.read_text(encoding="utf-8"))
        return
    store.roofline = sweep(store.plan.cores, bf16)
    if undisturbed(store.roofline):  # else the next run tries again
        kept.parent.mkdir(exist_ok=True)
        write_json(kept, store.roofline)


def sweep(cores: tuple[int, ...], bf16: bool) -> dict[str, Any]:
    """The sweep in NumPy's environment, with bfloat16's own roof from PyTorch's."""
    reached = job(venv.ensure("numpy", "cpu").python, "suite.machine.roofline", cores)
    if not bf16:
        return reached
    peaks = job(venv.ensure("torch", "cpu").python, "suite.machine.bf16_peak", cores)
    return reached | {"bf16_gemm_flops_per_second": peaks, "bf16_flops_per_second_best": max(peaks.values())}


def job(python: Path, module: str, cores: tuple[int, ...], *options: str) -> dict[str, Any]:
    """Run a measuring program with the workers' variables; what it prints. Raises UserError where it fails."""
    variables = worker_environment(os.environ)[0] | thread_environ(len(cores))
    command = [str(python), "-m", module, *options, "--cores", *map(str, cores)]
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise UserError(f"What the machine reaches couldn't be measured: {done.stderr.strip()[-500:]}")
    found: dict[str, Any] = json.loads(done.stdout)
    return found
