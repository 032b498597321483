"""Whether the sections on processes and memory say what is so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.sentences.checks.found import Found
from tests.sentences.facts import processes
from tests.sentences.facts.reader import Truth
from tests.sentences.said.grammar import Fact
from tests.sentences.kinds.shown import agrees


def memory(way: Any) -> Callable[[Truth, Fact], Found]:
    def check(truth: Truth, fact: Fact) -> Found:
        who, times, of, low, high = fact.value
        true = processes.extreme(truth, way)
        return (who == true[0] and (times, of) == true[1:3] and agrees(low, true[3]) and agrees(high, true[4])), true

    return check


def in_ended(truth: Truth, fact: Fact) -> Found:
    part, whole, who, on = true = processes.in_ended(truth)
    said = (fact.who, fact.on) == (who, on)
    return said and (not who or (agrees(fact.value[0], part) and agrees(fact.value[1], whole))), true


def held(truth: Truth, fact: Fact) -> Found:
    (size, who, on, kinds), *others = processes.held(truth)
    if not fact.value:
        return size == 0, size
    if others and others[0][0] == size:
        return False, f"{who} on {on} and {others[0][1]} on {others[0][2]} hold as much, {size}"
    is_so = (fact.who, fact.on) == (who, on) and agrees(fact.value["held"], size)
    return is_so and agrees(fact.value["part"], kinds[fact.value["kind"]]) and kinds[fact.value["kind"]] == max(
        kinds.values()
    ), (who, on, size, kinds)


def ended(truth: Truth, fact: Fact) -> Found:
    word, count, rest = fact.value
    of = processes.endings(truth)
    true = sum(outcome == word for outcome in of.values())
    names = {asked: name for purpose in ("timed", "memory") for asked, name in truth.named(purpose).items()}
    cases = {(who, names.get(a, "")) for (a, who, _), outcome in of.items() if outcome == word}
    return count == true and (rest == len(of) if word == "ok" else not rest or rest == cases), (true, len(of))


def agree(truth: Truth, fact: Fact) -> tuple[int, int]:
    known = processes.errors(truth).values()
    return sum(error is not None and outcome not in ("wrong", "differ") for outcome, error in known), len(known)


def largest_error(truth: Truth, fact: Fact) -> Found:
    known: dict[str, float] = {}  # {stack: its largest error that passed}
    for (_, who), (outcome, error) in processes.errors(truth).items():
        if error is not None and outcome not in ("wrong", "differ"):
            known[who] = max(known.get(who, 0.0), error)
    if not fact.who:
        return not known, known
    most = max(known.values())
    return known[fact.who] == most and agrees(fact.value, most, digits=2), (most, known)


def outcomes(truth: Truth, fact: Fact) -> frozenset[str]:
    cases = processes.errors(truth).items()
    return frozenset(f"{who} on {on}" for (on, who), (outcome, _) in cases if outcome == fact.on)


def fits(truth: Truth, fact: Fact) -> Found:
    low, end, high = fact.value
    largest, failing = processes.largest(truth)[fact.who]
    if high:
        return (number_or(low), number_or(high)) == (largest, (failing or 0) - 1), (largest, failing)
    is_so = number_or(low) == largest and (
        failing == largest + 1 or "curve" in end if "more" not in end else failing is None
    )
    return is_so, (largest, failing)


def number_or(text: str) -> int:
    return int(text.replace(",", "") or 0)


def fit(truth: Truth, fact: Fact) -> tuple[int, int]:
    rows = [row for row in truth.rows if row["purpose"] == "memory"]
    return sum(row["outcome"] == "ok" for row in rows), len(rows)
