"""First, second and average steady call: the three figures of the study from which this suite grew."""

from __future__ import annotations

from suite import units
from suite.answers.answer import Answer, answer
from suite.answers.sentences import counted
from suite.results.frame import Frame


@answer("Latency", terms=("first run", "second run", "average", "steady state"), parts="question", on_console=False)
def latency(frame: Frame) -> Answer | None:
    """The *first* call in a fresh process, compilation included; the *second*, in which some stacks compile again; and
    the *average* of the steady calls after them. A case that didn't end well says how it ended, and in which call."""
    table = frame.stacks.select("question", "stack", "first_seconds", "second_seconds", "average_seconds", "ended")
    if table.is_empty():
        return None
    known = table.drop_nulls("first_seconds")
    if known.is_empty():
        return Answer("No case has a time.", table)
    slowest = known.sort("first_seconds").row(-1, named=True)
    without = table["average_seconds"].null_count()
    rest = f"; {counted(without, 'case')} without a steady time" if without else ""
    took = units.seconds(slowest["first_seconds"])
    return Answer(f"The longest first call took {took} ({slowest['stack']} on {slowest['question']}){rest}.", table)
