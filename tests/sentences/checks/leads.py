"""Whether the sentence on the map is so: who leads, how many questions, by how much."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from tests.sentences.checks.found import Found, names_of, range_of
from tests.sentences.checks.headline import framework
from tests.sentences.facts.reader import Truth
from tests.sentences.said.grammar import Fact, Some


def lead_range(truth: Truth, fact: Fact) -> Found:
    of = [truth.ratio(fact.on, who, truth.baseline) for who in truth.leaders(fact.on)]
    known = [ratio.value for ratio in of if ratio and ratio.word == "faster"]
    stands_in = truth.base(fact.on) != truth.baseline
    is_open = {*truth.leaders(fact.on)} == {*truth.counting(fact.on)}
    return range_of(fact.value, [] if stands_in or is_open or len(known) < len(of) else known, fact.over, truth)


def own_formulation(truth: Truth, fact: Fact) -> Found:
    leaders, counting = truth.leaders(fact.on), truth.counting(fact.on)
    mine = {who.partition(":")[2] for who in leaders}
    having = {framework(who) for who in counting if who.partition(":")[2] in mine}
    is_own = (
        len(having) == 1 and "" not in mine and len({*map(framework, counting)}) > 1 and len(leaders) < len(counting)
    )
    return fact.value == (having.pop() if is_own else ""), mine


def counted_leaders(truth: Truth, fact: Fact) -> Found:
    leaders, (said, among) = truth.leaders(fact.on), fact.value
    base = truth.baseline if truth.baseline in leaders else ""
    return (said, among) == (len(leaders), base), leaders


def open_question(truth: Truth, fact: Fact) -> Found:
    leaders, counting = frozenset(truth.leaders(fact.on)), frozenset(truth.counting(fact.on))
    is_so = fact.value == counting if isinstance(fact.value, Some) else fact.value == len(counting)
    return is_so and leaders == counting, leaders


def of_track(truth: Truth, track: str) -> dict[str, list[str]]:
    return truth.led([on for on in truth.cells if not track or f"{track} track" in on])


def alike(truth: Truth, track: str) -> dict[frozenset[str], frozenset[str]]:
    """Returns {questions: the stacks that lead exactly these}."""
    led: dict[str, set[str]] = {}
    for on, leaders in of_track(truth, track).items():
        for who in leaders:
            led.setdefault(who, set()).add(on)
    return {frozenset(of): frozenset(who for who in led if led[who] == of) for of in led.values()}


def led_together(truth: Truth, fact: Fact) -> Found:
    """Stacks that lead the same questions are said together, and one that leads none alone shares the lead: else a tie
    reads like a win."""
    who, number_, alone_, among, leads = fact.value
    groups = alike(truth, fact.on)
    fitting = {stacks: of for of, stacks in groups.items() if who in (stacks, len(stacks)) and len(of) == number_}
    questions = of_track(truth, fact.on)
    for stacks, of in fitting.items():
        by_itself = sum(frozenset(questions[on]) == stacks for on in of) if len(stacks) == 1 else 0
        base = truth.baseline if isinstance(who, int) and truth.baseline in stacks else ""
        if (alone_, among, leads) == (by_itself, base, by_itself > 0):
            return True, None
    return False, {tuple(sorted(stacks)): len(of) for of, stacks in groups.items()}


def asked(truth: Truth, fact: Fact) -> int:
    return len(of_track(truth, fact.on))


def leads_most(truth: Truth, fact: Fact) -> int:
    return max(Counter(who for of in of_track(truth, fact.on).values() for who in of).values())


def led_range(truth: Truth, fact: Fact) -> Found:
    """Holds the range over every group of leaders that the clause may be of: one that is counted has no names."""
    number_, *said = fact.value
    true: Any = None
    for of, stacks in alike(truth, fact.on).items():
        if len(of) == number_ and (not fact.who or names_of(fact.who) == stacks):
            ratios = [
                truth.ratio(on, who, truth.baseline) for on in of for who in stacks if truth.base(on) == truth.baseline
            ]
            values = [ratio.value for ratio in ratios if ratio and ratio.word == "faster"]
            is_so, true = range_of((said[0], said[1]), values, fact.over, truth)
            if is_so:
                return True, true
    return False, true


def lowest(truth: Truth, questions: Iterable[str]) -> Counter[str]:
    return Counter(counting[0] for on in questions if (counting := truth.counting(on)))


def lowest_on(truth: Truth, fact: Fact) -> Found:
    """Holds on how many questions a stack has the lowest median: of all, or of those with two stacks (`of` says it)."""
    number_, of = fact.value
    times = lowest(truth, truth.led() if of else truth.cells)
    is_most = not of or number_ == max(times.values())
    return number_ == times[fact.who] and is_most and of in (0, len(truth.led())), times
