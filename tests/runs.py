"""Whole runs of the command line on real stacks, several at a time: they look at what is computed, not at how fast."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from suite.stacks.catalog import STACKS

STACKWARS = (sys.executable, "-P", "-m", "suite.cli")
TOGETHER, OLDER, UNWARMED = "tests.together", "tests.older", "tests.unwarmed"
LANES_MAX = 4  # a process of a framework takes about a GB


@dataclass(frozen=True)
class Run:
    """What a command printed and left behind."""

    code: int
    told: dict[str, Any]
    log: str

    @property
    def folder(self) -> Path:
        """The result set."""
        return Path(self.told["set"])


def invoke_run(place: Path, *options: str, engine: str = "local", module: str = "") -> Run:
    """`invoke run ... --json`. With a lock of its own it isn't refused beside another.

    `module`: tests.together, tests.older or tests.unwarmed, in place of invoke.
    """
    program = [sys.executable, "-m", module] if module else STACKWARS
    words = [*program, "run", f"--engine={engine}", "--preset=tiny", "--json", f"--results={place}", *options]
    variables = os.environ | {"COLUMNS": "200", "TMPDIR": str(place), "STACKWARS_LOCK": str(place)}
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=variables)
    assert done.stdout.startswith("{"), done.stderr
    return Run(done.returncode, json.loads(done.stdout), done.stderr)


@contextmanager
def bound_to(cores: Iterable[int]) -> Iterator[None]:
    """What this thread starts runs on these cores."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


@dataclass(frozen=True)
class Asked:
    """One run of a test module's `RUNS`."""

    minutes: float  # about, on one core: what takes longest is begun first
    options: tuple[str, ...]
    # Writes workloads or question files of the run's own into a folder; their names.
    workloads: Callable[[Path], Sequence[str]] | None = None
    all_cores: bool = False
    module: str = ""
    release: bool = False  # only `make test-all` begins it: the tests that name it are marked `release`

    def options_in(self, folder: Path) -> tuple[str, ...]:
        """All options, the workloads written."""
        if self.workloads is None:
            return self.options
        names = self.workloads(folder)
        files = [folder / name for name in names if name.endswith(".py")]  # question files
        paths = (f"--workload-path={path}" for path in files or [folder])
        return (*self.options, *paths, *(f"--workload={Path(name).stem}" for name in names))


class Lanes:
    """Runs side by side, each on cores of its own, unless it is asked for all of them.

    Two runs that both take all cores wait for each other's threads, which spin, and start compilers by the dozen.
    """

    def __init__(self) -> None:
        self.cores = sorted(os.sched_getaffinity(0))
        count = min(LANES_MAX, len(self.cores))
        each = len(self.cores) // count  # the same for all: the number of threads is part of a case
        shares: SimpleQueue[list[int]] = SimpleQueue()
        for first in range(0, count * each, each):
            shares.put(self.cores[first : first + each])
        # On Linux that is the thread's own affinity, and what it starts inherits it.
        self.pool = ThreadPoolExecutor(count, initializer=lambda: os.sched_setaffinity(0, shares.get()))
        self.runs: dict[str, Future[Run]] = {}

    def start(self, name: str, asked: Asked, new_folder: Callable[[str], Path]) -> None:
        """Put a run in the queue."""
        folder = name.replace(" ", "-")  # Inductor takes no path with a space
        options = asked.options_in(new_folder(f"{folder}-workloads"))
        self.runs[name] = self.pool.submit(self.run, new_folder(folder), options, asked)

    def run(self, place: Path, options: Sequence[str], asked: Asked) -> Run:
        """In a lane's thread."""
        with bound_to(self.cores if asked.all_cores else os.sched_getaffinity(0)):
            return invoke_run(place, *options, module=asked.module)

    def __getitem__(self, name: str) -> Run:
        """The run of that name, once it has ended."""
        return self.runs[name].result()

    def close(self) -> None:
        """Begin nothing more, and wait for what runs."""
        self.pool.shutdown(cancel_futures=True)


def of(stacks: Iterable[str]) -> tuple[str, ...]:
    """Their options."""
    return tuple(f"--stack={stack}" for stack in stacks)


# What runs on request has tests/test_requested_stacks_end_to_end.py.
ON_CPU = tuple(
    name for name, stack in STACKS.items() if "cpu" in stack.targets and not (stack.on_request or stack.of_questions)
)
# Every stack on every operation, what several test modules look at.
OF_TORCH = ("torch_eager", "torchax_jit")
EXPORTED = tuple(stack for stack in ON_CPU if STACKS[stack].forward_only)
LEAVING = ("torch_xla", "torch_inductor")  # a step of training leaves what a forward pass would compile
EVERY_OPERATION = {
    "operations": Asked(
        2, of(stack for stack in ON_CPU if stack not in OF_TORCH + LEAVING + EXPORTED), module=TOGETHER
    ),
    "operations of PyTorch": Asked(1, of(OF_TORCH), module=TOGETHER),
    "train": Asked(1.5, ("--pass=train", *of(LEAVING)), module=TOGETHER),
    "forward": Asked(1.5, ("--pass=forward", *of(LEAVING + EXPORTED)), module=TOGETHER),
}
# One stack of each dialect: where the others need a process each, they are asked before a release.
FEW = ("numpy", "jax_jit", "torch_eager", "tf_xla")
REST = tuple(name for name in ON_CPU if name not in FEW + EXPORTED and not STACKS[name].native)
WITH_OLDER = ("jax_jit", "torchax_jit")  # these have an older JAX as well
# What a step takes, what holds that, whose kernels do the work, and where its time goes.
WHOLE_STEP = ("--purpose=memory", "--explain", "--profile=on", "--workload=ffn", "--size=full", "--pass=train")
PEAKS = {
    "peaks": Asked(1.5, (*WHOLE_STEP, *of(FEW)), module=UNWARMED),
    "peaks of the rest": Asked(3, (*WHOLE_STEP, *of(REST)), module=UNWARMED, release=True),
    "older peaks": Asked(1, (*WHOLE_STEP, *of(WITH_OLDER)), module=OLDER),
}
STACKS_OF_PEAKS = dict(zip(PEAKS, (FEW, REST, WITH_OLDER), strict=True))
