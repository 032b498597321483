"""The limits that every engine gives a process, and the account of how the process ended."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from suite.guard import plain_files
from suite.machine.limits import KINDS

CHECK_SECONDS = 0.25
THRASHING_SECONDS = 15.0
EXIT_FILE = "exit.json"  # a supervisor's account of its worker, in the worker's folder
EXIT_BYTES_MAX = 2**16  # a dozen figures


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
    outlived SIGKILL. `phase_seconds` is the time that the worker spent in each phase in which it reads its clock, by
    the supervisor's clock and to a few of its looks, without the time in which it held; empty if unknown.
    `shell_limits` are `limits.tight` of the worker.
    """

    limits: ProcessLimits
    exit_code: int | None = None
    signal: int | None = None
    timed_out: bool = False
    timeout_kind: str | None = None
    memory_killed: bool = False
    memory_limit_by: str | None = None
    oom_kills: int = 0
    peak_bytes_tree: int | None = None
    duration_seconds: float = 0.0
    interrupted: bool = False
    peak_bytes_cgroup: int | None = None
    peak_bytes_anonymous: int | None = None
    left_behind: int = 0
    problem: str | None = None
    thrashed: bool = False
    phase_seconds: Mapping[str, float] = field(default_factory=dict)
    shell_limits: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, folder: Path, limits: ProcessLimits) -> Exit:
        """Returns the Exit that the account in a process's folder describes. Raises OSError, ValueError or TypeError
        for a file that is no account: a worker can write there."""
        account = json.loads(plain_files.read(folder / EXIT_FILE, EXIT_BYTES_MAX))
        lacking = {field.name for field in dataclasses.fields(cls)} - {"limits", "problem", *account}
        if lacking:
            raise TypeError(f"{EXIT_FILE} lacks {', '.join(sorted(lacking))}")
        if not all(isinstance(seconds, float) for seconds in account["phase_seconds"].values()):
            raise TypeError(f"{EXIT_FILE} has phases without seconds")
        if not all(name in KINDS and isinstance(most, int) for name, most in dict(account["shell_limits"]).items()):
            raise TypeError(f"{EXIT_FILE} has limits that no shell has")
        return cls(**account, limits=limits)

    @classmethod
    def lost(cls, problem: str, limits: ProcessLimits) -> Exit:
        return cls(interrupted=True, problem=problem, limits=limits)
