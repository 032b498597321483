"""Which stack fits at which size, and the parts of its peak."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from suite.answers.answer import Answer, answer, in_csv
from suite.answers.figures.bars import KINDS, bars
from suite.answers.figures.figure import Figure
from suite.answers.sentences import counted
from suite.case import Outcome, Purpose
from suite.plan.search.capacity import MemoryQuestion, memory_of
from suite.results.frame import Frame
from suite.results.outcomes import outcome_words
from suite.results.questions.memory_parts import floor_bytes, parts
from suite.units import byte_unit
from suite.verdicts.grouping import grouped
from suite.verdicts.names import slug


@answer(
    "Memory",
    terms=("peak memory", "floor", "inferred", "out of memory"),
    parts="asked",
    across="stack",
    shown=("fits", "peak_bytes", "of_limit", "times_floor", "floor_bytes", "unmeasured"),
    in_markdown=False,
    topic="which stack runs out of memory first",
    purpose=Purpose.MEMORY,
)
def memory(frame: Frame) -> Answer | None:
    """Each cell comes from a separate, untimed process that placed the model and took three steps. A peak is the most
    memory that this process held at once: anonymous memory on a CPU, allocated memory on an accelerator. The floor is
    the least that any stack must hold: parameters, the optimizer's moments and inputs, without activations. *Inferred*
    means that the case was not run, because another case that needs at most as much memory already ran out."""
    questions = memory_of(frame.analysis)
    if not questions:
        return None
    table = pl.DataFrame([each for question in questions for each in lines(question)], infer_schema_length=None)
    fitting = int((table["outcome"] == Outcome.OK).sum())
    return Answer(
        f"{fitting:,} of {counted(table.height, 'case')} fit.",
        table,
        figures=[*map(bars_at_common_size, questions)],
        on_console=all(question.tolerance is None for question in questions),
        lines=in_csv(table, Purpose.MEMORY),
    )


def lines(question: MemoryQuestion) -> Iterator[dict[str, object]]:
    limits = {stack.stack: stack.limit for stack in question.stacks}
    for row in question.rows:
        fits, peak, floor, limit = row.outcome == Outcome.OK, row.peak_bytes, floor_bytes(row), limits[row.stack_name]
        yield {
            "asked": question.name,
            "size": question.size(row),
            "stack": row.stack_name,
            "question": f"{question.name} ({question.size(row)})",
            "workload": row.text("workload"),
            "dims": [{"dim": dim, "value": value} for dim, value in row.case.dims.items()],
            "outcome": row.outcome,
            "fits": "fits" if fits else outcome_words(row.outcome, row.text("phase")),
            "peak_bytes": peak,
            "of_limit": peak / limit if fits and peak and limit else None,
            "times_floor": peak / floor if fits and peak and floor else None,
            "floor_bytes": floor,
            "phase": row["phase"],
            "provenance": row["provenance"],
            "unmeasured": "" if row["provenance"] in (None, "measured") else row["provenance"],
            "reason": row.text("reason"),
            "flags": "; ".join(row.flags),
        }


def bars_at_common_size(question: MemoryQuestion) -> Figure | None:
    """Returns the bars of the peaks by their parts, at the size at which most stacks fit; of several such sizes, at the
    largest."""
    fitting = grouped((row for row in question.rows if row.outcome == Outcome.OK), question.size)
    if not fitting:
        return None
    size = max(fitting, key=lambda size: (len(fitting[size]), [*fitting].index(size)))
    peaks = [(row.stack_name, split) for row in fitting[size] if (split := parts(row))]
    title = f"Peak of memory by its parts, {question.name}, {size}"
    floor = floor_bytes(fitting[size][0])
    return bars(f"memory-{slug(question.name)}-parts", title, peaks, KINDS, byte_unit, floor, question.limit)
