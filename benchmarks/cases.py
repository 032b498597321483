"""The cases that benchmarks measure, and their processes. Standard library only: some run in a stack's environment."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from suite.case import Attempt, Case, Purpose
from suite.workloads import catalog

if TYPE_CHECKING:
    from suite.launch.engine import Engine
    from suite.protocol import Protocol


def case_of(
    stack: str,
    workload: str = "gemm",
    pass_: str = "forward",
    size: str = "tiny",
    dims: Mapping[str, int] | None = None,
    *,
    precision: str = "f32",
    threads: int = 1,
) -> Case:
    """Returns a case of the default track on the CPU, with cold caches. `dims` replace those of the size."""
    loaded = catalog.find()[workload]
    whole = loaded.dims(size, dims or {})
    return Case(
        workload=workload,
        size=loaded.size_of(whole, size),
        dims=whole,
        pass_=pass_,
        precision=precision,
        track="default",
        stack=stack,
        variant="",
        target="cpu",
        device="cpu",
        cache="cold",
        threads=threads,
    )


def attempt_of(case: Case) -> Attempt:
    """Returns a timed process of a case."""
    return Attempt(
        set_id="benchmark", case=case, block=1, position=1, replicate=1, purpose=Purpose.TIMED, retry=1, seed=0
    )


def run_worker(
    attempt: Attempt, engine: Engine, folder: Path, protocol: Protocol, *, gate: bool, workload: Path | None = None
) -> dict[str, Any]:
    """Runs a process in an empty `folder`, in which it leaves its logs/. Returns the columns of its row. `workload` is
    the folder of a changed workload; by default the process runs this checkout's."""
    from suite.launch.attempt import prepare, run_attempt
    from suite.machine import facts

    cache = folder / "cache"
    cache.mkdir()
    request = prepare(
        attempt,
        folder=folder / "logs",
        protocol=protocol,
        cpus=facts.usable_cores(),
        gate=gate,
        workload_folder=workload or catalog.find()[attempt.case.workload].folder,
        cache_directory=cache,
    )
    return run_attempt(attempt, request, engine)
