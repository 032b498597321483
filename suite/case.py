"""The vocabulary: what is asked (Case), one process that answers it (Attempt), how it ended (Outcome).

Standard library only: the orchestrator, the worker in every environment and the tests share it.
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
PASSES = ("forward", "train")
PRECISIONS = ("f32", "tf32", "bf16")
TRACKS = ("default", "tuned")
CACHES = ("cold", "warm")
ALLOCATORS = ("kept", "system")  # whether memory that is freed stays with the process
# bf16 is each framework's own mixed precision: what of a step it computes in bfloat16, by the first word of a stack's
# name. JAX casts parameters and inputs, and so all that follows; PyTorch has lists of operations; TensorFlow, products.
MIXED = {"jax": "parameters", "torch": "autocast", "torchax": "autocast", "tf": "products"}
# Dims of which more can only need more memory: items of a step, or of each item. Not so patches of an image, or heads.
GROWING = frozenset({"batch", "seq", "image", "n"})
NAME_MAX = 150  # of a case in a file's name: file systems take 255 characters in all
CUSTOM = "custom"  # the size of dims that no named size of the workload has
NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,99}")  # of a workload, a stack, a dim: part of files' names
DIMS_MAX, DIM_MAX = 64, 2**31 - 1
THREADS_MAX = 2**16
COUNT_MAX = 10**6  # blocks, processes in one, and how often one was tried again


class Outcome(StrEnum):
    """How an attempt ended. Every word but `ok` comes with a reason."""

    OK = "ok"
    OOM_HOST = "oom_host"
    OOM_DEVICE = "oom_device"
    OOM_COMPILE = "oom_compile"
    TIMEOUT = "timeout"
    UNSUPPORTED = "unsupported"
    WRONG = "wrong"
    ERROR = "error"
    CRASHED = "crashed"


OUT_OF_MEMORY = (Outcome.OOM_HOST, Outcome.OOM_DEVICE, Outcome.OOM_COMPILE)


class Flag(StrEnum):
    """What a reader must know about a row beyond its outcome."""

    NO_STEADY_STATE = "no_steady_state"
    ASSUMED = "assumed"  # too few samples to test for a steady state
    NOISY = "noisy"
    DISTURBED = "disturbed"  # too few samples that no other process took the cores from
    PAGE_FAULTS = "page_faults"  # memory is touched anew in each step, and the kernel's part of it shows
    RECOMPILED = "recompiled"
    FALLBACK_OPS = "fallback_ops"
    GRAPH_BREAKS = "graph_breaks"
    IMPLAUSIBLE = "implausible"
    INCOMPLETE_BLOCK = "incomplete_block"
    REJECTED_BLOCK = "rejected_block"
    HARNESS = "harness"  # the harness, not the stack, caused the outcome: resume runs it again
    UNPINNED = "unpinned"  # an interpreter outside the locks


class Purpose(StrEnum):
    """What one process is for. `prime` fills the compile caches that a warm case starts with; `memory` takes the few
    steps that tell what a case needs; `ir` keeps what a stack hands to its compiler; `explain` has the frameworks tell
    which kernels they run and what their memory is made of; `profile` has their profilers tell where a step's time
    goes; `probe` observes how a stack behaves. Timed processes alone have times that are compared."""

    TIMED = "timed"
    MEMORY = "memory"
    PRIME = "prime"
    IR = "ir"
    PREDICT = "predict"
    EXPLAIN = "explain"
    PROFILE = "profile"
    PROBE = "probe"


# Of which no time is compared.
OUTSIDE_BLOCKS = (Purpose.MEMORY, Purpose.IR, Purpose.EXPLAIN, Purpose.PROFILE, Purpose.PROBE)
PHASES = (
    "start",
    "import",
    "device",
    "build",
    "place",
    "first",
    "second",
    "steady",
    "pipelined",
    "fetch",
    "memory",
    "probe",
    "gate",
    "explain",
    "ir",
    "profile",
    "observe",
    "end",
)
COMPILE_PHASES = ("first", "second")  # which have a time limit of their own: compilers work in them

# What a worker tells (events.jsonl): the version of its lines, how long the file and a message in it may be.
EVENTS_VERSION = 1
EVENTS_BYTES_MAX = 64 * 2**20
MESSAGE_BYTES_MAX = 4096


def canonical_json(value: Any) -> str:
    """The one JSON text of a value: sorted keys, no spaces, so that it can be hashed."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def precision_name(precision: str, stack: str) -> str:
    """The arithmetic of a stack's case: `f32`; of bf16 also which mixed precision it is, `bf16_autocast`."""
    mixed = MIXED.get(stack.partition("_")[0]) if precision == "bf16" else None
    return f"{precision}_{mixed}" if mixed else precision


def dims_text(dims: Mapping[str, int]) -> str:
    """`batch=2,seq=64`: as `--dims` takes them."""
    return ",".join(f"{name}={value}" for name, value in dims.items())


def bytes_text(count: int) -> str:
    """`6GiB`, `1536MiB`: exactly, as `--limit-memory` takes it."""
    units = (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10), ("B", 1))
    return next(f"{count // size}{unit}" for unit, size in units if count % size == 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """What is asked of one stack. Equal cases have equal `case_id`s, on any machine.

    `size` is the name of these `dims` in the workload's spec, or `custom`; `dims` are whole numbers by name.
    `threads` is the number of CPU cores every framework gets; `limit_memory_bytes` is None where nothing but
    the machine limits the process. `allocator`: `kept` memory is the process's until it ends, `system` leaves it to
    the C library's own rules.
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

    def __post_init__(self) -> None:
        """Raises UserError for a case that can't be one: its names become those of files, its numbers those of loops,
        and it may have been read from a set of anybody's."""
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
        for name in ("workload", "size", "stack", "device", *(["variant"] if self.variant else [])):
            if not NAME.fullmatch(getattr(self, name)):
                raise UserError(f"A case's {name} can't be called {getattr(self, name)[:60]!r}.")
        sound = all(NAME.fullmatch(name) and 1 <= value <= DIM_MAX for name, value in self.dims.items())
        if not sound or len(self.dims) > DIMS_MAX:
            raise UserError(f"A case's dims are at most {DIMS_MAX} names with a whole number from 1 to {DIM_MAX:,}.")
        if not 1 <= self.threads <= THREADS_MAX:
            raise UserError(f"A case has from 1 to {THREADS_MAX:,} threads, not {self.threads:,}.")
        if self.limit_memory_bytes is not None and self.limit_memory_bytes < 1:
            raise UserError("A case's limit of memory is at least a byte.")

    def to_json(self) -> dict[str, Any]:
        """A plain dict with the public column names (`pass`, not `pass_`)."""
        fields = {f.name.rstrip("_"): getattr(self, f.name) for f in dataclasses.fields(self)}
        return fields | {"dims": dict(self.dims)}

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Case:
        """The inverse of `to_json`. Raises TypeError on a missing or unknown field."""
        return cls(**{("pass_" if name == "pass" else name): value for name, value in fields.items()})

    @classmethod
    def of_row(cls, row: Mapping[str, Any]) -> Case:
        """The case of a row of results, whose dims are JSON."""
        fields = {name.rstrip("_"): row[name.rstrip("_")] for name in cls.__dataclass_fields__}
        return cls.from_json(fields | {"dims": json.loads(row["dims"])})

    @property
    def case_id(self) -> str:
        """sha256 of the canonical JSON: the identity of the question."""
        return self.digest()

    @property
    def comparison_id(self) -> str:
        """sha256 of everything but the stack and its variant: cases that may be compared share it."""
        return self.digest("stack", "variant")

    def digest(self, *without: str) -> str:
        """sha256 of the canonical JSON without some fields."""
        fields = {name: value for name, value in self.to_json().items() if name not in without}
        if fields["allocator"] == "system":
            del fields["allocator"]  # every case before there was a choice had it: their ids stand
        return hashlib.sha256(canonical_json(fields).encode()).hexdigest()

    @property
    def stack_name(self) -> str:
        """The stack as people write it: `jax_jit`, or `jax_jit@nightly` for a variant."""
        return f"{self.stack}@{self.variant}" if self.variant else self.stack

    @property
    def comparison_name(self) -> str:
        """The question without the stack, for people: `gemm-quick-forward-f32-cpu`, `gemm-custom-n=100-forward-…`."""
        return self.named(self.precision)

    def named(self, precision: str) -> str:
        """The question, with its arithmetic in some words."""
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

    @property
    def case_name(self) -> str:
        """Readable and usable as a file name: `gemm-quick-forward-f32-cpu-jax_jit`, `…-bf16_parameters-cpu-jax_jit`."""
        named = self.named(precision_name(self.precision, self.stack))
        return re.sub(r"[^A-Za-z0-9_.@=,-]", "_", f"{named}-{self.stack_name}")


@dataclass(frozen=True, slots=True)
class Planned:
    """A case, why it can't run here, and why it isn't tried: it is predicted to run out of memory. None: it is run."""

    case: Case
    unsupported: str | None = None
    too_large: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One process for one case. One attempt = one process = one row.

    `retry` counts from 1: it rises with every further run of the block or of this process alone.
    """

    set_id: str
    case: Case
    block: int
    order: int
    replicate: int
    purpose: Purpose
    retry: int
    seed: int

    def __post_init__(self) -> None:
        """Raises UserError for numbers that none has."""
        if not all(0 <= getattr(self, name) <= COUNT_MAX for name in ("block", "order", "replicate", "retry")):
            raise UserError(f"An attempt's block, order, replicate and retry are counted up to {COUNT_MAX:,}.")
        if not 0 <= self.seed < 2**63:
            raise UserError("A seed is a whole number from 0 to 2⁶³ − 1.")

    @property
    def key(self) -> tuple[str, int, int, str, int]:
        """(case_id, block, replicate, purpose, retry): unique within a result set."""
        return (self.case.case_id, self.block, self.replicate, str(self.purpose), self.retry)

    @property
    def name(self) -> str:
        """The stem of this attempt's files; sorts in the order in which attempts ran."""
        twin = f"-r{self.replicate}" if self.replicate > 1 else ""
        purpose = "" if self.purpose is Purpose.TIMED else f"-{self.purpose}"
        case = f"{self.case.case_name[:NAME_MAX]}-{hashlib.sha256(self.case.case_id.encode()).hexdigest()[:6]}"
        return f"b{self.block:02d}-{self.order:03d}-{case}{twin}{purpose}-a{self.retry}"

    @staticmethod
    def retry_of(name: str) -> int:
        """The retry of an attempt by its `name`."""
        return int(name.rpartition("-a")[2])

    def to_json(self) -> dict[str, Any]:
        """A plain dict; `case` is nested."""
        fields = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        return fields | {"case": self.case.to_json(), "purpose": str(self.purpose)}

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Attempt:
        """The inverse of `to_json`."""
        return cls(**{**fields, "case": Case.from_json(fields["case"]), "purpose": Purpose(fields["purpose"])})
