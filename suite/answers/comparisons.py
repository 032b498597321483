"""Each question with its stacks: times, speedups, verdicts, clocks and memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import polars as pl

from suite import units
from suite.answers.answer import Answer, answer
from suite.answers.figures.figure import Figure
from suite.answers.figures.ratios import dots
from suite.answers.sentences import capital, counted, listed
from suite.answers.show import Part, only, part
from suite.results.analysis import Comparison
from suite.results.columns import shown_in
from suite.results.frame import Frame
from suite.stats import MODES_SPREAD
from suite.verdicts.verdicts import ALONE

TERMS = (
    *("first run", "second run", "steady state", "average", "median", "interval", "p5, p95", "outlier", "speedup"),
    *("verdict", "lead", "tie", "close", "undecided", "noise floor", "A/A twin", "two modes", "dispatch", "synced"),
    *("pipelined", "fetch", "throughput", "efficiency", "compile time", "compilations", "graph break", "cores had"),
    *("page faults", "peak memory", "floor", "relative error", "kernels", "default path", "no steady state"),
    *("disturbed", "noisy", "recompiled", "fallback ops"),
)


@answer("Comparisons", terms=TERMS, parts="question", topic="which stack is fastest", over_baselines=True)
def comparisons(frame: Frame) -> Answer | None:
    """The fastest stack, by its median, is first. Brackets hold {confidence} intervals: a median's interval comes from
    the spread of its processes, a speedup's from the spread of its blocks."""
    table = compared(frame)
    if table.is_empty():
        return None
    first = Counter(table.filter("counts").group_by("question", maintain_order=True).first()["stack"])
    of = counted(table["question"].n_unique(), "question")
    stacks = listed([f"{stack} on {number:,}" for stack, number in first.most_common()])
    lowest = f"Of {of}, the lowest median of a step is that of {stacks}."
    return Answer(lowest if first else "No stack has a time that counts.", table)


def compared(frame: Frame) -> pl.DataFrame:
    """Returns every planned stack of every question, with words for its verdict. A stack without a steady time has no
    time at all."""
    words = [judged(line) for line in frame.stacks.iter_rows(named=True)]
    is_timed = pl.col("median_seconds").is_not_null()
    return frame.stacks.with_columns(
        *(pl.when(is_timed).then(pl.col(name)) for name in ("first_seconds", "second_seconds")),
        pl.Series("judged", [word for word, _ in words], pl.String),
        pl.Series("judged_note", [note for _, note in words], pl.String),
        synced_median_seconds=pl.col("median_seconds"),
        items_per_second_item=pl.col("item"),
    )


def judged(line: Mapping[str, Any]) -> tuple[str, str]:
    """Returns the verdict, or `baseline`, with what else to know; for a stack without a time that counts, how it
    ended."""
    if not line["counts"]:
        return line["ended"], ""
    is_alone = line["verdict"] in ("faster", "slower") and line["verdict"] != line["verdict_in_set"]
    modes = "two modes" if line["two_modes"] and "two modes" not in (line["why"] or "") else ""
    asides = (line["ended"], line["why"], modes, apart(line), ALONE if is_alone else "")
    word = "baseline" if line["stack"] == line["baseline"] else line["verdict"] or units.UNKNOWN
    return word, ", ".join(filter(None, asides))


def apart(line: Mapping[str, Any]) -> str:
    """Returns that the times shown say something else than the ratio does, and why; empty if they don't. Medians are of
    whole processes, a ratio is of what ran within seconds of each other. Averages count slow steps in full, medians
    don't, however slow these are."""
    names = ("median_speedup", "average_speedup", "speedup_low", "speedup_high")
    by_medians, by_averages, low, high = (line[name] for name in names)
    if by_medians is None or low is None:
        return ""
    bursts = f"{line['slow_turns']} of {line['turns']} turns over {MODES_SPREAD} times their median"
    if not low <= by_medians <= high:
        others = bursts if line["slow_turns"] else "processes of other blocks"
        return f"the medians give {units.ratio(by_medians)} ({'processes in modes' if line['two_modes'] else others})"
    if (line["verdict"], by_averages < 1) in (("faster", True), ("slower", False)):
        return f"the averages give {units.ratio(by_averages)}{f' ({bursts})' if line['slow_turns'] else ''}"
    return ""


def speedups(comparison: Comparison, lines: pl.DataFrame, name: str, tie: float) -> Figure:
    """Returns the figure of a comparison's times and speedups by its lines in the table, a row for each planned
    stack."""
    unit = units.time_unit(lines["median_seconds"])
    told = pl.when(judged="baseline").then("judged").when(pl.col("counts")).then("verdict")
    return dots(name, comparison.name, lines.with_columns(verdict=told), tie, unit, comparison.baseline)


def short(table: pl.DataFrame) -> Part:
    """Returns one question's stacks as the console shows them, each time with its unit, medians without intervals."""
    return part("", only(table, shown_in("console")).drop("median_seconds_low", "median_seconds_high"), whole=True)


def equal_words(table: pl.DataFrame) -> str:
    """Returns how far right results may differ, and their types if stacks have different ones; empty if unknown."""
    limits = sorted(set(table["tolerance"].drop_nulls()))
    named: dict[str, dict[str, None]] = {}
    for stack, kinds in table.select("stack", "result_types").iter_rows():
        if kinds:
            named.setdefault(kinds, {})[stack] = None
    said = [f"right results are within a relative error of {', '.join(map(units.magnitude, limits))}"] if limits else []
    timed = table.filter(pl.col("median_seconds").is_not_null())
    if limits and any(error > limits[-1] for error in timed["relative_error"].drop_nulls()):
        said.append("a model's gradients may be further off (docs/why/gate.md)")
    if len(named) > 1:
        said.append(
            f"results are {', '.join(f'{kind} on {listed([*names])}' for kind, names in sorted(named.items()))}"
        )
    return f"{capital('; '.join(said))}." if said else ""
