"""The tables of a report: pure functions from the rows of a result set to plain values in base units.

Seconds, bytes and counts stay numbers here; the templates choose units. Nothing is computed from
anything but the raw samples and counters of the rows.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np

from suite.report.outcomes import Cell, cell, gravest
from suite.report.ratios import Estimate, Ratios, Speedup
from suite.report.roof import Roof
from suite.report.rows import Row, flag_counts, middle
from suite.results.compare import samples
from suite.stats import outliers
from suite.units import Unit, byte_unit, rate_unit, time_unit

# What a comparison's name leaves out where it is the same in the whole set.
DETAILS = ("size", "precision", "target", "device", "track", "cache", "threads", "limit_memory_bytes")


@dataclass(frozen=True, slots=True)
class Process:
    """The steady median of one process, in seconds. `counted`: it enters the ratios."""

    block: int
    replicate: int
    seconds: float
    counted: bool


@dataclass(frozen=True, slots=True)
class StackRow:
    """One stack of a comparison. Times in seconds, memory in bytes; None is unknown.

    `first`, `second` and `compile` are medians over processes. `median`, `dispatch`, `pipelined` and `fetch`
    are geometric means of the processes' medians, so that they can be set beside each other; `average` is the
    mean of their means, p5 and p95 are over all steady samples, `outliers` counts those beyond 3 IQR of their
    process, memory is the greatest peak. `early` is the share of a synced step still to be computed when the
    call returned, `gain` synced over pipelined, `copy` fetch less synced, each inside a process. `efficiency`
    is the roof's least time over the median. `outcome` is the gravest of the processes, `ok` how many of them
    ended well.
    """

    stack: str
    is_baseline: bool
    outcome: str
    outcome_text: str
    ok: int
    first: float | None
    second: float | None
    average: float | None
    median: Estimate
    p5: float | None
    p95: float | None
    outliers: int
    dispatch: float | None
    pipelined: float | None
    fetch: float | None
    early: float | None
    gain: float | None
    copy: float | None
    items_per_second: float | None
    efficiency: float | None
    compile: float | None
    compiles: tuple[int | None, int | None, int | None]
    graph_breaks: int | None
    host_build: float | None
    host_step: float | None
    device_peak: float | None
    relative_error: float | None
    precision_observed: str
    flags: tuple[tuple[str, str], ...]
    processes: tuple[Process, ...]
    speedup: Speedup | None

    @property
    def counts(self) -> bool:
        """Whether its times may be compared: some process is `ok` and none failed the gate."""
        return self.ok > 0 and self.outcome != "wrong"


@dataclass(frozen=True, slots=True)
class Units:
    """The unit of each column of one comparison; the steady clocks share one."""

    first: Unit
    second: Unit
    steady: Unit
    compile: Unit
    memory: Unit
    rate: Unit


@dataclass(frozen=True, slots=True)
class Comparison:
    """One question asked of several stacks. `rows` have times, fastest first, those not `ok` last."""

    id: str
    anchor: str
    name: str
    subtitle: str
    rows: tuple[StackRow, ...]
    failed: tuple[Cell, ...]
    cells: tuple[Cell, ...]
    noise: Speedup | None
    units: Units

    @property
    def has_roof(self) -> bool:
        """Whether the set knows what the machine reaches."""
        return any(row.efficiency is not None for row in self.rows)

    @property
    def has_device_memory(self) -> bool:
        """Whether any stack reported memory of a device."""
        return any(row.device_peak is not None for row in self.rows)

    def row(self, stack: str) -> StackRow | None:
        """A stack's row, if it has times."""
        return next((r for r in self.rows if r.stack == stack), None)


def comparisons(rows: Sequence[Row], ratios: Ratios, baseline: str, roof: Roof | None) -> tuple[Comparison, ...]:
    """Every planned comparison of timed processes. `rows` holds one row a planned process."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        if row.text("purpose") == "timed":
            groups.setdefault(row.text("comparison_id"), []).append(row)
    names = _names([group[0] for group in groups.values()])
    made = [_comparison(names[key], group, ratios, baseline, roof) for key, group in groups.items()]
    return tuple(sorted(made, key=lambda c: c.name))


def _names(heads: Sequence[Row]) -> dict[str, str]:
    """A readable name by comparison_id: workload and pass, and of the rest only what tells one from another."""
    varying = [name for name in DETAILS if len({head.text(name) for head in heads}) > 1]
    plain = {
        h.text("comparison_id"): " ".join([h.text("workload"), h.text("pass"), *_details(h, varying)]) for h in heads
    }
    sized = {h.text("comparison_id"): f"{plain[h.text('comparison_id')]} ({dims_text(h)})" for h in heads}
    names = {key: name if _once(name, plain) else sized[key] for key, name in plain.items()}
    return {key: name if _once(name, names) else f"{name} {key[:8]}" for key, name in names.items()}


def _once(name: str, names: Mapping[str, str]) -> bool:
    return list(names.values()).count(name) == 1


def _details(row: Row, names: Sequence[str]) -> list[str]:
    """The values of some columns in words: `seed`, `f32`, `warm cache`, `4 cores`."""
    words = {
        "cache": "{} cache",
        "threads": "{} cores",
        "track": "{} track",
        "limit_memory_bytes": "limit {}",
    }
    limit = row.number("limit_memory_bytes")
    values = {name: row.text(name) for name in names}
    if "limit_memory_bytes" in values:
        values["limit_memory_bytes"] = byte_unit([limit])(limit)
    return [words.get(name, "{}").format(value) for name, value in values.items()]


def dims_text(row: Row) -> str:
    """`n = 1,024, tokens = 64`."""
    return ", ".join(f"{name} = {value:,}" for name, value in row.mapping("dims").items())


def _comparison(name: str, rows: Sequence[Row], ratios: Ratios, baseline: str, roof: Roof | None) -> Comparison:
    by_stack: dict[str, list[Row]] = {}
    for row in rows:
        by_stack.setdefault(row.stack, []).append(row)
    head, key = rows[0], rows[0].text("comparison_id")
    cells = tuple(cell(stack, own) for stack, own in sorted(by_stack.items()))
    timed = [stack_row(own, ratios, key, baseline, roof) for own in by_stack.values() if any(r.steady for r in own)]
    timed.sort(key=lambda r: (not r.counts, r.median.value is None, r.median.value or 0.0, r.stack))
    everything = [name for name in DETAILS if name != "limit_memory_bytes" or head.number(name) is not None]
    if head.text("device") == head.text("target"):
        everything.remove("device")
    return Comparison(
        id=key,
        anchor="c-" + re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") + f"-{key[:8]}",
        name=name,
        subtitle=" · ".join(part for part in (dims_text(head), *_details(head, everything)) if part),
        rows=tuple(timed),
        failed=tuple(c for c in cells if c.stack not in {r.stack for r in timed}),
        cells=cells,
        noise=ratios.noise(key),
        units=_units(timed),
    )


def stack_row(
    rows: Sequence[Row], ratios: Ratios, comparison: str, baseline: str, roof: Roof | None = None
) -> StackRow:
    """The figures of one stack from its processes: those that ended `ok`, or all with samples if none did.

    A twin (replicate 2) shows in the strip of processes and adds nothing to the figures.
    """
    stack = rows[0].stack
    worst = gravest(r.outcome for r in rows)
    own = [r for r in rows if r.integer("replicate") == 1 and r.steady]
    used = [r for r in own if r.outcome == "ok"] or own or [r for r in rows if r.steady]
    pooled = np.concatenate([np.asarray(r.steady) for r in used])
    synced = [_median(r) for r in used]
    clocks = {name: [_clock(r, name) for r in used] for name in ("dispatch", "pipelined", "fetch")}
    typical = ratios.typical(synced)
    items = middle(r.number("items_per_step") for r in used)
    least = roof.seconds(used[0]) if roof else None
    return StackRow(
        stack=stack,
        is_baseline=stack == baseline,
        outcome=worst,
        outcome_text=cell(stack, rows).text,
        ok=sum(r.outcome == "ok" for r in rows),
        first=middle(r.number("first_seconds") for r in used),
        second=middle(r.number("second_seconds") for r in used),
        average=fmean(fmean(r.steady) for r in used),
        median=typical,
        p5=float(np.percentile(pooled, 5)),
        p95=float(np.percentile(pooled, 95)),
        outliers=sum(outliers(r.steady) for r in used),
        dispatch=ratios.typical([t for t in clocks["dispatch"] if t]).value,
        pipelined=ratios.typical([t for t in clocks["pipelined"] if t]).value,
        fetch=ratios.typical([t for t in clocks["fetch"] if t]).value,
        early=middle(max(0.0, 1 - d / s) for d, s in zip(clocks["dispatch"], synced, strict=True) if d is not None),
        gain=middle(s / p for p, s in zip(clocks["pipelined"], synced, strict=True) if p),
        copy=middle(f - s for f, s in zip(clocks["fetch"], synced, strict=True) if f is not None),
        items_per_second=items / typical.value if items and typical.value else None,
        efficiency=None if least is None or not typical.value else least / typical.value,
        compile=middle(r.number("compile_seconds") for r in used),
        compiles=(
            _most(used, "compiles_first"),
            _most(used, "compiles_second"),
            _most(used, "compiles_steady"),
        ),
        graph_breaks=_most(used, "graph_breaks"),
        host_build=_peak(used, "host_peak_build_bytes"),
        host_step=_peak(used, "host_peak_step_bytes"),
        device_peak=_peak(used, "device_peak_bytes"),
        relative_error=_peak(rows, "relative_error"),
        precision_observed=", ".join(sorted({r.text("precision_observed") for r in used} - {""})),
        flags=flag_counts(rows),
        processes=tuple(
            Process(r.integer("block"), r.integer("replicate"), _median(r), r.outcome == "ok") for r in rows if r.steady
        ),
        speedup=None if stack == baseline else ratios.speedup(comparison, stack),
    )


def _median(row: Row) -> float:
    return float(np.median(row.steady))


def _clock(row: Row, clock: str) -> float | None:
    """The median of a clock in one process, without warm-up."""
    kept = samples(row.fields, clock)
    return float(np.median(kept)) if len(kept) else None


def _peak(rows: Sequence[Row], column: str) -> float | None:
    return max((v for v in (r.number(column) for r in rows) if v is not None), default=None)


def _most(rows: Sequence[Row], column: str) -> int | None:
    value = _peak(rows, column)
    return None if value is None else int(value)


def _units(rows: Sequence[StackRow]) -> Units:
    return Units(
        first=time_unit(r.first for r in rows),
        second=time_unit(r.second for r in rows),
        steady=time_unit(r.median.value for r in rows),
        compile=time_unit(r.compile for r in rows if r.compile),
        memory=byte_unit(v for r in rows for v in (r.host_step, r.host_build)),
        rate=rate_unit(r.items_per_second for r in rows),
    )
