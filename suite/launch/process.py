"""What an engine is told (Limits) and what it tells back (Exit), whichever engine it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

CHECK_SECONDS = 0.25
THRASHING_SECONDS = 15.0
EXIT_FILE = "exit.json"  # a supervisor's account of its worker, in the worker's folder
EXIT_BYTES_MAX = 2**16  # of it: a dozen figures


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a worker may use, enforced from outside it.

    `timeout_seconds` counts from its start; `compile_timeout_seconds` applies to each of the
    phases first and second, from that phase's start. `memory_bytes` covers the worker and all
    its descendants; None: the machine alone limits them. `cgroup=False` asks for the watchdog
    even where a cgroup could be made. `check_seconds` lie between two looks at phase, deadline and memory; by default
    so many that no measurement is disturbed. A tree that is full of what can't be pushed out and does nothing but read
    its files again is ended after `thrashing_seconds`.
    """

    timeout_seconds: float
    compile_timeout_seconds: float
    memory_bytes: int | None = None
    cgroup: bool = True
    check_seconds: float = CHECK_SECONDS
    thrashing_seconds: float = THRASHING_SECONDS


@dataclass(frozen=True, slots=True, kw_only=True)
class Exit:
    """How one process ended, as its supervisor saw it: facts without judgement.

    Exactly one of `exit_code` and `signal` is set, or neither where the supervisor itself was
    lost (then `interrupted` is true and `problem` says why). `timeout_kind` is `total` or
    `compile`. `oom_kills` counts kernel out-of-memory kills: in the worker's own cgroup where
    it had one, else on the machine while the worker ran. `peak_bytes_tree` is the largest sampled
    sum of resident memory over the tree (pages shared between processes count once for each);
    `peak_bytes_cgroup` is the kernel's own figure, which includes page cache, and `peak_bytes_anonymous`
    the largest sampled part of it that doesn't. `thrashed`: it was killed for memory since, full of
    what can't be pushed out, it did nothing any more but read its files again. `left_behind` counts
    descendants that not even SIGKILL ended in time.
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
    limits: Limits
    peak_bytes_cgroup: int | None = None
    peak_bytes_anonymous: int | None = None
    left_behind: int = 0
    problem: str | None = None
    thrashed: bool = False

    @classmethod
    def from_json(cls, fields: dict[str, Any], limits: Limits) -> Exit:
        """The Exit that an exit.json describes. Raises TypeError on a missing or unknown field."""
        return cls(**fields, limits=limits)

    @classmethod
    def lost(cls, problem: str, limits: Limits) -> Exit:
        """The end of a process whose supervisor left no word."""
        return cls(
            exit_code=None,
            signal=None,
            timed_out=False,
            timeout_kind=None,
            memory_killed=False,
            memory_limit_by=None,
            oom_kills=0,
            peak_bytes_tree=None,
            duration_seconds=0.0,
            interrupted=True,
            limits=limits,
            problem=problem,
        )

    @classmethod
    def out_of_memory(cls, signal: int | None, limits: Limits) -> Exit:
        """The end of a process that was killed for memory together with its supervisor, by an engine's word."""
        return cls(
            exit_code=None,
            signal=signal,
            timed_out=False,
            timeout_kind=None,
            memory_killed=True,
            memory_limit_by="engine",
            oom_kills=1,
            peak_bytes_tree=None,
            duration_seconds=0.0,
            interrupted=False,
            limits=limits,
        )
