"""The tensors that a step holds at its peak, as explain processes recorded them."""

from __future__ import annotations

import json

import polars as pl

from suite import units
from suite.answers.answer import Answer, answer
from suite.answers.sentences import listed
from suite.case import Outcome, Purpose
from suite.results.columns import in_order
from suite.results.frame import Frame

LEAST = 1e-3  # of all; a smaller category isn't shown


@answer(
    "What holds it",
    heading="What holds the memory",
    terms=("holder", "peak memory"),
    parts="question",
    in_markdown=False,
    on_console=False,
)
def holders(frame: Frame) -> Answer | None:
    """The table lists the tensors that a step holds at its memory peak, recorded in an untimed process. A profiler
    reports what it observed, a compiler what it planned. The process also needs memory for the framework itself, its
    code and gaps between allocations. Each source has its own categories, so figures of two sources can't be
    subtracted."""
    is_explained = (pl.col("purpose") == Purpose.EXPLAIN) & (pl.col("outcome") == Outcome.OK)
    explained = frame.processes.filter(is_explained).sort(in_order("question"), in_order("stack"))
    recorded = [
        (line["question"], line["stack"], json.loads(line["holders"] or "{}"))
        for line in explained.iter_rows(named=True)
    ]
    known = {question for question, _, held in recorded if held}
    if not known:
        return None
    table = pl.DataFrame([held_by(*of) for of in recorded if of[0] in known], infer_schema_length=None)
    if table["held_bytes"].sum() == 0:
        return Answer("No stack keeps a record of what it holds.", table)
    held = pl.col("held_bytes")
    most = table.filter(held == held.max()).rows(named=True)
    size = units.quantity(most[0]["held_bytes"])
    if len(most) > 1:
        cases = [f"{each['stack']} on {each['question']}" for each in most]
        return Answer(f"{listed(cases)} hold most: {size}.", table)
    [first] = most
    largest = max(first["categories"] or [], key=lambda each: each["bytes"], default=None)
    of_which = f", of which {units.quantity(largest['bytes'])} {largest['category']}" if largest else ""
    return Answer(f"{first['stack']} holds most on {first['question']}: {size}{of_which}.", table)


def held_by(question: str, stack: str, held: dict[str, object]) -> dict[str, object]:
    categories: dict[str, float] = dict(held.get("categories") or {})  # type: ignore[call-overload]
    total = sum(categories.values())
    return {
        "question": question,
        "stack": stack,
        "recorded_by": held.get("told_by") or "no source: the stack keeps no record",
        "held_bytes": total if held else None,
        "categories": [
            {"category": name, "bytes": float(size)} for name, size in categories.items() if size >= LEAST * total
        ],
        "largest": [
            {"tensor": each["name"], "category": each["category"], "bytes": float(each["bytes"])}
            for each in held.get("largest") or ()  # type: ignore[attr-defined]
        ],
    }
