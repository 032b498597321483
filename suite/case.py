"""The vocabulary: the question (Case), one process that answers it (Attempt), how the process ended (Outcome).

Standard library only, since the worker imports it in every environment.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from suite.errors import UserError, unknown

TARGETS = ("cpu", "cuda", "tpu")
# gradient: the result and the gradient of a scalar; train: a whole step with an optimizer's update.
PASSES = ("forward", "train", "gradient")
PRECISIONS = ("f32", "tf32", "bf16")  # from slow to fast: no chip is faster in one than in the next
TRACKS = ("default", "tuned")
CACHES = ("cold", "warm")
BEFORE, AFTER = "before", "after"  # variants of a stack: the code that it runs in two revisions
ALLOCATORS = ("kept", "system")  # freed memory stays with the process, or the C library decides
# A larger value of these dims never needs less memory; of an image's patch size or the number of heads it may.
GROWING = frozenset({"batch", "seq", "image", "m", "n", "k"})
CUSTOM = "custom"  # the size's name where no named size of the workload has these dims
NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,99}")  # of a workload, a stack or a dim; files' names contain it
ARRAY_API = "xp_"  # how a function by the array API standard begins; as an implementation it keeps the whole name
PARALLEL = ".parallel"  # how an implementation ends that is another one, compiled to run in parallel
DIMS_MAX, DIM_MAX = 64, 2**31 - 1
THREADS_MAX = 2**16
ROUNDS_MAX = 10**6
COUNT_MAX = 10**6  # of blocks, of processes in a block, and of retries


class Outcome(StrEnum):
    """How an attempt ended. Every word but `ok` comes with a reason."""

    OK = "ok"
    OOM_HOST = "oom_host"
    OOM_DEVICE = "oom_device"
    OOM_COMPILE = "oom_compile"
    TIMEOUT = "timeout"
    DIFFER = "differ"  # two implementations disagree, and nothing says which is right
    UNSUPPORTED = "unsupported"
    WRONG = "wrong"
    ERROR = "error"
    CRASHED = "crashed"


OUT_OF_MEMORY = (Outcome.OOM_HOST, Outcome.OOM_DEVICE, Outcome.OOM_COMPILE)


class Flag(StrEnum):
    """A warning about a row, beside its outcome."""

    NO_STEADY_STATE = "no_steady_state"
    ASSUMED = "assumed"  # too few samples (under 40) to show a steady state
    NOISY = "noisy"
    DISTURBED = "disturbed"  # too few samples during which no other process took the cores
    PAGE_FAULTS = "page_faults"  # page faults may have taken more than 5 % of the process's processor time
    RECOMPILED = "recompiled"
    FALLBACK_OPS = "fallback_ops"
    GRAPH_BREAKS = "graph_breaks"
    IMPLAUSIBLE = "implausible"
    UNSTABLE = "unstable"  # a kernel of the framework is off where its input is far from zero
    NOT_FINITE = "not_finite"  # what is right has values that are NaN or infinite
    WIDER = "wider"  # a part was computed in a wider type than its inputs have
    NO_FLOAT64 = "no_float64"  # a model doesn't run in float64, so that no reference says what is right
    FROZEN_WEIGHTS = "frozen_weights"  # the weights are constants of the program, which may be computed with before
    UNVERIFIED = "unverified"  # neither a reference nor a majority of dialects confirms the result
    INCOMPLETE_BLOCK = "incomplete_block"
    REJECTED_BLOCK = "rejected_block"
    HARNESS = "harness"  # the harness, not the stack, caused the outcome; a resumed run tries again
    UNPINNED = "unpinned"  # the process ran on an interpreter that no lock pins


class Purpose(StrEnum):
    """What a process is for. Only `timed` processes have times that are compared.

    `prime` fills the compile caches with which a warm case starts; `memory` takes a few steps and reads peak memory;
    `ir` keeps the programs that a stack hands to its compiler; `predict` has an accelerator's compiler judge a case;
    `explain` records the kernels that frameworks run and the holders of memory; `profile` records where a step's time
    goes; `probe` observes how a stack behaves.
    """

    TIMED = "timed"
    MEMORY = "memory"
    PRIME = "prime"
    IR = "ir"
    PREDICT = "predict"
    EXPLAIN = "explain"
    PROFILE = "profile"
    PROBE = "probe"


# Purposes whose processes run outside of the blocks.
OUTSIDE_BLOCKS = (Purpose.MEMORY, Purpose.IR, Purpose.PREDICT, Purpose.EXPLAIN, Purpose.PROFILE, Purpose.PROBE)
PHASES = {
    "start": "while starting",
    "import": "while importing",
    "device": "while opening the device",
    "build": "while building the step",
    "place": "while placing the tensors",
    "first": "in the first run",
    "second": "in the second run",
    "third": "in the third run",
    "steady": "in the steady runs",
    "hold": "while it waited for its turn",
    "pipelined": "in the pipelined runs",
    "fetch": "while fetching",
    "memory": "while reading memory",
    "probe": "in the precision probe",
    "late": "in the step after the clocks",
    "gate": "in the equivalence gate",
    "explain": "while recording its kernels and memory",
    "ir": "while keeping its programs",
    "compile": "in its compiler",
    "profile": "under the profiler",
    "observe": "while being observed",
    "end": "at its end",
}
COMPILE_PHASES = ("first", "second")  # in these phases compilers run; each phase has its own time limit
# Metrics of the kind `CLOCK`: seconds that say whether a process's samples can be true (suite/results/clocks.py).
CLOCK, LEAD_IN, FRESH_STEPS = "clock", "lead-in", "fresh steps"
SAMPLING_PHASES = ("steady", "hold", "pipelined", "fetch")  # in these phases samples are taken

# The worker's events.jsonl: the version of its lines, and the greatest size of the file and of a message.
EVENTS_VERSION = 1
EVENTS_BYTES_MAX = 64 * 2**20
MESSAGE_BYTES_MAX = 4096


def canonical_json(value: Any) -> str:
    """Returns the one JSON text of a value, for hashing: with sorted keys and without spaces."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def phase_words(phase: str | None) -> str:
    """Returns in words when a process ended: `in the first run`. `phase` is None before the first phase."""
    return "before its first phase" if phase is None else PHASES.get(phase, f"in phase {phase}")


def dims_text(dims: Mapping[str, int]) -> str:
    """Returns dims as `--dims` takes them: `batch=2,seq=64`."""
    return ",".join(f"{name}={value}" for name, value in dims.items())


def bytes_text(count: int) -> str:
    """Returns an exact number of bytes as `--limit-memory` takes it: `6GiB`, `1536MiB`."""
    units = (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10), ("B", 1))
    return next(f"{count // size}{unit}" for unit, size in units if count % size == 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A question to one stack. Equal cases have equal `case_id`s on any machine.

    `size` is the name of these `dims` in the workload's spec, or `custom`; `dims` are whole numbers by name.
    `threads` is the number of CPU cores that the framework gets; `limit_memory_bytes` is None if only the machine
    limits the process. `allocator` says what happens to freed memory: `kept` leaves it with the process until the
    process ends; with `system` the C library decides. `implementation` names a function of a question
    file; it is empty for a workload that has one in each dialect.
    """

    workload: str
    size: str
    dims: Mapping[str, int]
    pass_: str
    precision: str
    track: str
    stack: str
    variant: str
    target: str
    device: str
    cache: str
    threads: int
    limit_memory_bytes: int | None = None
    allocator: str = ALLOCATORS[0]
    implementation: str = ""

    def __post_init__(self) -> None:
        """Raises UserError for values that a case can't have. Its names become parts of files' names, its numbers the
        sizes of loops, and it may come from a stranger's set."""
        words = {
            "target": TARGETS,
            "pass_": PASSES,
            "precision": PRECISIONS,
            "track": TRACKS,
            "cache": CACHES,
            "allocator": ALLOCATORS,
        }
        for name, known in words.items():
            if getattr(self, name) not in known:
                raise unknown(name.rstrip("_"), str(getattr(self, name))[:60], known, of="A case")
        optional = [name for name in ("variant", "implementation") if getattr(self, name)]
        for name in ("workload", "size", "stack", "device", *optional):
            if not NAME.fullmatch(getattr(self, name)):
                raise UserError(f"A case's {name} can't be called {getattr(self, name)[:60]!r}.")
        sound = all(NAME.fullmatch(name) and 1 <= value <= DIM_MAX for name, value in self.dims.items())
        if not sound or len(self.dims) > DIMS_MAX:
            raise UserError(f"A case's dims are at most {DIMS_MAX} names with a whole number from 1 to {DIM_MAX:,}.")
        if not 1 <= self.threads <= THREADS_MAX:
            raise UserError(f"A case has from 1 to {THREADS_MAX:,} threads, not {self.threads:,}.")
        if self.limit_memory_bytes is not None and self.limit_memory_bytes < 1:
            raise UserError("A case's memory limit is at least 1 byte.")

    def to_json(self) -> dict[str, Any]:
        """Returns a plain dict with the public column names (`pass`, not `pass_`)."""
        fields = {f.name.rstrip("_"): getattr(self, f.name) for f in dataclasses.fields(self)}
        return fields | {"dims": dict(self.dims)}

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Case:
        """Returns the case of `to_json`'s dict. Raises TypeError for a missing or unknown field."""
        return cls(**{("pass_" if name == "pass" else name): value for name, value in fields.items()})

    @classmethod
    def of_row(cls, row: Mapping[str, Any]) -> Case:
        """Returns the case of a row of results, whose dims are JSON."""
        fields = {name.rstrip("_"): row[name.rstrip("_")] for name in cls.__dataclass_fields__}
        return cls.from_json(fields | {"dims": json.loads(row["dims"])})

    @property
    def case_id(self) -> str:
        return self.digest()

    @property
    def comparison_id(self) -> str:
        """Returns the sha256 of all fields but the stack, its variant and the implementation: cases that are compared
        share it."""
        return self.digest("stack", "variant", "implementation")

    def digest(self, *without: str) -> str:
        """Returns the sha256 of the canonical JSON without some fields."""
        fields = {name: value for name, value in self.to_json().items() if name not in without}
        if fields["allocator"] == "system":
            del fields["allocator"]  # so that ids from before this field stay as they were
        if not fields.get("implementation", True):
            del fields["implementation"]  # likewise
        return hashlib.sha256(canonical_json(fields).encode()).hexdigest()

    @property
    def stack_name(self) -> str:
        """Returns the stack as people write it: `jax_jit`, `jax_jit@nightly` for a variant, `jax_jit:naive` for an
        implementation."""
        return stack_name(self.stack, self.variant, self.implementation)

    @property
    def comparison_name(self) -> str:
        """Returns the case's name without the stack: `gemm-quick-forward-f32-cpu`, `gemm-custom-n=100-forward-…`."""
        return self.comparison_name_in(self.precision)

    def comparison_name_in(self, precision: str) -> str:
        """Returns `comparison_name` with other words for the precision."""
        size = f"{CUSTOM}-{dims_text(dict(sorted(self.dims.items())))}" if self.size == CUSTOM else self.size
        parts = [self.workload, size, self.pass_, precision, self.target]
        if self.device != self.target:
            parts.append(self.device)
        if self.track != "default":
            parts.append(self.track)
        if self.cache != "cold":
            parts.append(self.cache)
        if self.allocator != ALLOCATORS[0]:
            parts.append(f"{self.allocator}_allocator")
        if self.limit_memory_bytes is not None:
            parts.append(bytes_text(self.limit_memory_bytes))
        return "-".join(parts)


def function_name(dialect: str, implementation: str) -> str:
    """Returns the name of a question's function that a case runs, `torch_naive`: of a function that several dialects
    run, or that is compiled in two ways, the same name in each. For a workload in a folder it is the dialect."""
    if implementation.startswith(ARRAY_API):
        return implementation
    return "_".join(filter(None, (dialect, implementation.removesuffix(PARALLEL))))


def stack_name(stack: str, variant: str, implementation: str) -> str:
    """Returns the name of a stack with its variant and implementation, as people write it: `jax_jit@nightly:naive`."""
    return stack + (f"@{variant}" if variant else "") + (f":{implementation}" if implementation else "")


@dataclass(frozen=True, slots=True)
class Planned:
    """A case of a plan. If it isn't run, one of two fields has the reason: `unsupported` (it can't run here) or
    `too_large` (it is predicted to run out of memory)."""

    case: Case
    unsupported: str | None = None
    too_large: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One process for one case, and so one row.

    `retry` starts at 1 and rises when the block, or this process alone, is run again.
    """

    set_id: str
    case: Case
    block: int
    position: int
    replicate: int
    purpose: Purpose
    retry: int
    seed: int

    def __post_init__(self) -> None:
        """Raises UserError for numbers out of their bounds."""
        if not all(0 <= getattr(self, name) <= COUNT_MAX for name in ("block", "position", "replicate", "retry")):
            raise UserError(f"An attempt's block, position, replicate and retry are counted up to {COUNT_MAX:,}.")
        if not 0 <= self.seed < 2**63:
            raise UserError("A seed is a whole number from 0 to 2⁶³ − 1.")

    @property
    def key(self) -> tuple[str, int, int, str, int]:
        """Returns (case_id, block, replicate, purpose, retry), which is unique in a result set."""
        return (self.case.case_id, self.block, self.replicate, str(self.purpose), self.retry)

    def to_json(self) -> dict[str, Any]:
        """Returns a plain dict, with the case's dict in it."""
        fields = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        return fields | {"case": self.case.to_json(), "purpose": str(self.purpose)}

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Attempt:
        return cls(**{**fields, "case": Case.from_json(fields["case"]), "purpose": Purpose(fields["purpose"])})
