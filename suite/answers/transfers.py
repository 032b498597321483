"""Each stack's step by four clocks, the last of which ends in host memory."""

from __future__ import annotations

import polars as pl

from suite import units
from suite.answers.answer import Answer, answer
from suite.answers.sentences import capital, counted, not_shown
from suite.results.frame import Frame
from suite.results.ratios import ends
from suite.stats import mean_of
from suite.verdicts.ratios import freedom


@answer("Device or host", terms=("dispatch", "synced", "pipelined", "fetch"), in_markdown=False, on_console=False)
def transfers(frame: Frame) -> Answer | None:
    """*Dispatch* is when the call returns, *synced* when the result is ready on the device, *fetch* when it lies in
    host memory. A benchmark that reads different clocks for different stacks compares nothing. The last columns compare
    clocks within each process: share and gain are medians over processes, the copy (fetch minus synced) is their mean.
    The intervals of all copies hold together; one that reaches zero isn't shown to take time."""
    if frame.stacks.is_empty():
        return None
    timed = frame.stacks.filter("counts")
    table = timed.select(
        "question",
        "stack",
        "dispatch_seconds",
        pl.col("median_seconds").alias("synced_median_seconds"),
        "pipelined_seconds",
        "fetch_seconds",
        "early",
        "gain",
    ).hstack(copies(timed["copies"].to_list(), frame))
    return Answer(sentence(table), table, also=not_shown(frame.stacks, table))


def copies(seconds: list[list[float] | None], frame: Frame) -> pl.DataFrame:
    """Returns what the copy to host memory adds to a step, by the processes of each case, with Bonferroni's
    intervals."""
    copied = sum(len(of_case or ()) > 1 for of_case in seconds)
    level = 1 - (1 - frame.protocol.confidence) / max(1, copied)
    blank = dict.fromkeys(("copy_seconds", "copy_seconds_low", "copy_seconds_high"))
    lines = [
        ends("copy_seconds", mean_of(of_case, freedom(len(of_case), frame.protocol), level)) if of_case else blank
        for of_case in seconds
    ]
    return pl.DataFrame(lines, schema=dict.fromkeys(blank, pl.Float64))


def sentence(table: pl.DataFrame) -> str:
    """Returns whose call leaves most to compute when it returns, and which copies are shown to add time."""
    said = []
    if not (early := table.filter(pl.col("early") > 0).sort("early")).is_empty():
        most = early.row(-1, named=True)
        share = units.percent(most["early"])
        said.append(f"timing the call alone would miss up to {share} of a step ({most['stack']} on {most['question']})")
    if not (copied := table.drop_nulls("copy_seconds")).is_empty():
        said.append(of_copies(copied.drop_nulls("copy_seconds_low")))
    return " ".join(f"{capital(each)}." for each in said) or "No stack has times by other clocks than synced."


def of_copies(table: pl.DataFrame) -> str:
    """Returns how many copies are shown to add time, and the longest of these."""
    if table.is_empty():
        return "what the copy of a result to host memory adds has no interval, which takes two processes of a stack"
    shown = table.filter(pl.col("copy_seconds_low") > 0)
    if shown.is_empty():
        return "no copy of a result to host memory is shown to add time: no difference is above its noise"
    longest = shown.sort("copy_seconds").row(-1, named=True)
    most = f"{units.seconds(longest['copy_seconds'])} ({longest['stack']} on {longest['question']})"
    return (
        f"copying the result to host memory adds time in {shown.height} of {counted(table.height, 'case')}, "
        f"at most {most}"
    )
