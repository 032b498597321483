"""Where the time of a step goes, by categories, and what the profiler itself costs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
import polars as pl

from suite import units
from suite.answers.answer import Answer, answer
from suite.answers.figures.bars import bars
from suite.answers.figures.figure import Figure
from suite.answers.sentences import first_question
from suite.case import Outcome, Purpose
from suite.ir.timeline import Category, Profile
from suite.order import natural
from suite.results.columns import in_order
from suite.results.frame import Frame
from suite.verdicts.names import slug

ENOUGH = 0.9  # share of a step that must be attributed to operations; below it the page says how much is missing
KINDS = {f"k{number}": name for number, name in enumerate(Category)}


@answer(
    "Time",
    heading="Where the time goes",
    terms=("profiler", "kernels"),
    parts="question",
    topic="where the time goes",
    purpose=Purpose.PROFILE,
)
def profiles(frame: Frame) -> Answer | None:
    """Each framework's own profiler recorded a few steps, in processes whose times aren't compared. The table has the
    time of a step without the profiler and with it. Fused operations have one category, the first that applies: matrix
    product, in-place optimizer update, norm, elementwise. A norm's backward pass may count as elementwise. Time in
    which several operations run at once is divided among them; *host overhead* is time in which no operation ran."""
    profiled = frame.processes.filter(pl.col("purpose") == Purpose.PROFILE)
    if profiled.is_empty():
        return None
    lines = [line(each, frame.kernels) for each in profiled.iter_rows(named=True) if each["profile"]]
    lines.sort(key=lambda of: (natural(of["question"]), of["step_seconds"]))
    asked = {
        name: [of for of in lines if of["question"] == name]
        for name in sorted(profiled["question"].unique(), key=natural)
    }
    said = {question: sentence for question, of in asked.items() if (sentence := of_question(of))}
    without = profiled.filter(pl.col("outcome") != Outcome.OK).sort(in_order("question"), in_order("stack"))
    return Answer(
        first_question(said) or "No stack's profile is known.",
        pl.DataFrame(lines, infer_schema_length=None),
        figures=[bars_of(question, asked[question]) for question in said],
        also=[
            f"{each['stack']} on {each['question']}: {each['reason'] or each['outcome']}"
            for each in without.iter_rows(named=True)
        ],
        by_question=said,
    )


def of_question(lines: list[dict[str, Any]]) -> str:
    """Returns a sentence on the category that takes the largest part of each stack's step; empty without a profile."""
    largest = [(of["categories"][0]["share"], of["categories"][0]["category"], of["stack"]) for of in lines]
    lead = "Most" if all(share > 0.5 for share, _, _ in largest) else "The largest part"
    if len(largest) > 1 and len({category for _, category, _ in largest}) == 1:
        (least, category, low), (greatest, _, high) = min(largest), max(largest)
        ends = f"{units.percent(least)} ({low}) to {units.percent(greatest)} ({high})"
        return f"{lead} of a step, on every stack: {category}, {ends}."
    parts = ", ".join(f"{stack} {units.percent(share)} {category}" for share, category, stack in largest)
    return f"{lead} of a step: {parts}." if parts else ""


def line(process: Mapping[str, Any], kernels: Mapping[tuple[str, str], str]) -> dict[str, Any]:
    profile = msgspec.json.decode(process["profile"], type=Profile)
    order = sorted(profile.categories.items(), key=lambda item: -item[1])
    is_known = profile.attributed >= ENOUGH
    return {
        "question": process["question"],
        "stack": process["stack"],
        "step_seconds": profile.plain_seconds,
        "profiled_seconds": profile.seconds,
        "cost": profile.seconds / profile.plain_seconds - 1,
        "categories": [{"category": name, "share": seconds / profile.seconds} for name, seconds in order],
        "unknown_seconds": None if is_known else profile.categories.get(Category.UNATTRIBUTED, 0.0),
        "kernels": kernels.get((process["question"], process["stack"]), ""),
        "longest": [
            {"operation": name, "category": category, "seconds": seconds} for category, name, seconds in profile.largest
        ],
        "recorded_by": profile.told_by,
    }


def bars_of(question: str, lines: list[dict[str, Any]]) -> Figure | None:
    """Returns the bars of one question: a step of each stack by category, in the order of the categories."""
    split = []
    for of in lines:
        taken = {each["category"]: each["share"] * of["profiled_seconds"] for each in of["categories"]}
        split.append((of["stack"], tuple((key, taken[name]) for key, name in KINDS.items() if name in taken)))
    title = f"Time of a profiled step of {question}, by category"
    return bars(f"profiles-{slug(question)}-bars", title, split, KINDS, units.time_unit)
