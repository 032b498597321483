"""Each compiled stack beside the eager one that runs the same code."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl

from suite import units
from suite.answers.answer import Answer, answer
from suite.answers.sentences import counted, listed
from suite.case import Outcome
from suite.results.cases.break_even import Calls, pays_off
from suite.results.frame import Frame, ends
from suite.results.outcomes import outcome_text
from suite.results.ranking import catalogue_order
from suite.stacks.catalog import STACKS

TYPES = {
    **dict.fromkeys(("question", "eager", "compiled", "verdict", "ended"), pl.String),
    **dict.fromkeys(
        ("eager_median_seconds", "compiled_median_seconds", "speedup", "speedup_low", "speedup_high"), pl.Float64
    ),
    **dict.fromkeys(("eager_first_seconds", "compiled_first_seconds"), pl.Float64),
    "pays_off_after_steps": pl.Int64,
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
    table = pl.DataFrame([*lines(frame, pairs)], schema=TYPES)
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


def lines(frame: Frame, pairs: dict[str, str]) -> Iterator[dict[str, object]]:
    """Yields each pair on each question that both were asked."""
    speedups = {
        eager: frame.analysis.over(eager, [stack for stack in pairs if pairs[stack] == eager])
        for eager in set(pairs.values())
    }
    for comparison in frame.analysis.comparisons:
        cells = {cell.stack: cell for cell in comparison.cells}
        for stack, eager in pairs.items():
            if not {stack, eager} <= cells.keys():
                continue
            speedup, figures = (
                speedups[eager].get((comparison.id, stack)),
                [comparison.of(name) for name in (eager, stack)],
            )
            failed = [cells[name] for name in (stack, eager) if cells[name].outcome != Outcome.OK]
            calls = [Calls.of(each) for each in figures]
            is_faster = speedup is not None and speedup.verdict == "faster"
            yield {
                "question": comparison.name,
                "eager": eager,
                "compiled": stack,
                "eager_median_seconds": figures[0] and figures[0].median.value,
                "compiled_median_seconds": figures[1] and figures[1].median.value,
                "verdict": speedup and speedup.verdict,
                **(ends("speedup", speedup.ratio) if speedup else {}),
                "eager_first_seconds": figures[0] and figures[0].first,
                "compiled_first_seconds": figures[1] and figures[1].first,
                "pays_off_after_steps": pays_off(calls[1], calls[0]) if is_faster and calls[0] and calls[1] else None,
                "ended": outcome_text(failed[0]) if failed and speedup is None else "",
            }


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
