"""What a check returns, and the checks of single values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.sentences.facts.estimates import Ratio
from tests.sentences.facts.reader import Truth
from tests.sentences.said.grammar import Fact
from tests.sentences.kinds.shown import agrees, interval_agrees

Found = tuple[bool, Any]  # whether it is so, and what is so


def equal(value: Callable[[Truth, Fact], Any]) -> Callable[[Truth, Fact], Found]:
    def check(truth: Truth, fact: Fact) -> Found:
        true = value(truth, fact)
        return bool(fact.value == true), true

    return check


def number(value: Callable[[Truth, Fact], float | None]) -> Callable[[Truth, Fact], Found]:
    def check(truth: Truth, fact: Fact) -> Found:
        true = value(truth, fact)
        return agrees(fact.value, true), true

    return check


def shown(said: tuple[str, str], ratio: Ratio | None) -> Found:
    ratio_said, interval = said
    is_so = ratio is not None and agrees(ratio_said, ratio.value) and interval_agrees(interval, ratio.low, ratio.high)
    return is_so, ratio and (ratio.value, ratio.low, ratio.high)


def range_of(said: tuple[str, str], ratios: list[float], over: str, truth: Truth) -> Found:
    if not ratios:
        return said == ("", ""), None
    ends = min(ratios), max(ratios)
    return over == truth.baseline and all(map(agrees, said, ends)), ends


def names_of(listed: str) -> frozenset[str]:
    return frozenset(listed.replace(" and ", ", ").split(", "))
