"""A process that takes the run down with it, as one does that is killed for memory in a control group that ends as a
whole. Else `--resume` would run the same case into the same end, for ever.

A mark in the set's folder names the process that was started last and hasn't ended; it stays only if the run ends
without a word. Once may be chance (somebody killed the run, while the kernel killed another program for memory): a case
is suspected when the run has ended so twice.
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
TIMES = 2
REASON = (
    "the run ended suddenly twice while this process was the last to start, and the kernel killed for memory; "
    "--again=oom_host runs it again"
)


class Mark(Struct, frozen=True, kw_only=True):
    """The process that was started last, None once it has ended; how often the kernel of this `boot` had killed for
    memory before; and how often the run has ended suddenly in each case, by case_id."""

    attempt: dict[str, Any] | None = None
    boot: str | None = None
    kills: int = 0
    ends: dict[str, int] = {}


def mark_of(folder: Path) -> Mark:
    mark: Mark = json_file.read(folder / NAME, Mark) if (folder / NAME).exists() else Mark()
    return mark


def write(folder: Path, attempt: dict[str, Any] | None, ends: dict[str, int]) -> None:
    mark = Mark(attempt=attempt, boot=boot(), kills=cgroup.machine_oom_kills(), ends=ends)
    write_json(folder / NAME, structs.asdict(mark))


def starts(folder: Path, attempt: Attempt) -> None:
    write(folder, attempt.to_json(), mark_of(folder).ends)


def ends(folder: Path, attempt: Attempt) -> None:
    """A process has ended: what the kernel killed until now is known."""
    mark = mark_of(folder)
    write(folder, None if mark.attempt == attempt.to_json() else mark.attempt, mark.ends)


def over(folder: Path) -> None:
    """The run has ended with a word."""
    (folder / NAME).unlink(missing_ok=True)


def suspect(folder: Path) -> Attempt | None:
    """Counts, on resume, the sudden end that the mark tells of, and clears the mark. Returns the process that has taken
    the run down twice now; None if there is none."""
    mark = mark_of(folder)
    if mark.attempt is None or mark.boot != boot() or cgroup.machine_oom_kills() <= mark.kills:
        return None
    attempt = Attempt.from_json(mark.attempt)
    case = attempt.case.case_id
    counts = mark.ends | {case: mark.ends.get(case, 0) + 1}
    write(folder, None, counts)
    return attempt if counts[case] >= TIMES else None


def boot() -> str | None:
    return read("/proc/sys/kernel/random/boot_id")
