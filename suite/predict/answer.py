"""The request and the answer of a job that compiles a program: two JSON files in its folder. Standard library only."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

ASKED, ANSWER, PROGRAM = "asked.json", "answer.json", "program.mlir"
ANSWER_BYTES_MAX = 2**22


@dataclass(frozen=True, slots=True, kw_only=True)
class CompileRequest:
    """The device for which the program beside this file is compiled, as its compiler describes devices.

    `header` is the first line of what a CPU's compiler made of the program. It says which arguments may be overwritten:
    PyTorch/XLA only offers them to the compiler, and StableHLO doesn't hold the offer. `batch` is the size of the batch
    that several chips split; 0 for a program that is compiled as it is.
    """

    target: str
    topology: str
    chips: tuple[int, ...]
    accelerator_type: str
    target_config: str
    header: str = ""
    batch: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledProgram:
    """The figures of a program that an accelerator's compiler has compiled. Bytes are those of the device's memory, in
    the layouts that the compiler chose. `flops` and `bytes_accessed` are from the compiler's cost analysis, which
    counts a loop's body once; None if it offers none.

    `temporary_bytes` are of all temporary buffers, a TPU's on-chip buffers too; `peak_bytes` is the most that is alive
    at once, by the compiler's count. `collectives` are operations between devices: of each kind, how many there are and
    the bytes of their results.
    """

    argument_bytes: int
    output_bytes: int
    aliased_bytes: int
    temporary_bytes: int
    code_bytes: int
    peak_bytes: int
    flops: float | None
    bytes_accessed: float | None
    operations: int
    fusions: int
    custom_calls: dict[str, int] = field(default_factory=dict)
    collectives: dict[str, tuple[int, int]] = field(default_factory=dict)

    def needed_bytes(self, target: str) -> int:
        """Returns the bytes of the device's memory that a step needs. On a TPU that is the compiler's peak. On a GPU
        it is more: arguments, results that overwrite none of them, and one allocation for all temporaries."""
        if target == "tpu":
            return self.peak_bytes
        return self.argument_bytes + self.output_bytes - self.aliased_bytes + self.temporary_bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """The part of a row about a compiled program: its figures, the compiler, the device and its memory, and in
    `verdict_by` how it was decided whether the program fits.

    `bound_seconds` is the least time for the case's arithmetic and unavoidable bytes at the device's published
    peaks, and `bound_by` says which of the two takes longer; None if the work isn't known, and for several chips."""

    compiled: CompiledProgram
    compiler: str
    device: str
    device_bytes: int
    needed_bytes: int
    verdict_by: str
    program: str
    bound_seconds: float | None
    bound_by: str | None

    def __post_init__(self) -> None:
        """Raises ValueError for sizes that no device has: a row may come from a stranger."""
        if self.device_bytes < 1 or self.needed_bytes < 0:
            raise ValueError("a device has memory, and a program needs some of it")

    @property
    def copied_bytes(self) -> int:
        """Returns the bytes that a step would need if no result overwrote an argument."""
        return self.needed_bytes + self.compiled.aliased_bytes

    def to_json(self) -> dict[str, Any]:
        """Returns plain data."""
        return dataclasses.asdict(self)

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Prediction:
        """Returns the prediction of `to_json`'s data."""
        return cls(**{**fields, "compiled": CompiledProgram(**fields["compiled"])})


@dataclass(frozen=True, slots=True, kw_only=True)
class CompileAnswer:
    """How a compilation ended: with the program `compiled`, or with an exception. `unreadable` says why the program
    can't be read, `absent` which part of the environment is lacking."""

    compiler: str = ""
    seconds: float = 0.0
    compiled: CompiledProgram | None = None
    exception: dict[str, str] | None = None
    unreadable: str = ""
    absent: str = ""

    def to_json(self) -> dict[str, Any]:
        """Returns plain data."""
        return dataclasses.asdict(self)
