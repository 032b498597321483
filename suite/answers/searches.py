"""The largest value of a dim that fits on an accelerator, where several values were predicted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from dataclasses import replace

import polars as pl

from suite.answers.answer import Answer, answer
from suite.answers.predicted import FITS, NEITHER, Case, predicted_cases
from suite.answers.sentences import listed
from suite.case import CUSTOM, GROWING, dims_text
from suite.plan.search.bracket import Bracket, none_larger
from suite.results.frame import Frame
from suite.verdicts.grouping import grouped


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
    table = pl.DataFrame(lines, infer_schema_length=None)
    told = [
        f"{line['vary']} {line['largest_size']:,} for {line['stack']} on {line['device']}"
        for line in table.drop_nulls("largest_size").iter_rows(named=True)
    ]
    return Answer(f"Largest that fits: {listed(told)}." if told else "No size that was tried fits.", table)


def searched(cases: Iterable[Case], grows: Set[str]) -> Iterator[dict[str, object]]:
    """Yields a search for each case that was predicted at several values of one growing dim, and of no other dim."""

    def series(case: Case) -> tuple[str, str]:
        asked = case[0].case
        rest = {name: value for name, value in asked.dims.items() if name not in grows}
        return replace(asked, size=CUSTOM, dims={}).case_id, dims_text(rest)

    for sizes in grouped(cases, series).values():
        dims = [row.case.dims for row, _ in sizes]
        varied = [name for name in dims[0] if name in grows and len({of.get(name) for of in dims}) > 1]
        if len(varied) == 1:
            yield search({row.case.dims[varied[0]]: (row, line) for row, line in sizes}, varied[0])


def search(by_size: dict[int, Case], axis: str) -> dict[str, object]:
    verdicts = {size: line["prediction"] for size, (_, line) in by_size.items()}
    bracket = Bracket.of({size: verdict == FITS for size, verdict in verdicts.items() if verdict != NEITHER})
    ended = min((size for size in by_size if verdicts[size] == NEITHER and size > bracket.low), default=None)
    first, told = next(iter(by_size.values()))
    largest, of_largest = by_size.get(bracket.low, (None, {}))
    if ended is not None:
        why = f"{ended:,}: {by_size[ended][1]['ended']}"
    else:
        why = none_larger(largest.case, axis) if largest else "none tried"
    return {
        "chip": told["chip"],
        "device": told["device"],
        "question": " ".join(map(first.text, ("workload", "pass", "precision"))),
        "stack": told["stack"],
        "vary": axis,
        "largest_size": bracket.low or None,
        "failed_size": bracket.high,
        "why_none": why if bracket.high is None else "",
        "needed_bytes": of_largest.get("needed_bytes"),
        "compiler": of_largest.get("compiler") or "",
        "compiled_sizes": len(by_size),
    }
