"""The largest value of a dim that fits on an accelerator, where several values were predicted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from dataclasses import replace

import polars as pl

from suite.answers.answer import Answer, answer
from suite.answers.predicted import FITS, NEITHER, Predicted, predicted_cases
from suite.answers.sentences import listed
from suite.case import CUSTOM, GROWING, dims_text
from suite.plan.search.bracket import Bracket, none_larger
from suite.results.frame import Frame
from suite.results.questions.grouping import grouped


@answer(
    "Predicted limits",
    heading="The largest that is predicted to fit",
    terms=("predicted",),
    parts="chip",
    shown=("question", "stack", "vary", "largest_size", "failed_size", "why_none", "needed_bytes", "compiled_sizes"),
)
def searches(frame: Frame) -> Answer | None:
    """Each line is a search for the largest value of a dim that fits and the smallest that doesn't."""
    vary = frame.analysis.vary
    lines = [*searched(predicted_cases(frame.analysis.counted), GROWING | {vary} if vary else GROWING)]
    if not lines:
        return None
    told = [
        f"{line['vary']} {line['largest_size']:,} for {line['stack']} on {line['device']}"
        for line in lines
        if isinstance(line["largest_size"], int)
    ]
    return Answer(
        f"Largest that fits: {listed(told)}." if told else "No size that was tried fits.",
        pl.DataFrame(lines, infer_schema_length=None),
    )


def searched(cases: Iterable[Predicted], grows: Set[str]) -> Iterator[dict[str, object]]:
    """Yields a search for each case that was predicted at several values of one growing dim, and of no other dim."""

    def series(case: Predicted) -> tuple[str, str]:
        rest = {name: value for name, value in case.row.case.dims.items() if name not in grows}
        return replace(case.row.case, size=CUSTOM, dims={}).case_id, dims_text(rest)

    for sizes in grouped(cases, series).values():
        dims = [case.row.case.dims for case in sizes]
        varied = [name for name in dims[0] if name in grows and len({of.get(name) for of in dims}) > 1]
        if len(varied) == 1:
            yield line({case.row.case.dims[varied[0]]: case for case in sizes}, varied[0])


def line(by_size: dict[int, Predicted], axis: str) -> dict[str, object]:
    """Returns the search of one stack on one question."""
    bracket = Bracket.of({size: case.verdict == FITS for size, case in by_size.items() if case.verdict != NEITHER})
    largest, first = by_size.get(bracket.low), next(iter(by_size.values()))
    ended = min(
        (size for size, case in by_size.items() if case.verdict == NEITHER and size > bracket.low), default=None
    )
    if ended is not None:
        why = f"{ended:,}: {by_size[ended].ended}"
    else:
        why = none_larger(largest.row.case, axis) if largest else "none tried"
    return {
        "chip": first.chip,
        "device": first.row.text("device"),
        "question": " ".join(map(first.row.text, ("workload", "pass", "precision"))),
        "stack": first.row.stack_name,
        "vary": axis,
        "largest_size": bracket.low or None,
        "failed_size": bracket.high,
        "why_none": why if bracket.high is None else "",
        "needed_bytes": largest.needed_bytes if largest else None,
        "compiler": largest.prediction.compiler if largest and largest.prediction else "",
        "compiled_sizes": len(by_size),
    }
