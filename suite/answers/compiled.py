"""Each compiled stack beside the eager one that runs the same code."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from suite import units
from suite.answers.answer import Answer, answer
from suite.answers.comparisons import compared
from suite.answers.sentences import counted, listed
from suite.results.cases.break_even import Calls, pays_off
from suite.results.frame import Frame, ends
from suite.results.ranking import catalogue_order
from suite.stacks.catalog import STACKS

SPEEDUPS = {
    **dict.fromkeys(("question", "compiled", "verdict"), pl.String),
    "pays_off_after_steps": pl.Int64,
    **dict.fromkeys(("speedup", "speedup_low", "speedup_high"), pl.Float64),
}


@answer("Eager or compiled", terms=("stack", "break-even", "verdict", "undecided"), in_markdown=False, on_console=False)
def compiled(frame: Frame) -> Answer | None:
    """Each line runs the same source code in two stacks: *eager* runs it operation by operation, as it is written;
    *compiled* first turns the whole step into one program, which costs time in the first run and may save some in every
    later one. The speedup is the eager stack's median divided by the compiled one's. The intervals of all stacks that
    compile the same code are simultaneous; the map's are of another group, so the same speedup may have another
    interval there. *Pays off after* is the number of steps from which on the compiled stack has taken no more time in
    total than the eager one, first runs included; it is given where the compiled stack is `faster`."""
    pairs = compiled_pairs(frame.stacks["stack"].unique().to_list())
    table = side_by_side(frame, pairs)
    return None if table.is_empty() else Answer(sentence(table), table)


def compiled_pairs(stacks: Sequence[str]) -> dict[str, str]:
    """Returns {compiled stack: the eager stack that runs the same code, by the catalogue}, if both are in `stacks`."""
    pairs = {}
    for name in sorted(stacks, key=catalogue_order):
        plain, implementation = name.partition("@")[0].partition(":")[0], name.partition(":")[2]
        stack = STACKS.get(plain)
        eager = f"{stack.eager}:{implementation}" if stack and implementation else stack and stack.eager
        if eager in stacks:
            pairs[name] = str(eager)
    return pairs


def side_by_side(frame: Frame, pairs: dict[str, str]) -> pl.DataFrame:
    """Returns each pair on each question that both were asked."""
    stacks = compared(frame).select("question", "stack", "median_seconds", "first_seconds", "ended")
    eager, compiled_ = (
        stacks.rename({name: f"{side}_{name}" for name in stacks.columns if name != "question"})
        for side in ("eager", "compiled")
    )
    ended = pl.when(pl.col("compiled_ended") != "").then("compiled_ended").otherwise("eager_ended")
    return (
        pl.DataFrame([*pairs.items()], schema=dict.fromkeys(("compiled", "eager"), pl.String), orient="row")
        .with_row_index("place")
        .join(compiled_, left_on="compiled", right_on="compiled_stack")
        .join(eager, left_on=("question", "eager"), right_on=("question", "eager_stack"))
        .join(speedups(frame, pairs), on=("question", "compiled"), how="left")
        .sort("question", "place")
        .select(
            *("question", "eager", "compiled", "verdict"),
            pl.when(pl.col("speedup").is_null()).then(ended).otherwise(pl.lit("")).alias("ended"),
            *("eager_median_seconds", "compiled_median_seconds", "speedup", "speedup_low", "speedup_high"),
            *("eager_first_seconds", "compiled_first_seconds", "pays_off_after_steps"),
        )
    )


def speedups(frame: Frame, pairs: dict[str, str]) -> pl.DataFrame:
    """Returns the speedup of each pair on each question, and the step from which on compiling has paid off. All stacks
    that compile the same code are judged as one family."""
    lines = []
    comparisons = {comparison.id: comparison for comparison in frame.analysis.comparisons}
    for eager in dict.fromkeys(pairs.values()):
        found = frame.analysis.over(eager, [stack for stack in pairs if pairs[stack] == eager])
        for (id_, stack), speedup in found.items():
            if (comparison := comparisons.get(id_)) is None:  # the reader hides it
                continue
            ours, theirs = Calls.of(comparison.of(stack)), Calls.of(comparison.of(eager))
            steps = pays_off(ours, theirs) if speedup.verdict == "faster" and ours and theirs else None
            lines.append((comparison.name, stack, speedup.verdict, steps, *ends("", speedup.ratio).values()))
    return pl.DataFrame(lines, schema=SPEEDUPS, orient="row")


def sentence(table: pl.DataFrame) -> str:
    """Returns after how many steps compiling pays off, and on how many of its questions it does."""
    never, against = [], dict[str, list[str]]()
    for (eager, stack), group in table.group_by("eager", "compiled", maintain_order=True):
        paid = group["pays_off_after_steps"].drop_nulls().to_list()
        if not paid:
            never.append(f"{stack} against {eager}")
            continue
        of = f" ({len(paid)} of {counted(group.height, 'question')})" if len(paid) < group.height else ""
        against.setdefault(str(eager), []).append(f"{stack} {between(paid)}{of}")
    if not against:
        return f"Compiling isn't shown to pay off for {listed(never)}."
    groups = "; ".join(f"over {eager} {', '.join(stacks)}" for eager, stacks in against.items())
    first, brackets, others = groups.partition(" questions)")  # said once
    groups = f"{first}{brackets}{others.replace(' questions)', ')')}"
    rest = f"; it isn't shown to pay off for {listed(never)}" if never else ""
    return f"Compiling pays off at step: {groups}{rest}."


def between(steps: Sequence[int]) -> str:
    """Returns `12`; for several numbers of steps the least and the greatest, `12 to 48`."""
    low, high = units.steps(min(steps)), units.steps(max(steps))
    return high if low == high else f"{low} to {high}"
