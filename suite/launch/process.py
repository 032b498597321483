"""The limits that every engine gives a process, and the account of how the process ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

CHECK_SECONDS = 0.25
THRASHING_SECONDS = 15.0
EXIT_FILE = "exit.json"  # a supervisor's account of its worker, in the worker's folder
EXIT_BYTES_MAX = 2**16  # a dozen figures
NOTHING_KNOWN: dict[str, Any] = {  # fields of an Exit without a supervisor's account
    "exit_code": None,
    "signal": None,
    "timed_out": False,
    "timeout_kind": None,
    "memory_killed": False,
    "memory_limit_by": None,
    "oom_kills": 0,
    "peak_bytes_tree": None,
    "duration_seconds": 0.0,
    "interrupted": False,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessLimits:
    """What a worker may use. Its supervisor enforces the limits from outside.

    `timeout_seconds` counts from the worker's start; `compile_timeout_seconds` applies to each of the `COMPILE_PHASES`,
    from that phase's start. `memory_bytes` covers the worker and all its descendants; None: no limit but the machine.
    `cgroup=False` asks for the watchdog even where a cgroup could be made. `check_seconds` pass between two looks at
    phase, deadline and memory; the default disturbs no measurement. A worker whose memory is full and that only reads
    evicted pages of its files again is killed after `thrashing_seconds`.
    """

    timeout_seconds: float
    compile_timeout_seconds: float
    memory_bytes: int | None = None
    cgroup: bool = True
    check_seconds: float = CHECK_SECONDS
    thrashing_seconds: float = THRASHING_SECONDS


@dataclass(frozen=True, slots=True, kw_only=True)
class Exit:
    """How one process ended, as its supervisor saw it: facts, no judgement.

    Exactly one of `exit_code` and `signal` is set, or neither if the supervisor itself was lost (then `interrupted`
    is true and `problem` says why). `timeout_kind` is `total` or `compile`. `oom_kills` counts the kernel's
    out-of-memory kills: in the worker's own cgroup if it had one, else on the machine while the worker ran.
    `peak_bytes_tree` is the largest sampled sum of resident memory over the process tree (a page that several processes
    share counts once for each of them); `peak_bytes_cgroup` is the kernel's own figure, page cache included;
    `peak_bytes_anonymous` is the largest sample of memory without page cache. `thrashed`: the worker was killed because
    its memory was full and it only read evicted pages of its files again. `left_behind` counts descendants that
    outlived SIGKILL.
    """

    exit_code: int | None
    signal: int | None
    timed_out: bool
    timeout_kind: str | None
    memory_killed: bool
    memory_limit_by: str | None
    oom_kills: int
    peak_bytes_tree: int | None
    duration_seconds: float
    interrupted: bool
    limits: ProcessLimits
    peak_bytes_cgroup: int | None = None
    peak_bytes_anonymous: int | None = None
    left_behind: int = 0
    problem: str | None = None
    thrashed: bool = False

    @classmethod
    def from_json(cls, fields: dict[str, Any], limits: ProcessLimits) -> Exit:
        """Returns the Exit that an exit.json describes. Raises TypeError on a missing or unknown field."""
        return cls(**fields, limits=limits)

    @classmethod
    def lost(cls, problem: str, limits: ProcessLimits) -> Exit:
        """Returns the Exit of a process whose supervisor left no account."""
        return cls(**(NOTHING_KNOWN | {"interrupted": True, "problem": problem}), limits=limits)

    @classmethod
    def out_of_memory(cls, signal: int | None, limits: ProcessLimits) -> Exit:
        """Returns the Exit of a process that was killed for memory together with its supervisor, as the engine says."""
        killed = {"signal": signal, "memory_killed": True, "memory_limit_by": "engine", "oom_kills": 1}
        return cls(**(NOTHING_KNOWN | killed), limits=limits)
