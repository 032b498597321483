"""From rows to paired ratios with verdicts. Pure functions; docs/methodology.md has the formulas."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median

from suite.case import Case, Outcome, Purpose
from suite.errors import UserError, unknown
from suite.protocol import Protocol
from suite.results.schema import Row
from suite.results.store import accepted
from suite.stats import Ratio, Word, holm, ratio_of, spread, verdict

CLOCKS = ("synced", "dispatch", "pipelined", "fetch", "first", "second")


@dataclass(frozen=True, slots=True)
class Comparison:
    """A stack against the baseline on one question."""

    comparison_id: str
    name: str
    stack: str
    baseline: str
    ratio: Ratio
    verdict: Word
    log_ratios: dict[int, float]  # by block in which both are ok, ln(t_baseline / t_stack)


@dataclass(frozen=True, slots=True)
class Summary:
    """The geometric mean over the questions that both stacks answered; never imputed for the others."""

    stack: str
    ratio: Ratio | None  # None: nothing to compare
    n_ok: int
    n: int
    least: float | None
    greatest: float | None


def stack_name(row: Row) -> str:
    """`jax_jit`, or `jax_jit@nightly` for a variant."""
    return f"{row['stack']}@{row['variant']}" if row["variant"] else str(row["stack"])


def comparison_name(row: Row) -> str:
    """The question without the stack, readable."""
    return case_of(row).comparison_name


def case_of(row: Row) -> Case:
    """The case of a row."""
    return Case.of_row(row)


def samples(row: Row, clock: str) -> Sequence[float]:
    """Seconds of one clock; of the synced and dispatch clocks only those after the warm-up."""
    value = row[f"{clock}_seconds"]
    if clock in ("first", "second"):
        return [] if value is None else [value]
    kept: Sequence[float] = value or []
    return kept[row["synced_warmup"] or 0 :] if clock in ("synced", "dispatch") else kept


def counting(rows: Iterable[Row], purpose: Purpose = Purpose.TIMED) -> list[Row]:
    """The accepted rows of one purpose; none that are `ok` of a case found wrong in any block.

    Raises UserError for rows of two machines: they are never paired.
    """
    kept = [row for row in accepted(rows) if row["purpose"] == purpose]
    # The gate runs in block 1; what it finds wrong is wrong in the others too.
    wrong = {row["case_id"] for row in kept if row["outcome"] == Outcome.WRONG}
    kept = [row for row in kept if row["outcome"] != Outcome.OK or row["case_id"] not in wrong]
    machines = {row["machine_id"] for row in kept}
    if len(machines) > 1:
        raise UserError(f"These rows come from {len(machines)} machines; ratios pair runs of one machine only.")
    return kept


def block_medians(rows: Iterable[Row], clock: str) -> dict[tuple[str, str, int], dict[int, float]]:
    """{(comparison_id, stack, replicate): {block: median seconds}} of the ok rows."""
    medians: dict[tuple[str, str, int], dict[int, float]] = defaultdict(dict)
    for row in rows:
        taken = samples(row, clock)
        if row["outcome"] == Outcome.OK and taken:
            medians[row["comparison_id"], stack_name(row), row["replicate"]][row["block"]] = median(taken)
    return medians


def log_ratios(stack: Mapping[int, float], baseline: Mapping[int, float]) -> dict[int, float]:
    """{block: ln(t_baseline / t_stack)} of each block that has both."""
    return {block: math.log(baseline[block] / stack[block]) for block in sorted(stack.keys() & baseline.keys())}


def ratios(rows: Iterable[Row], baseline: str, protocol: Protocol, clock: str = "synced") -> list[Comparison]:
    """Every stack against the baseline, on every question that both answered, verdicts included."""
    kept = counting(rows)
    stacks = {stack_name(row) for row in kept}
    if baseline not in stacks:
        raise unknown("baseline stack in this result set", baseline, stacks)
    medians = block_medians(kept, clock)
    names = {row["comparison_id"]: comparison_name(row) for row in kept}
    found: list[tuple[str, str, dict[int, float], Ratio]] = []
    for (comparison, stack, replicate), of_stack in medians.items():
        logs = log_ratios(of_stack, medians.get((comparison, baseline, 1), {}))
        if replicate == 1 and stack != baseline and logs:
            freedom = min(protocol.blocks, len(logs)) - 1
            found.append((comparison, stack, logs, ratio_of([*logs.values()], freedom, protocol.confidence)))
    p_values = [1.0 if ratio.p is None else ratio.p for *_, ratio in found]
    floors = {c.comparison_id: c.ratio for c in twins(kept, protocol, clock) if c.stack == baseline}
    return [
        Comparison(c, names[c], stack, baseline, ratio,
                   verdict(ratio, protocol.tie_ratio, protocol.confidence, p, floors.get(c)), logs)
        for (c, stack, logs, ratio), p in zip(found, holm(p_values), strict=True)
    ]  # fmt: skip


def twins(rows: Iterable[Row], protocol: Protocol, clock: str = "synced") -> list[Comparison]:
    """The A/A pairs: a stack against itself. Their intervals are the noise floor of the set."""
    kept = counting(rows)
    medians = block_medians(kept, clock)
    names = {row["comparison_id"]: comparison_name(row) for row in kept}
    found = []
    for (comparison, stack, replicate), second in medians.items():
        logs = log_ratios(second, medians.get((comparison, stack, 1), {}))
        if replicate == 2 and logs:
            ratio = ratio_of([*logs.values()], min(protocol.blocks, len(logs)) - 1, protocol.confidence)
            word = verdict(ratio, protocol.tie_ratio, protocol.confidence)
            found.append(Comparison(comparison, names[comparison], stack, stack, ratio, word, logs))
    return found


def summaries(rows: Iterable[Row], compared: Sequence[Comparison], protocol: Protocol) -> list[Summary]:
    """Per stack the geometric mean of its ratios, its interval from the per-block means over questions."""
    asked: dict[str, set[str]] = defaultdict(set)
    for row in counting(rows):
        asked[stack_name(row)].add(row["comparison_id"])
    found = []
    for stack, questions in asked.items():
        of_stack = [c for c in compared if c.stack == stack]
        if of_stack:
            mean, values = mean_ratio(of_stack, protocol), [c.ratio.value for c in of_stack]
            found.append(Summary(stack, mean, len(of_stack), len(questions), min(values), max(values)))
        elif not any(c.baseline == stack for c in compared):
            found.append(Summary(stack, None, 0, len(questions), None, None))
    return sorted(found, key=lambda summary: -(summary.ratio.value if summary.ratio else 0.0))


def mean_ratio(compared: Sequence[Comparison], protocol: Protocol) -> Ratio:
    """The geometric mean over questions; its interval from the means of the blocks that all of them have."""
    mean = fmean(math.log(c.ratio.value) for c in compared)
    blocks = set.intersection(*(set(c.log_ratios) for c in compared))
    if not blocks:
        return Ratio(math.exp(mean), None, None, None, 0)
    per_block = [fmean(c.log_ratios[block] for c in compared) for block in sorted(blocks)]
    # Blocks that one question lacks move its mean: the interval takes only its width from the common ones.
    centred = [value - fmean(per_block) + mean for value in per_block]
    return ratio_of(centred, min(protocol.blocks, len(blocks)) - 1, protocol.confidence)


def between_processes(medians: Sequence[float]) -> float | None:
    """Spread of equal processes: the standard deviation of ln median over blocks; None for one block."""
    return spread([math.log(value) for value in medians]) if len(medians) > 1 else None
