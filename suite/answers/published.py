"""Times that other documents published of a set's questions, beside the set's own and the least that a chip needs."""

from __future__ import annotations

from typing import Any

import polars as pl

from suite import units
from suite.answers.answer import Answer, answer
from suite.answers.sentences import counted
from suite.results.analysis import Comparison
from suite.results.documents.figures import PublishedTime, documents
from suite.results.documents.reach import IMPOSSIBLE, dims_of, least_seconds, possible
from suite.results.frame import Frame
from suite.verdicts.grouping import grouped


@answer("Published elsewhere", grows=False, on_console=False)
def published(frame: Frame) -> Answer | None:
    """Other documents published these times for the same questions. They come from other machines, so compare only
    their order of magnitude, and check whether a time is possible at all. *Its chip needs at least* is the time of the
    step's floating-point operations, or of the bytes that it must move, at the chip's published peaks; empty if the
    document names no chip. *Measured here* is the median of this set's processes, by the clock that ends where the
    published one ended: on the host, it includes the copy to host memory."""
    asked = ("workload", "pass", "precision")
    by_step = grouped(frame.analysis.comparisons, lambda of: tuple(map(of.head.text, asked)))
    found = [
        line(comparison, time) | {"source": document.title, "url": document.url}
        for document in documents()
        for time in document.times
        for comparison in by_step.get((time.workload, time.pass_, time.precision), ())
        for dims in (comparison.head.case.dims,)
        if time.dims.items() <= dims.items() and dims == dims_of(time)  # the first is quicker
    ]
    if not found:
        return None
    table = pl.DataFrame(found, infer_schema_length=None)
    impossible = table.filter(pl.col("possible") == IMPOSSIBLE)
    ratios = [row["published_seconds"] / row["measured_seconds"] for row in found if row["measured_seconds"]]
    shown = " to ".join(dict.fromkeys(units.ratio(end(ratios)) for end in (min, max))) if ratios else ""
    ends = f"; published over measured here: {shown}" if shown else ""
    number = counted(table.height, "published time")
    return Answer(
        f"{number} of these questions; {impossible.height} can't be a whole step{ends}.",
        table,
        also=[
            f"{row['question']}: {row['stack']}'s published {units.seconds(row['published_seconds'])} on a "
            f"{row['device']} {IMPOSSIBLE} a whole step, which takes at least {units.seconds(row['least_seconds'])} "
            "there. docs/findings/published.md has the arithmetic."
            for row in impossible.iter_rows(named=True)
        ],
    )


def line(comparison: Comparison, time: PublishedTime) -> dict[str, Any]:
    figures = next((stack for stack in comparison.counting if stack.stack == time.stack), None)
    return {
        "question": comparison.name,
        "stack": time.stack,
        "published_seconds": time.seconds,
        "device": time.device,
        "ends": time.ends,
        "least_seconds": least_seconds(time),
        "possible": possible(time),
        "measured_seconds": None
        if figures is None
        else figures.fetch_seconds
        if time.ends == "host"
        else figures.steady,
    }
