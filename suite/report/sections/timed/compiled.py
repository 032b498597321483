"""The section "Eager or compiled": each compiled stack beside the eager one that runs the same code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from suite import units
from suite.report.sections.labels import compared_stacks, comparison_anchor
from suite.report.sections.section import Context, Section
from suite.report.sections.sentences import counted, listed
from suite.report.sections.timed.units import Units, column_units
from suite.results.analysis import Comparison
from suite.results.cases.break_even import Calls, pays_off
from suite.results.speedup.verdicts import Speedup
from suite.results.stack_figures import StackFigures
from suite.stacks.catalog import STACKS


@dataclass(frozen=True, slots=True)
class CompiledRow:
    """One dialect on one question, run eagerly and compiled. `eager` and `compiled` are None for a stack without times.
    `steps` is the step from which on compiling has paid off, None where the compiled stack isn't shown to be faster."""

    comparison: str
    anchor: str
    eager_stack: str
    compiled_stack: str
    eager: StackFigures | None
    compiled: StackFigures | None
    speedup: Speedup | None
    outcome: str
    steps: int | None
    units: Units


@dataclass(frozen=True, slots=True)
class CompiledSection(Section):
    """All pairs that were planned, comparison by comparison."""

    rows: tuple[CompiledRow, ...]

    name = "compiled"
    nav = "Eager or compiled"
    terms = ("stack", "break-even", "verdict", "undecided")

    @classmethod
    def of(cls, context: Context) -> CompiledSection | None:
        """Returns the section; None without a pair. The pairs of one eager stack are judged as a family."""
        analysis = context.analysis
        pairs = compiled_pairs(compared_stacks(analysis))
        speedups = {
            eager: analysis.over(eager, [compiled for compiled in pairs if pairs[compiled] == eager])
            for eager in set(pairs.values())
        }
        rows = tuple(
            compiled_row(comparison, eager, compiled, speedups[eager].get((comparison.id, compiled)), column)
            for comparison in analysis.comparisons
            for column in (column_units(comparison),)
            for compiled, eager in pairs.items()
            if {compiled, eager} <= {cell.stack for cell in comparison.cells}
        )
        return cls(rows) if rows else None

    @property
    def answer(self) -> str:
        """Returns after how many steps compiling pays off, each compiled stack against the eager one of its code, and
        on how many of its questions it does."""
        asked: dict[tuple[str, str], list[int | None]] = {}
        for row in self.rows:
            asked.setdefault((row.eager_stack, row.compiled_stack), []).append(row.steps)
        never = [f"{compiled} against {eager}" for (eager, compiled), steps in asked.items() if set(steps) == {None}]
        against: dict[str, list[str]] = {}
        for (eager, compiled), steps in asked.items():
            if paid := [step for step in steps if step is not None]:
                of = f" ({len(paid)} of {counted(len(steps), 'question')})" if len(paid) < len(steps) else ""
                against.setdefault(eager, []).append(f"{compiled} {between(paid)}{of}")
        if not against:
            return f"Compiling isn't shown to pay off for {listed(never)}."
        groups = "; ".join(f"over {eager} {', '.join(stacks)}" for eager, stacks in against.items())
        first, brackets, others = groups.partition(" questions)")  # said once
        rest = f"; it isn't shown to pay off for {listed(never)}" if never else ""
        return f"Compiling pays off at step: {first}{brackets}{others.replace(' questions)', ')')}{rest}."


def compiled_pairs(stacks: Sequence[str]) -> dict[str, str]:
    """Returns {compiled stack: the eager stack that runs the same code, by the catalogue}, if both are in `stacks`."""
    pairs = {}
    for name in stacks:
        plain, implementation = name.partition("@")[0].partition(":")[0], name.partition(":")[2]
        stack = STACKS.get(plain)
        eager = f"{stack.eager}:{implementation}" if stack and implementation else stack and stack.eager
        if eager in stacks:
            pairs[name] = str(eager)
    return pairs


def compiled_row(
    comparison: Comparison, eager_stack: str, compiled_stack: str, speedup: Speedup | None, column: Units
) -> CompiledRow:
    """Returns one pair on one question. Its outcome is that of the compiled stack if this isn't `ok`, else that of the
    eager stack."""
    outcomes = {cell.stack: cell.outcome for cell in comparison.cells}
    eager, compiled = comparison.of(eager_stack), comparison.of(compiled_stack)
    return CompiledRow(
        comparison=comparison.name,
        anchor=comparison_anchor(comparison),
        eager_stack=eager_stack,
        compiled_stack=compiled_stack,
        eager=eager,
        compiled=compiled,
        speedup=speedup,
        outcome=next((outcomes[name] for name in (compiled_stack, eager_stack) if outcomes[name] != "ok"), "ok"),
        steps=paid_off(eager, compiled) if speedup and speedup.verdict == "faster" else None,
        units=column,
    )


def paid_off(eager: StackFigures | None, compiled: StackFigures | None) -> int | None:
    """Returns the step from which on the compiled stack's total time is at most the eager stack's; None if that never
    happens, or a time is unknown."""
    ours, theirs = Calls.of(compiled), Calls.of(eager)
    return pays_off(ours, theirs) if ours and theirs else None


def between(steps: Sequence[int]) -> str:
    """Returns `12`; for several numbers of steps the least and the greatest, `12 to 48`."""
    low, high = units.steps(min(steps)), units.steps(max(steps))
    return high if low == high else f"{low} to {high}"
