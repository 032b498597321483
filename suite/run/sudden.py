"""A process that took the run down with it, as one does that is killed for memory in a control group that ends as a
whole. A mark in the set's folder names the process that was started last; it stays only if the run ends without a word.
Else `--resume` would run the same case into the same end, for ever.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from msgspec import Struct, structs

from suite.case import Attempt
from suite.launch.supervisor import cgroup
from suite.machine.facts import read
from suite.sets import json_file
from suite.sets.files import write_json

NAME = "started.json"
REASON = "killed for memory together with the run; --again=oom_host runs it again"


class Mark(Struct, frozen=True, kw_only=True):
    """The process that was started last, and how often the kernel of this `boot` had killed for memory before."""

    attempt: dict[str, Any]
    boot: str | None
    kills: int


def starts(folder: Path, attempt: Attempt) -> None:
    mark = Mark(attempt=attempt.to_json(), boot=boot(), kills=cgroup.machine_oom_kills())
    write_json(folder / NAME, structs.asdict(mark))


def ended(folder: Path) -> None:
    (folder / NAME).unlink(missing_ok=True)


def culprit(folder: Path) -> Attempt | None:
    """Returns the process that was started last if the run ended suddenly and the kernel has killed for memory since
    then; None otherwise."""
    if not (folder / NAME).exists():
        return None
    mark: Mark = json_file.read(folder / NAME, Mark)
    killed = mark.boot == boot() and cgroup.machine_oom_kills() > mark.kills
    return Attempt.from_json(mark.attempt) if killed else None


def boot() -> str | None:
    return read("/proc/sys/kernel/random/boot_id")
