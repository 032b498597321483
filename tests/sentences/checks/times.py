"""Whether the sections on times say what is so."""

from __future__ import annotations

from collections import Counter

from tests.sentences.checks.found import Found
from tests.sentences.facts import means, processes
from tests.sentences.facts import settings as ways
from tests.sentences.facts.reader import EAGER, NATIVE, Truth
from tests.sentences.said.grammar import Fact
from tests.sentences.kinds.shown import agrees


def mean_of(truth: Truth, fact: Fact) -> Found:
    said, of, has_none = fact.value
    known, _, number_ = means.means(truth, fact.on)
    ranked = sorted(known, key=lambda who: (-known[who].value, who))
    if not ranked:
        return not fact.who and int(of) == number_, None
    first = known[ranked[0]]
    is_so = (fact.who, fact.over, int(of)) == (ranked[0], truth.baseline, number_)
    return is_so and agrees(said, first.value) and has_none == (first.value < 1), (ranked[0], first.value, number_)


def not_ranked(truth: Truth, fact: Fact) -> frozenset[str]:
    _, lacking, of = means.means(truth, fact.on)
    return frozenset(f"{who} {lacks} of {of}" for who, lacks in lacking.items())


def latency(truth: Truth, fact: Fact) -> Found:
    firsts = {(on, who): cell.call("first") or 0.0 for on, cells in truth.cells.items() for who, cell in cells.items()}
    without = sum(not cell.used for cells in truth.cells.values() for cell in cells.values())
    if not fact.value:
        return not any(firsts.values()), None
    on, who = max(firsts, key=lambda case: firsts[case])
    is_so = (fact.on, fact.who) == (on, who) and agrees(fact.value["first"], firsts[on, who])
    return is_so and int(fact.value["without"] or 0) == without, (on, who, firsts[on, who], without)


def least_total(truth: Truth, fact: Fact) -> Found:
    stretches = truth.least(fact.on)
    ends = [since - 1 for since, _ in stretches[1:]] + [None]
    is_so = [who for who, _ in fact.value] == [who for _, who in stretches]
    return is_so and all(
        agrees(said, end) if end else not said for (_, said), end in zip(fact.value, ends, strict=False)
    ), stretches


def more_totals(truth: Truth, fact: Fact) -> int:
    return sum(len(truth.calls(on)) > 1 for on in truth.cells) - 1


def without_total(truth: Truth, fact: Fact) -> Found:
    questions = [on for on in truth.cells if len(truth.calls(on)) > 1]
    true = {(who, on) for on in questions for who in truth.cells[on] if who not in truth.calls(on)}
    return fact.value == true, true


def never_pays(truth: Truth, fact: Fact) -> frozenset[str]:
    return frozenset(
        " against ".join(pair) for pair in truth.upon(EAGER).items() if not processes.paid(truth, pair[0])[0]
    )


def pays_off(truth: Truth, fact: Fact) -> Found:
    steps, of = processes.paid(truth, fact.who)
    low, high, some, asked_ = fact.value
    is_so = truth.upon(EAGER).get(fact.who) == fact.over and agrees(low, min(steps)) and agrees(high or low, max(steps))
    counts = (int(some), int(asked_)) == (len(steps), of) if some else len(steps) == of
    return is_so and counts, (min(steps), max(steps), len(steps), of)


def free(truth: Truth, fact: Fact) -> Found:
    said, words = dict(fact.value), {}
    for on, cells in truth.cells.items():
        if fact.who in cells and fact.over in cells:
            words[on] = truth.pair_word(on, fact.who, NATIVE)
    free_ = [on for on, ratio in words.items() if ratio and ratio.word in ("tie", "faster")]
    slower = {on: 1 / ratio.value for on, ratio in words.items() if ratio and ratio.word == "slower"}
    open_ = sum(bool(ratio and ratio.word == "undecided") for ratio in words.values())
    worst = max(slower, key=lambda on: slower[on], default="")
    is_so = truth.upon(NATIVE).get(fact.who) == fact.over and (int(said["free"]), int(said["of"])) == (
        len(free_),
        len(words),
    )
    is_so &= (
        said["worst_on"] == worst
        and (not worst or agrees(said["worst"], slower[worst]))
        and int(said["open"] or 0) == open_
    )
    return is_so, {on: ratio and (ratio.word, ratio.value) for on, ratio in words.items()}


def early(truth: Truth, fact: Fact) -> Found:
    known = {case: share for case, share in processes.early(truth).items() if share > 0}
    case = max(known, key=lambda each: known[each], default=("", ""))
    return (fact.on, fact.who) == case and (not known or agrees(fact.value, known[case])), (case, known.get(case))


def copied(truth: Truth, fact: Fact) -> Found:
    nothing, some, of, most = fact.value
    known = processes.copies(truth)
    sure = {case: gap for case, (gap, low) in known.items() if low > 0}
    if not some:
        return not sure and (nothing or not known), sure
    case = max(sure, key=lambda each: sure[each])
    is_so = (int(some), int(of), fact.on, fact.who) == (len(sure), len(known), *case)
    return is_so and agrees(most, sure[case]), (len(sure), len(known), case, sure[case])


def settings(truth: Truth, fact: Fact) -> Found:
    found: dict[str, Counter[str]] = {}
    for by_value in ways.settings(truth, ways.TITLES[fact.on]).values():
        for value, ratio in by_value.items():
            found.setdefault(value, Counter())[ratio.word] += 1
    return fact.value == {value: dict(words) for value, words in found.items()}, found


def fields(truth: Truth, fact: Fact) -> int:
    return sum(bool(ways.settings(truth, field)) for field in ways.FIELDS)
