"""Each compiled stack beside the eager one that runs the same code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from suite import units
from suite.answers.answer import Answer, answer
from suite.answers.pairs import paired, side_by_side
from suite.answers.sentences import listed
from suite.results.cases.break_even import Calls, pays_off
from suite.results.frame import Frame
from suite.stacks.catalog import STACKS


@answer("Eager or compiled", terms=("stack", "break-even", "verdict", "undecided"), in_markdown=False, on_console=False)
def compiled(frame: Frame) -> Answer | None:
    """Each line runs the same source code in two stacks: *eager* runs it operation by operation, as it is written;
    *compiled* first turns the whole step into one program, which costs time in the first run and may save some in every
    later one. The speedup is the compiled stack's over the eager one, with the verdict that the map has over that
    stack. *Pays off after* is the number of steps from which on the compiled stack has taken no more time in
    total than the eager one, first runs included; it is given where the compiled stack is `faster`."""
    pairs = compiled_pairs(frame.stacks["stack"].unique().to_list())
    table = with_steps(frame, side_by_side(frame, pairs, "eager", "compiled"))
    return None if table.is_empty() else Answer(sentence(table), table)


def compiled_pairs(stacks: Sequence[str]) -> dict[str, str]:
    """Returns {compiled stack: the eager stack that runs the same code, by the catalogue}, if both are in `stacks`."""

    def eager(name: str) -> str | None:
        stack = STACKS.get(name.partition("@")[0].partition(":")[0])
        _, colon, implementation = name.partition(":")
        return f"{stack.eager}{colon}{implementation}" if stack and stack.eager else None

    return paired(stacks, eager)


def with_steps(frame: Frame, table: pl.DataFrame) -> pl.DataFrame:
    """Returns the table with the step from which on compiling has paid off."""
    comparisons = {comparison.name: comparison for comparison in frame.analysis.comparisons}

    def steps(line: Mapping[str, str]) -> int | None:
        if line["verdict"] != "faster":
            return None
        ours, theirs = (Calls.of(comparisons[line["question"]].of(line[side])) for side in ("compiled", "eager"))
        return pays_off(ours, theirs) if ours and theirs else None

    found = [steps(line) for line in table.iter_rows(named=True)]
    return table.with_columns(pl.Series("pays_off_after_steps", found, pl.Int64))


def sentence(table: pl.DataFrame) -> str:
    """Returns after how many steps compiling pays off, and on how many of its questions it does."""
    never, caught, partly = list[str](), list[tuple[str, str, str]](), 0
    for (stack,), group in table.group_by("compiled", maintain_order=True):
        paid = group["pays_off_after_steps"].drop_nulls().to_list()
        if not paid:
            never.append(str(stack))
            continue
        of = f" ({len(paid)} of {group.height}{'' if partly else ' questions'})" if len(paid) < group.height else ""
        partly += bool(of)
        caught.append((str(stack), between(paid), of))
    said = [f"Compiling isn't shown to pay off for {listed(never)}."] if never else []
    if len(caught) == 1:
        ((stack, steps, of),) = caught
        said.insert(0, f"First runs included, {stack} overtakes its eager stack after {steps} steps{of}.")
    elif caught:
        each = ", ".join(f"{stack} {steps}{of}" for stack, steps, of in caught)
        said.insert(0, f"First runs included, these overtake their eager stacks after these steps: {each}.")
    return " ".join(said)


def between(steps: Sequence[int]) -> str:
    """Returns `12`; for several numbers of steps the least and the greatest, `12 to 48`."""
    low, high = units.steps(min(steps)), units.steps(max(steps))
    return high if low == high else f"{low} to {high}"
