"""How the processes of one case ended, taken together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from suite.case import Outcome
from suite.results.store.rows import NOT_RUN, Row, accepted

# What a reader acts on first stands for processes that ended differently. A case that is unsupported in one block
# is so in those that haven't run, too.
SEVERITY = (
    Outcome.WRONG,
    Outcome.CRASHED,
    Outcome.ERROR,
    Outcome.OOM_DEVICE,
    Outcome.OOM_HOST,
    Outcome.OOM_COMPILE,
    Outcome.TIMEOUT,
    Outcome.UNSUPPORTED,
    NOT_RUN,
    Outcome.OK,
)


FAILED, NOTHING_MEASURED, INTERRUPTED = 3, 4, 130  # exit codes of a run


@dataclass(frozen=True, slots=True)
class Cell:
    """One question asked of one stack: the gravest outcome of its processes, and how many of them are `ok`.

    `not_run` is how many a plan still lacks.
    """

    stack: str
    outcome: str
    phase: str
    reason: str
    ok: int
    not_run: int
    total: int

    @property
    def counts(self) -> bool:
        """Whether its times may be compared: some process is `ok` and none failed the gate."""
        return self.ok > 0 and self.outcome != Outcome.WRONG

    @property
    def failed(self) -> bool:
        """Whether it was run and some process did not end `ok`."""
        return self.outcome not in (Outcome.OK, NOT_RUN)


def gravest(outcomes: Iterable[str]) -> str:
    """The outcome that stands for several processes."""
    seen = set(outcomes)
    return str(next((word for word in SEVERITY if word in seen), min(seen, default=NOT_RUN)))


def cell(stack: str, rows: Sequence[Row]) -> Cell:
    """The processes of one case as one."""
    worst = gravest(row.outcome for row in rows)
    first = next((row for row in rows if row.outcome == worst), None)
    return Cell(
        stack=stack,
        outcome=worst,
        phase=first.text("phase") if first is not None else "",
        reason=first.text("reason") if first is not None else "",
        ok=sum(row.outcome == Outcome.OK for row in rows),
        not_run=sum(row.outcome == NOT_RUN for row in rows),
        total=len(rows),
    )


def flag_counts(rows: Sequence[Row]) -> tuple[tuple[str, str], ...]:
    """Each flag with the share of processes that have it, `2/5`; empty where all of them do."""
    names = sorted({flag for row in rows for flag in row.flags})
    counts = {name: sum(name in row.flags for row in rows) for name in names}
    return tuple((name, "" if count == len(rows) else f"{count}/{len(rows)}") for name, count in counts.items())


FAILURES = (Outcome.ERROR, Outcome.CRASHED, Outcome.WRONG)  # what no stack should end as


def exit_code(rows: Iterable[Row]) -> int:
    """3 if some counting row ended `error`, `crashed` or `wrong`, 4 if nothing was measured, else 0."""
    outcomes = {row["outcome"] for row in accepted(rows)}
    if outcomes & {*FAILURES}:
        return FAILED
    return 0 if outcomes - {Outcome.UNSUPPORTED} else NOTHING_MEASURED
