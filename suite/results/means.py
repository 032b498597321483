"""The table of geometric means: a row for every stack over all questions, and over those of each track, number of
cores, pass and precision."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from suite.results.analysis import Analysis, is_of
from suite.results.ratios import ends
from suite.stats import Estimate
from suite.verdicts.geometric_means import Summary, rank
from suite.verdicts.names import details

ALL = "all questions"
TYPES: dict[str, Any] = {
    **dict.fromkeys(("over", "stack"), pl.String),
    **dict.fromkeys(("mean", "mean_low", "mean_high"), pl.Float64),
    **dict.fromkeys(("answered", "questions"), pl.Int64),
    "lacks": pl.List(pl.String),
    "least": pl.Float64,
    "least_on": pl.String,
    "greatest": pl.Float64,
    "greatest_on": pl.String,
}


def means(analysis: Analysis) -> pl.DataFrame:
    """Returns the means of each group of questions: first the stacks that answered all of them, the greatest mean
    first, then those that lack some, which aren't ranked. The baseline's mean is 1."""
    lines = [line for fields in analysis.groups() for line in lines_of(analysis, fields)]
    return pl.DataFrame(lines, schema=TYPES)


def lines_of(analysis: Analysis, fields: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    names = {comparison.id: comparison.name for comparison in analysis.all_comparisons}
    others, over = analysis.means(fields), group_words(analysis, fields)
    own = [Summary(analysis.baseline, Estimate(1.0), line.n) for line in others[:1]]
    for line in sorted([*others, *own], key=lambda each: rank(each)[:-1]):
        yield {
            "over": over,
            "stack": line.stack,
            **(ends("mean", line.ratio) if line.ratio else {}),
            "answered": line.n_ok,
            "questions": line.n,
            "lacks": [names[question] for question in line.lacks],
            "least": line.least and line.least.ratio.value,
            "least_on": line.least and names[line.least.comparison_id],
            "greatest": line.greatest and line.greatest.ratio.value,
            "greatest_on": line.greatest and names[line.greatest.comparison_id],
        }


def group_words(analysis: Analysis, fields: Mapping[str, str]) -> str:
    """Returns which questions have these values in their columns: `all questions`, or `train, tuned track`."""
    head = next(each.head for each in analysis.all_comparisons if is_of(each.head, fields))
    return ", ".join(details(head, [*fields])) or ALL
