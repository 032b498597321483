"""The interface of an engine, which runs and contains worker processes: the request that it gets, and its methods."""

from __future__ import annotations

import dataclasses
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from suite.case import COMPILE_PHASES, SAMPLING_PHASES
from suite.launch.process import Exit, ProcessLimits
from suite.protocol import TURNS_VARIABLE

ROOT = Path(__file__).resolve().parents[2]  # the folder that holds the package `suite`

# The variables that a worker inherits, and no others: a variable of somebody's shell must not decide which stack is
# faster. PyTorch's Inductor finds its compiler by CC and CXX; an accelerator's driver libraries often lie in
# LD_LIBRARY_PATH alone; CUDA_VISIBLE_DEVICES and TPU_… say *which* device of a shared machine to use, not how.
INHERITED = re.compile(
    r"PATH|HOME|USER|LOGNAME|TZ|TMPDIR|CC|CXX|LD_LIBRARY_PATH|CUDA_VISIBLE_DEVICES|CUDA_DEVICE_ORDER|TPU_\w+"
)

# Variables that change what frameworks, their libraries or the allocator do. A run reports those that it dropped.
SKEWING = re.compile(
    r"(^|_)(XLA_|JAX_|TF_|TORCH|PYTORCH|OMP_|GOMP_|MKL_|KMP_|NPROC|CUDA|CUBLAS|CUDNN|NVIDIA_|PJRT|PYTHON|OPENBLAS"
    r"|BLIS|DNNL_|ONEDNN|TRITON|LIBTPU|KERAS|NUMEXPR|MALLOC|GLIBC_TUNABLES|LD_)"
)

# Set in every engine. Messages are in English, because the rules for outcomes match their text.
COMMON = {
    "LANG": "C.UTF-8",
    "PYTHONPATH": str(ROOT),
    "PYTHONHASHSEED": "0",
    "PYTHONUNBUFFERED": "1",  # so that a killed worker's last output isn't lost in a buffer
    "PYTHONNOUSERSITE": "1",  # packages in a home folder are in no lock
}


# Of each allocator policy, the variables that the C library reads at process start: glibc's settings for memory that is
# freed. By its defaults (`system`) an array over 32 MiB is mapped and touched anew in each step (36 MB of selu: 24 ms
# of 30), so that a stack's array sizes decide its rank. `kept` leaves freed memory in the heap, as every framework's
# pool does on an accelerator. All threads share one heap, because glibc gives the memory of further heaps back in spite
# of these settings (JAX op by op, ffn train: 6,000 pages touched anew in each step with further heaps, two pages
# without). The heap may use huge pages, which NumPy asks for by itself.
NEVER = 1 << 40  # bytes
ALLOCATOR_VARIABLES = {
    "kept": {
        "GLIBC_TUNABLES": f"glibc.malloc.mmap_threshold={NEVER}:glibc.malloc.trim_threshold={NEVER}:"
        "glibc.malloc.arena_max=1:glibc.malloc.hugetlb=1"
    },
    "system": {},
}
# Of a check, whose times nobody reads: Inductor tries no instruction sets and compiles no headers ahead. Both together
# take more than half of the processor time of its first compilation (5 s of 9). Two processes share the cores: threads
# of OpenMP that wait asleep made steps of a convolutional network in PyTorch 17 times as fast as those that spin.
CHECK_VARIABLES = {
    "TORCHINDUCTOR_VEC_ISA_OK": "1",
    "TORCHINDUCTOR_CPP_CACHE_PRECOMPILE_HEADERS": "0",
    "OMP_WAIT_POLICY": "PASSIVE",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessRequest:
    """One worker to run. A container sees its paths under the same names as the machine.

    `arguments` follow the environment's Python. The worker writes its caches and temporary files into
    `cache_directory`, and everything else into `folder`. `keep_cache`: a later process reads the caches. `variables`
    are the case's own environment variables, beside the engine's. `company` is how many workers may be alive together
    and take turns, this one included; 1: the worker never waits for others, and there is no line to it.
    """

    name: str
    arguments: Sequence[str]
    folder: Path
    cache_directory: Path
    cpus: Sequence[int]
    limits: ProcessLimits
    reads: Sequence[Path] = ()
    keep_cache: bool = False
    variables: Mapping[str, str] = field(default_factory=dict)
    company: int = 1


class Engine(ABC):
    """Runs the workers of one environment. `columns` describe the engine in each of its rows."""

    columns: Mapping[str, str | None]

    @abstractmethod
    def launch(self, request: ProcessRequest) -> Exit:
        """Runs one worker to its end; stdout.log and stderr.log lie in the request's folder.

        Returns only when the worker and all its descendants are gone. An interrupt (Ctrl-C) ends them first and is then
        raised again.
        """

    @abstractmethod
    def warm_up(self, code: str) -> None:
        """Runs one unmeasured statement, so that the first measured process finds the disk cache warm. A failure is
        ignored: the measured process will fail too, and get a row."""


def worker_environment(base: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in base.items() if INHERITED.fullmatch(name)} | COMMON


def skewing(base: Mapping[str, str]) -> list[str]:
    """Returns the names of the skewing variables that workers don't get."""
    return sorted(name for name in base if SKEWING.search(name) and not INHERITED.fullmatch(name))


def supervisor_spec(
    command: Sequence[str],
    environment: Mapping[str, str],
    directory: Path,
    limits: ProcessLimits,
    *,
    company: int = 1,
    **engine: object,
) -> dict[str, object]:
    """Returns the specification that the supervisor reads; `engine` has the fields that differ by engine."""
    return {
        "command": list(command),
        "environment": dict(environment),
        "directory": str(directory.resolve()),
        **dataclasses.asdict(limits),
        "compile_phases": COMPILE_PHASES,
        "clocked_phases": [*COMPILE_PHASES, *SAMPLING_PHASES],
        "turns_variable": TURNS_VARIABLE if company > 1 else "",
        **engine,
    }
