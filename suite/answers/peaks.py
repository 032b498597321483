"""The most memory that a timed process of each stack held, question by question."""

from __future__ import annotations

import polars as pl

from suite import units
from suite.answers.answer import Answer, answer
from suite.answers.sentences import counted, listed
from suite.results.columns import in_order
from suite.results.frame import Frame


@answer("Peak memory", terms=("peak memory",), across="stack", on_console=False)
def peaks(frame: Frame) -> Answer | None:
    """The greatest peak of a stack's timed processes, the framework and its compiler included. A timed process keeps
    freed memory unless `--allocator=system` is given; `--purpose=memory` measures peaks under the C library's own
    rules. A stack without a result that counts has its outcome beside the peak. *Ended* is the part of the peak that
    was in processes that had ended when the step's process was read, such as compilers. It is known only where the
    kernel counts a process's cgroup, and not for the process of each case that was gated."""
    rank = {stack: place for place, stack in enumerate(frame.ranked)}
    known = pl.col("counts") & pl.col("peak_bytes").is_not_null()
    table = (
        frame.stacks.filter(known.any().over("question"))
        .sort(in_order("question"), pl.col("stack").replace_strict(rank, return_dtype=pl.Int64), maintain_order=True)
        .select("question", "stack", "peak_bytes", pl.col("peak_ended_bytes").alias("ended_bytes"), "ended", "counts")
    )
    if table.is_empty():
        return None
    counting = table.filter(known)
    low, high = (extreme(counting, frame.ranked, descending=way) for way in (False, True))
    return Answer(f"The lowest peak is of {low}, the highest of {high}.{in_ended(counting)}", table.drop("counts"))


def extreme(table: pl.DataFrame, stacks: tuple[str, ...], *, descending: bool) -> str:
    """Returns `numpy on 3 of 4 questions (118 MiB to 130 MiB)`: the stacks that are lowest or highest most often."""
    first = table.sort("peak_bytes", descending=descending, maintain_order=True).group_by(
        "question", maintain_order=True
    )
    of_questions = first.first()
    times = dict(of_questions["stack"].value_counts().iter_rows())
    leaders = [stack for stack in stacks if times.get(stack) == max(times.values())]
    peaks_ = of_questions.filter(pl.col("stack").is_in(leaders))["peak_bytes"]
    ends = dict.fromkeys(map(units.quantity, (peaks_.min(), peaks_.max())))  # type: ignore[arg-type]
    each = " each" if len(leaders) > 1 else ""
    on = f"{max(times.values()):,} of {counted(of_questions.height, 'question')}"
    return f"{listed(leaders)} on {on}{each} ({' to '.join(ends)})"


def in_ended(table: pl.DataFrame) -> str:
    """Returns a sentence on the peak with most bytes in processes that had ended; empty without one."""
    found = table.filter(pl.col("ended_bytes") > 0).sort("ended_bytes", maintain_order=True)
    if found.is_empty():
        return ""
    most = found.row(-1, named=True)
    part, whole = units.quantity(most["ended_bytes"]), units.quantity(most["peak_bytes"])
    of = f"{most['stack']} on {most['question']}"
    return f" Ended processes (compilers) held at most {part}, of the {whole} of {of}."
