"""The part of an adapter that is read outside the clocks: counters, memory, programs, profiles and kernels. Each method
has a default, for a stack whose framework tells nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from suite.ir.timeline import Span
from suite.stacks import kernels
from suite.stacks.holders import Holders
from suite.workloads.tensors import Tensor

State = Any  # parameters and optimizer state, in the framework's own types
Batch = Any
DEVICE_FIGURES = ("device_peak_bytes", "device_reserved_bytes", "device_total_bytes")
PROGRAM_FIGURES = ("program_argument_bytes", "program_output_bytes", "program_temporary_bytes", "program_aliased_bytes")


class Unsupported(Exception):
    """This stack can't run the case, either at all or on this machine; the text is the reason in the report."""


@dataclass(frozen=True, slots=True)
class Trace:
    """The trace of profiled steps. `recorded_by` is the profiler that made it. `spans` are its operations with their
    categories; None for a trace in XLA's format, which the profiler writes to a folder (`suite.ir.attribute` reads it).
    """

    recorded_by: str
    spans: list[Span] | None = None


class Observed:
    """What `suite.stacks.base.Adapter` lets be observed of its stack."""

    def put(self, value: NDArray[Any]) -> Any:
        """Returns a host array on the device."""
        raise Unsupported("this stack has no arrays of its own")

    def jit(self, function: Callable[..., Any], static: Sequence[int] = ()) -> Callable[..., Any]:
        """Returns a function as a user of this stack would run it: compiled with the framework's own defaults if the
        stack compiles, else unchanged. `static` are the positions of arguments whose values become part of the
        program."""
        return function

    def counters(self) -> dict[str, float | None]:
        """Returns the framework's own counts so far: `traces`, `compiles`, `compile_seconds`, `graph_breaks`,
        `fallback_ops`. None means that the framework doesn't count it, 0 that it has counted none."""
        names = ("traces", "compiles", "compile_seconds", "graph_breaks", "fallback_ops")
        return dict.fromkeys(names)

    def probe_counters(self) -> dict[str, float]:
        """Returns further counts so far, for probes only, by the name of the probe's figure. A count that is also in
        `counters` replaces it."""
        return {}

    def listen(self, state: State, batch: Batch) -> tuple[State, Batch]:
        """Returns the state and batch for the step whose library calls are recorded. They are unchanged on stacks whose
        libraries write logs."""
        return state, batch

    def kernels_used(self, logs: kernels.LibraryLogs) -> list[kernels.LibraryUse]:
        """Returns the libraries that ran in the step after `listen`, with their instruction sets, the longest-running
        first."""
        return kernels.libraries(logs)

    def holders(self, logs: kernels.LibraryLogs, state: State, batch: Batch) -> Holders | None:
        """Returns what holds memory at a step's peak; None if the stack can't tell. It may run one more step, after
        which the state isn't used again."""
        return None

    def programs(self, caches: Path) -> Iterable[tuple[str, Path]]:
        """Returns (name, file) of each program that this process's compiler has written to the folder of compile
        caches; `suite.ir.files` makes the names."""
        return ()

    def lowered(self, state: State, batch: Batch) -> dict[str, str]:
        """Returns the framework's own texts of the step that it compiled, by file name. Only the shapes of `state` and
        `batch` count."""
        return {}

    def compile_on_shapes(self, parameters: Mapping[str, Tensor], batch: Mapping[str, Tensor]) -> tuple[State, Batch]:
        """Compiles the step, which was built with `abstract`, for tensors of which only the shapes exist. Returns these
        shapes as (state, batch), for `lowered`."""
        raise Unsupported("this stack can't compile a step on shapes alone")

    def planned_memory(self, caches: Path) -> dict[str, int]:
        """Returns the bytes that the step will hold, under the names of `program_memory`: from what its compiler has
        written to the folder of compile caches, or from the step on shapes. Empty if neither tells."""
        return {}

    def profile(self, steps: Callable[[], None], folder: Path) -> Trace | None:
        """Runs `steps`, which waits for what it submits, in the framework's profiler, and returns the trace. Without a
        profiler it runs nothing and returns None."""
        return None

    def memory(self) -> dict[str, int | None]:
        """Returns the framework's own `device_peak_bytes`, `device_reserved_bytes` and `device_total_bytes`."""
        return dict.fromkeys(DEVICE_FIGURES)

    def program_memory(self, state: State, batch: Batch) -> dict[str, int | None]:
        """Returns the compiler's own figures of the step, if it has any: `program_argument_bytes`, and so on. It may
        compile once more; `state` and `batch` are the last ones of the process."""
        return dict.fromkeys(PROGRAM_FIGURES)

    def program_flops(self, state: State, batch: Batch) -> int | None:
        """Returns the floating-point operations of a step by its compiler's own count, if it has one. It may compile
        once more."""
        return None
