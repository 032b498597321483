"""Each stack's total time over steps, and where it crosses the baseline's."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import polars as pl

from suite import units
from suite.answers.answer import Answer, answer
from suite.answers.figures.figure import POINTS, Figure
from suite.answers.figures.lines import times_over
from suite.answers.sentences import counted, not_shown
from suite.results.cases.break_even import Calls, crossing, is_long, least, steps_shown
from suite.results.frame import Frame
from suite.verdicts.names import slug

TOTALS = (1, 10, 100, 1_000, 10_000)  # steps whose total time has a column
SORTED_BY = 100  # the steps of the column that the table is sorted by


@answer(
    "Break-even",
    heading="Total time over steps",
    terms=("total time", "break-even", "baseline", "undecided"),
    parts="question",
    over_baselines=True,
    on_console=False,
)
def break_even(frame: Frame) -> Answer | None:
    """The total time shows what compiling costs: it is the sum of the first call, the second call, and the steady
    average for each later call, so after N steps first + second + (N − 2) × average. Starting a process, imports and
    placing weights aren't in it. The least total after 100 steps is first. A crossing is shown only if the stack's
    steady times are `faster` or `slower` than the baseline's and the averages agree with that verdict; otherwise nobody
    knows which line is lower in the end."""
    lines, charts, said = [], {}, {}
    for comparison in frame.analysis.comparisons:
        known = {each.stack: calls for each in comparison.timed if (calls := Calls.of(each))}
        if len(known) < 2:
            continue
        baseline = comparison.of(comparison.baseline)
        for stack, calls in sorted(known.items(), key=lambda item: (item[1].total(SORTED_BY), item[0])):
            figures = comparison.of(stack)
            assert figures is not None
            found = None if figures.is_baseline else crossing(figures, baseline)
            lines.append(
                {
                    "question": comparison.name,
                    "stack": stack,
                    **{f"total_{steps}_seconds": calls.total(steps) for steps in TOTALS},
                    "course": "baseline" if figures.is_baseline else found.course if found else "no block pairs them",
                    "step": found and found.steps,
                    "why": found and found.reason,
                }
            )
        charts[comparison.name] = totals(comparison.name, [*known.values()])
        said[comparison.name] = leaders_words(least(known.values())), first_run(known)
    if not lines:
        return None
    table = pl.DataFrame(lines, infer_schema_length=None)
    told = [f"The least total time on {name} is of {words}.{first}" for name, (words, first) in said.items()]
    (name, (words, first)), *more = said.items()
    rest = f" ({counted(len(more), 'more comparison')} below)" if more else ""
    asked = frame.stacks.filter(pl.col("question").is_in([*said]))
    return Answer(
        f"The least total time on {name}, the first call included, is of {words}{rest}.{first}",
        table,
        charts=charts,
        also=[*told, *not_shown(asked, table)],
    )


def leaders_words(stretches: list[tuple[int, str]]) -> str:
    """Returns `torch_eager up to step 11, then tf_xla up to step 40, then jax_jit`. The last stretch begins at the
    next step, which may have the same number once both are rounded."""
    if len(stretches) == 1:
        return f"{stretches[0][1]} from the first step on"
    words = [f"{stack} up to step {units.steps(after - 1)}" for (_, stack), (after, _) in pairwise(stretches)]
    return ", then ".join([*words, stretches[-1][1]])


def first_run(known: dict[str, Calls]) -> str:
    """Returns how long the first run takes of the stack that has the least total time in the end; empty if that is
    short."""
    last = known[least(known.values())[-1][1]]
    return f" The first run of {last.stack} takes {units.seconds(last.first)}." if is_long(last) else ""


def totals(name: str, stacks: Sequence[Calls]) -> Figure:
    points = [
        (calls.stack, steps, total, f"{calls.stack}, {counted(steps, 'step')}: {units.seconds(total)}")
        for calls in stacks
        for steps in steps_shown(TOTALS[-1])
        for total in [calls.total(steps)]
    ]
    return times_over(
        f"totals-{slug(name)}-chart",
        f"Total time on {name}",
        "steps",
        pl.DataFrame(points, schema=POINTS, orient="row").with_columns(
            pl.when(pl.col("x").cast(int).is_in(TOTALS)).then("title")
        ),
        measured=False,
    )
