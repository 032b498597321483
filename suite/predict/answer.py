"""The request to a job that compiles a program, and its answer: two JSON files in the job's folder. The module needs
only the standard library."""

from __future__ import annotations

from dataclasses import dataclass, field

ASKED, ANSWER, PROGRAM = "asked.json", "answer.json", "program.mlir"
ANSWER_BYTES_MAX = 2**22


@dataclass(frozen=True, slots=True, kw_only=True)
class CompileRequest:
    """The device for which the program in the same folder is compiled, in the terms of the device's compiler.

    `header` is the first line of the program that a CPU's compiler made. It says which arguments may be overwritten.
    This is needed for PyTorch/XLA, which only offers arguments to the compiler; StableHLO doesn't hold the offer.
    `batch` is the size of the batch that several chips split; 0 for a program that is compiled as it is.
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
    the layouts that the compiler chose. `flops` and `bytes_accessed` come from the compiler's cost analysis, which
    counts a loop's body once; they are None if the compiler has no such analysis.

    `temporary_bytes` counts all temporary buffers, on a TPU also those in on-chip memory. `peak_bytes` is the most that
    is in use at once, by the compiler's count. `collectives` are operations between devices: {kind: (how many, bytes of
    their results)}.
    """

    argument_bytes: int = 0
    output_bytes: int = 0
    aliased_bytes: int = 0
    temporary_bytes: int = 0
    code_bytes: int = 0
    peak_bytes: int = 0
    flops: float | None = None
    bytes_accessed: float | None = None
    operations: int = 0
    fusions: int = 0
    custom_calls: dict[str, int] = field(default_factory=dict)
    collectives: dict[str, tuple[int, int]] = field(default_factory=dict)

    def needed_bytes(self, target: str) -> int:
        """Returns the bytes of the device's memory that a step needs. On a TPU that is the compiler's peak. On a GPU it
        is more: the arguments, the results that don't overwrite an argument, and one allocation for all temporary
        buffers."""
        if target == "tpu":
            return self.peak_bytes
        return self.argument_bytes + self.output_bytes - self.aliased_bytes + self.temporary_bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """The part of a row about a compiled program: its figures, the compiler, the device and its memory. `verdict_by`
    says how it was decided whether the program fits.

    `bound_seconds` is the least time that the case's arithmetic and unavoidable bytes take at the device's published
    peaks, and `bound_by` says which of the two takes longer. Both are None if the work isn't known, and for several
    chips."""

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
        """Raises ValueError for sizes that no device can have, because a row may come from a stranger."""
        if self.device_bytes < 1 or self.needed_bytes < 0:
            raise ValueError("a device has memory, and a program needs some of it")

    @property
    def copied_bytes(self) -> int:
        """Returns the bytes that a step would need if no result overwrote an argument."""
        return self.needed_bytes + self.compiled.aliased_bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class CompileAnswer:
    """How a compilation ended: with the figures of the program (`compiled`), or with an exception. `unreadable` says
    why the program can't be read, and `absent` which part of the environment is missing."""

    compiler: str = ""
    seconds: float = 0.0
    compiled: CompiledProgram | None = None
    exception: dict[str, str] | None = None
    unreadable: str = ""
    absent: str = ""
