"""Whether the answer to one question is so."""

from __future__ import annotations

from tests.sentences.checks.found import Found
from tests.sentences.facts.reader import Truth
from tests.sentences.said.grammar import Fact
from tests.sentences.kinds.shown import agrees


def fastest(truth: Truth, fact: Fact) -> Found:
    lead, who = fact.value
    leaders = truth.leaders(fact.on)
    unfinished = any(row["outcome"] == "not run" for row in truth.rows)
    word = "So far the lowest median" if unfinished else "Fastest" if len(leaders) == 1 else "Lowest median"
    return (lead, who) == (word, leaders[0]), (word, leaders)


def verdict(truth: Truth, fact: Fact) -> Found:
    ratio = truth.ratio(fact.on, fact.who, fact.over)
    return truth.base(fact.on) == fact.over and ratio is not None and ratio.word == fact.value, ratio and ratio.word


def reason(truth: Truth, fact: Fact) -> Found:
    ratio = truth.ratio(fact.on, fact.who, fact.over)
    if ratio is None or ratio.word != "undecided" or ratio.low is None:
        return not fact.value, ""
    return fact.value.startswith(ratio.reason or "the interval contains 1"), ratio.reason or "the interval contains 1"


def no_ratio(truth: Truth, fact: Fact) -> Found:
    return truth.ratio(fact.on, fact.who, truth.base(fact.on)) is None, truth.base(fact.on)


def alone(truth: Truth, fact: Fact) -> bool:
    ratio = truth.ratio(fact.on, fact.who, truth.base(fact.on))
    return bool(ratio and ratio.word in ("faster", "slower") and ratio.in_set != ratio.word and not ratio.reason)


def failed(truth: Truth, fact: Fact) -> Found:
    cells = truth.cells[fact.on].values()
    true = sum(cell.failed for cell in cells), len(cells)
    return fact.value == (true if true[0] else (0, 0)), true


def stands_for(truth: Truth, fact: Fact) -> Found:
    base = truth.base(fact.on)
    return fact.value == truth.baseline != base == fact.who, base


def spreads(truth: Truth, fact: Fact) -> Found:
    of = [truth.spread(fact.on, who) for who in truth.counting(fact.on) if truth.modes(fact.on, who)]
    number_, low, high = fact.value
    return number_ == len(of) and agrees(low, min(of)) and agrees(high, max(of)), (len(of), min(of), max(of))


def with_modes(truth: Truth, fact: Fact) -> frozenset[str]:
    return frozenset(who for who in truth.counting(fact.on) if truth.modes(fact.on, who))


def long_first(truth: Truth, fact: Fact) -> Found:
    who, said = fact.value
    true = truth.long_first(fact.on, fact.who)
    return (who == fact.who and agrees(said, true)) if who else true is None, (fact.who, true)


def total(truth: Truth, fact: Fact) -> Found:
    than, step, last = fact.value
    stretches = truth.least(fact.on)
    if last:
        return last == stretches[-1][1] != fact.who, stretches
    if not than:
        return stretches[-1] == (1, fact.who), stretches
    since, who = stretches[-1]
    return who == fact.who and than == stretches[-2][1] and agrees(step, since), stretches


def lower_median(truth: Truth, fact: Fact) -> Found:
    lowest_, first = truth.counting(fact.on)[0], truth.leaders(fact.on)[0]
    who, said = fact.value
    if lowest_ == first:
        return not who, None
    return who == lowest_ and agrees(said, truth.time(fact.on, lowest_)), lowest_


def framework(who: str) -> str:
    plain = who.partition(":")[0].partition("@")[0]
    names = {"jax": "JAX", "torch": "PyTorch", "torchax": "PyTorch", "onnxruntime": "PyTorch", "tf": "TensorFlow"}
    return names.get(plain.partition("_")[0], plain)


def best_of_each(truth: Truth, fact: Fact) -> Found:
    best: dict[str, str] = {}
    for who in truth.counting(fact.on):
        best.setdefault(framework(who), who)
    return are_times(truth, fact.on, fact.value, [*best.values()]), best


def are_times(truth: Truth, on: str, said: tuple[list[tuple[str, str]], int], stacks: list[str]) -> bool:
    """Whether a list has these stacks in this order with their times, or the first of them and the others' number."""
    times, others = said
    is_so = [who for who, _ in times] == stacks[: len(times)] and len(times) + others == len(stacks)
    return is_so and all(agrees(time, truth.time(on, who)) for who, time in times)


def same_formulation(truth: Truth, fact: Fact) -> Found:
    name, times, lead = fact.value
    stacks = [who for who in truth.counting(fact.on) if who.partition(":")[2] == name]
    behind = truth.behind(fact.on)
    leading = frozenset(who for who in stacks if not any((who, other) in behind for other in stacks))
    is_so = lead == (leading if len(leading) < len(stacks) else frozenset())
    return is_so and (times is None or are_times(truth, fact.on, times, stacks)), leading
