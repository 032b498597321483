"""The table of ratios: a row for every stack over a baseline on every question. What is said of speeds is a selection
of these rows."""

from __future__ import annotations

from typing import Any

import polars as pl

from suite.results.analysis import Analysis, Comparison
from suite.stats import Estimate
from suite.verdicts.verdicts import Speedup

TYPES: dict[str, Any] = {
    **dict.fromkeys(("question", "question_id", "stack", "baseline", "stands_in_for", "clock"), pl.String),
    **dict.fromkeys(("value", "low", "high"), pl.Float64),
    **dict.fromkeys(("verdict", "why", "in_set", "reason"), pl.String),
    **dict.fromkeys(("best", "best_low", "best_high", "p"), pl.Float64),
    "blocks": pl.Int64,
    "log_ratios": pl.List(pl.Float64),
}


def ratios(analysis: Analysis) -> pl.DataFrame:
    """Returns the ratios over the baseline of an analysis, by its clock; a value above 1 is faster. On a question where
    another stack stands in for the baseline, the ratios are over this stack, and `stands_in_for` names the baseline."""
    lines = [
        line(comparison, case.speedup, analysis.pairing.clock)
        for comparison in analysis.comparisons
        for case in comparison.cases
        if case.speedup
    ]
    return pl.DataFrame(lines, schema=TYPES)


def line(comparison: Comparison, speedup: Speedup, clock: str) -> dict[str, Any]:
    return {
        "question": comparison.name,
        "question_id": comparison.id,
        "stack": speedup.stack,
        "baseline": speedup.baseline,
        "stands_in_for": comparison.stands_in_for or None,
        "clock": clock,
        **dict(zip(("value", "low", "high"), ends("", speedup.ratio).values(), strict=True)),
        "verdict": speedup.verdict,
        "why": speedup.why,
        "in_set": speedup.in_set,
        "reason": speedup.reason,
        **(ends("best", speedup.best) if speedup.best else {}),
        "p": speedup.ratio.p,
        "blocks": speedup.ratio.blocks,
        "log_ratios": [*speedup.log_ratios.values()],
    }


def ends(name: str, estimate: Estimate) -> dict[str, float | None]:
    """Returns a value with its interval as three columns."""
    return {name: estimate.value, f"{name}_low": estimate.low, f"{name}_high": estimate.high}
