"""How a process is contained: what an engine is asked, and what it has to answer."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from suite.case import COMPILE_PHASES
from suite.launch.process import Exit, Limits

ROOT = Path(__file__).resolve().parents[2]  # the folder that holds the package `suite`

# What a worker inherits. Everything else stays behind: a variable of somebody's shell must not
# decide which stack is faster. Of the exceptions, PyTorch's Inductor finds its compiler by CC and
# CXX; an accelerator's driver libraries often lie in LD_LIBRARY_PATH alone; and CUDA_VISIBLE_DEVICES
# and TPU_… say *which* device is ours on a shared machine, not how to use it.
INHERITED = re.compile(
    r"PATH|HOME|USER|LOGNAME|TZ|TMPDIR|CC|CXX|LD_LIBRARY_PATH|CUDA_VISIBLE_DEVICES|CUDA_DEVICE_ORDER|TPU_\w+"
)

# Variables that change what frameworks, their libraries or the allocator do: named when dropped.
SKEWING = re.compile(
    r"(^|_)(XLA_|JAX_|TF_|TORCH|PYTORCH|OMP_|GOMP_|MKL_|KMP_|NPROC|CUDA|CUBLAS|CUDNN|NVIDIA_|PJRT|PYTHON|OPENBLAS"
    r"|BLIS|DNNL_|ONEDNN|TRITON|LIBTPU|KERAS|NUMEXPR|MALLOC|GLIBC_TUNABLES|LD_)"
)

# The same in every engine: byte code may be used, hashes are equal in every process, and messages
# are in English (outcomes are told by their text).
COMMON = {
    "LANG": "C.UTF-8",
    "PYTHONPATH": str(ROOT),
    "PYTHONHASHSEED": "0",
    "PYTHONUNBUFFERED": "1",  # a killed worker's last words must have left it
    "PYTHONNOUSERSITE": "1",  # packages in a home folder are in no lock
}


# What glibc does with memory that is freed. By its own rules an array over 32 MiB is mapped and touched anew in each
# step (36 MB of selu: 24 ms of 30), and where a stack's sizes lie decides its rank. `kept`: it stays in the heap, as in
# the pool of every framework on an accelerator; in the one heap that isn't given back, since those of further threads
# are (JAX op by op, ffn train: 6,000 pages touched anew in each step, then two); and the heap may use huge pages, which
# NumPy asks for by itself.
NEVER = 1 << 40  # bytes
ALLOCATOR_TUNABLES = {
    "kept": f"glibc.malloc.mmap_threshold={NEVER}:glibc.malloc.trim_threshold={NEVER}:glibc.malloc.arena_max=1:"
    "glibc.malloc.hugetlb=1",
    "system": None,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One worker to run. Its paths are true outside and inside: a container sees each under the same name.

    `arguments` follow the environment's Python. `folder` takes all that the worker writes but its caches;
    `cache_directory` holds those, and its temporary files. `keep_cache`: a later process reads them. `variables` are
    the case's own part of the environment, beside the engine's.
    """

    name: str
    arguments: Sequence[str]
    folder: Path
    reads: Sequence[Path]
    cache_directory: Path
    keep_cache: bool
    cpus: Sequence[int]
    limits: Limits
    variables: Mapping[str, str]


class Engine(ABC):
    """Runs the workers of one environment. `columns` are what each of its rows tells about it."""

    columns: Mapping[str, str | None]

    @abstractmethod
    def launch(self, job: Job) -> Exit:
        """Run one worker to its end, whichever that is; stdout.log and stderr.log lie in the job's folder.

        Returns only when the worker and all its descendants are gone, also when it is interrupted
        (Ctrl-C): then it ends them first and passes the exception on.
        """

    @abstractmethod
    def warm_up(self, code: str) -> None:
        """Run one unmeasured statement, so that the first measured process finds the disk cache warm."""


def worker_environment(base: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """A small, clean environment for workers, and the names of skewing variables left out of it.

    `base` is the caller's own environment.
    """
    environment = {name: value for name, value in base.items() if INHERITED.fullmatch(name)} | COMMON
    dropped = sorted(name for name in base if SKEWING.search(name) and not INHERITED.fullmatch(name))
    return environment, dropped


def allocator_environment(allocator: str) -> dict[str, str]:
    """The variable by which the C library learns a case's allocator policy, read when a process starts."""
    tunables = ALLOCATOR_TUNABLES[allocator]
    return {} if tunables is None else {"GLIBC_TUNABLES": tunables}


def supervisor_spec(
    command: Sequence[str], environment: Mapping[str, str], directory: Path, limits: Limits, **engine: object
) -> dict[str, object]:
    """What the supervisor of a worker has to know (`suite.launch.supervise`); `engine` is the engine's own part."""
    return {
        "command": list(command),
        "environment": dict(environment),
        "directory": str(directory.resolve()),
        "timeout_seconds": limits.timeout_seconds,
        "compile_timeout_seconds": limits.compile_timeout_seconds,
        "compile_phases": COMPILE_PHASES,
        "memory_bytes": limits.memory_bytes,
        "check_seconds": limits.check_seconds,
        "thrashing_seconds": limits.thrashing_seconds,
        **engine,
    }
