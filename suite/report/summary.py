"""Tables across comparisons: geometric means, eager against compiled, device against host."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from suite.report.ratios import Estimate, Ratios, Speedup
from suite.report.tables import Comparison, StackRow
from suite.stacks.catalog import STACKS


@dataclass(frozen=True, slots=True)
class SummaryRow:
    """A stack's speedups over the baseline in one line; `ok` of `planned` comparisons have a ratio."""

    stack: str
    is_baseline: bool
    mean: Estimate
    ok: int
    planned: int
    least: float | None
    least_name: str
    greatest: float | None
    greatest_name: str


@dataclass(frozen=True, slots=True)
class PairRow:
    """One dialect run eagerly and compiled. `steps`: after how many of them compiling has paid off."""

    comparison: str
    anchor: str
    eager: str
    compiled: str
    eager_seconds: float | None
    compiled_seconds: float | None
    eager_first: float | None
    compiled_first: float | None
    speedup: Speedup | None
    outcome: str
    steps: float | None


@dataclass(frozen=True, slots=True)
class TransferRow:
    """One stack by its clocks, in seconds. `early`: share of a synced step that was still to be computed when
    the call returned; `gain`: synced over pipelined; `copy_seconds`: fetch less synced.
    """

    comparison: str
    anchor: str
    stack: str
    dispatch: float | None
    synced: float | None
    pipelined: float | None
    fetch: float | None
    early: float | None
    gain: float | None
    copy_seconds: float | None


def compiled_pairs(stacks: Sequence[str]) -> dict[str, str]:
    """{compiled stack: the eager stack that runs the same code}, of those at hand, by the catalogue."""
    found = {}
    for name in stacks:
        stack = STACKS.get(name.partition("@")[0])
        if stack and stack.eager in stacks:
            found[name] = str(stack.eager)
    return found


def summary(comparisons: Sequence[Comparison], ratios: Ratios) -> tuple[SummaryRow, ...]:
    """The baseline and every stack with a ratio, fastest first; stacks without any come last."""
    planned: dict[str, int] = {}
    for c in comparisons:
        for cell in c.cells:
            planned[cell.stack] = planned.get(cell.stack, 0) + 1
    means = {mean.stack: mean for mean in ratios.means()}
    if not means:
        return ()
    found = [(row.speedup.ratio, row.stack, c.name) for c in comparisons for row in c.rows if row.speedup is not None]
    rows = []
    for stack, count in planned.items():
        own = sorted((ratio, name) for ratio, of, name in found if of == stack)
        mean = means.get(stack)
        estimate = mean.mean if mean else Estimate(1.0 if stack == ratios.baseline else None)
        done = sum(row.counts for c in comparisons if (row := c.row(stack)) is not None)
        rows.append(
            SummaryRow(
                stack=stack,
                is_baseline=stack == ratios.baseline,
                mean=estimate,
                ok=mean.ok if mean else done if stack == ratios.baseline else 0,
                planned=count,
                least=own[0][0] if own else None,
                least_name=own[0][1] if own else "",
                greatest=own[-1][0] if own else None,
                greatest_name=own[-1][1] if own else "",
            )
        )
    return tuple(sorted(rows, key=lambda r: (-(r.mean.value or -math.inf), r.stack)))


def pairs(comparisons: Sequence[Comparison], ratios: Ratios, compiled: Mapping[str, str]) -> tuple[PairRow, ...]:
    """Every compiled stack beside its eager one, where both were planned."""
    speedups: dict[str, dict[tuple[str, str], Speedup]] = {}
    for eager in sorted(set(compiled.values())):
        speedups[eager] = ratios.pairs(eager, [name for name, other in compiled.items() if other == eager])
    rows = []
    for c in comparisons:
        outcomes = {cell.stack: cell.outcome for cell in c.cells}
        for name, eager in compiled.items():
            if name not in outcomes or eager not in outcomes:
                continue
            slow, fast = c.row(eager), c.row(name)
            speedup = speedups[eager].get((c.id, name))
            worse = next((outcomes[s] for s in (name, eager) if outcomes[s] != "ok"), "ok")
            rows.append(
                PairRow(
                    comparison=c.name,
                    anchor=c.anchor,
                    eager=eager,
                    compiled=name,
                    eager_seconds=slow.median.value if slow else None,
                    compiled_seconds=fast.median.value if fast else None,
                    eager_first=slow.first if slow else None,
                    compiled_first=fast.first if fast else None,
                    speedup=speedup,
                    outcome=worse,
                    steps=break_even(slow, fast) if speedup and speedup.verdict == "faster" else None,
                )
            )
    return tuple(rows)


def break_even(eager: StackRow | None, compiled: StackRow | None) -> float | None:
    """Steps after which the compiled stack has caught up with the eager one, first and second run included."""
    if eager is None or compiled is None:
        return None
    times = [(r.first, r.second, r.median.value) for r in (eager, compiled)]
    (e1, e2, e), (c1, c2, c) = times
    if None in (e1, e2, e, c1, c2, c):
        return None
    head = (c1 + c2) - (e1 + e2)  # type: ignore[operator]
    saved = e - c  # type: ignore[operator]
    return 2.0 + max(0.0, math.ceil(head / saved)) if saved > 0 else None


def transfers(comparisons: Sequence[Comparison]) -> tuple[TransferRow, ...]:
    """The clocks of every stack that is `ok`."""
    rows = []
    for c in comparisons:
        for r in c.rows:
            if not r.counts or r.median.value is None:
                continue
            rows.append(
                TransferRow(
                    comparison=c.name,
                    anchor=c.anchor,
                    stack=r.stack,
                    dispatch=r.dispatch,
                    synced=r.median.value,
                    pipelined=r.pipelined,
                    fetch=r.fetch,
                    early=r.early,
                    gain=r.gain,
                    copy_seconds=r.copy,
                )
            )
    return tuple(rows)
