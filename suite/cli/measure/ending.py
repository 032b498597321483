"""Explains a run's exit code in a few lines, printed after the results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from suite.report.sections.whole_set.outcomes import Ending, failures, shortened
from suite.results.outcomes import FAILED, FAILURES, NOTHING_MEASURED
from suite.sets.rows import Row, accepted

MOST = 5  # failed cases that are printed; the others are only counted


def explained(code: int, rows: Sequence[Row], folder: Path, page: Path) -> list[str]:
    """Returns the lines that explain an exit code. None are needed for a code other than `FAILED` (some process ended
    as an error, a crash or a wrong result) and `NOTHING_MEASURED`. `rows` are all rows of the set in `folder`."""
    if code == NOTHING_MEASURED:
        return ["Nothing was measured: no case of this run can run here. The page has each case's reason."]
    if code != FAILED:
        return []
    counted = accepted(rows)
    failed = [failure for failure in failures(counted, {}) if failure.outcome in FAILURES]
    counts = Counter({word: sum(row.processes for row in failed if row.outcome == word) for word in FAILURES})
    words = ", ".join(f"{count} ended as {word}" for word, count in (+counts).items())
    rest = [f"  and {len(failed) - MOST} more: {page}#outcomes"] if len(failed) > MOST else []
    return [
        f"Exit code {code}: of {len(counted)} rows {words}.",
        *(line for failure in failed[:MOST] for line in lines_of(failure, folder)),
        *rest,
    ]


def lines_of(failure: Ending, folder: Path) -> list[str]:
    often = f" ({failure.processes} processes)" if failure.processes > 1 else ""
    reason = shortened(failure.reason) or "no reason was recorded"
    line = f"  {failure.stack}, {failure.comparison}{often}: {failure.ending}: {reason}"
    return [line, f"    log: {folder / failure.log}"] if failure.log else [line]
