"""What the job of one compilation is asked and what it answers: two JSON files in its folder. Standard library only."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

ASKED, ANSWER, PROGRAM = "asked.json", "answer.json", "program.mlir"
ANSWER_BYTES_MAX = 2**22


@dataclass(frozen=True, slots=True, kw_only=True)
class CompileRequest:
    """Which compiler is to compile the program beside this file, and for what.

    `header` is the first line of what a CPU's compiler made of the program: PyTorch/XLA only offers arguments to be
    overwritten, and StableHLO doesn't hold the offer. `batch` is the size of the batch, which several chips split among
    them; 0 for a program that is compiled as it is.
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
    """A program as an accelerator's compiler made it. Bytes are those of the device's memory, in the layouts that the
    compiler chose; FLOPs and bytes moved are by its own cost analysis, with a loop's body counted once; None where it
    offers none.

    `temporary_bytes` are of all temporary buffers, a TPU's on-chip ones too; `peak_bytes` is the most that is alive at
    once, by the compiler. `collectives` are operations between devices: how many of each kind, and
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
    """What a row keeps of a compiled program: by which compiler, for a device with how much memory, and who says that
    it fits.

    `bound_seconds` is the least time for the case's arithmetic and unavoidable bytes at the device's published
    peaks, and `bound_by` which of the two sets it; None where the work isn't known."""

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
    """How a compilation ended: `compiled`, or the exception; `unreadable` says why the program isn't one, `absent`
    which part of the environment is lacking."""

    compiler: str = ""
    seconds: float = 0.0
    compiled: CompiledProgram | None = None
    exception: dict[str, str] | None = None
    unreadable: str = ""
    absent: str = ""

    def to_json(self) -> dict[str, Any]:
        """Returns plain data."""
        return dataclasses.asdict(self)
