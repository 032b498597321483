"""Holds what sentences say against the reader: `wrong_in` returns what is false, each with what is true."""

from __future__ import annotations

import math
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.sentences import figures
from tests.sentences.pairs import Ratio, seconds
from tests.sentences.reader import EAGER, NATIVE, Truth
from tests.sentences.said import Fact, Grammar, NotUnderstood, Some, facts_in
from tests.sentences.shown import agrees, interval_agrees

THREADS = Path(__file__).parents[2] / "examples" / "threads.toml"
Found = tuple[bool, Any]  # whether it is so, and what is so


@dataclass(frozen=True)
class Violation:
    kind: str
    sentence: str
    fact: Fact | None
    true: Any


def wrong_in(kind: str, sentence: str, truth: Truth) -> list[Violation]:
    """Returns what a sentence says that isn't so; one violation without a fact if it can't be understood."""
    try:
        facts = facts_in(kind, sentence, grammar(truth))
    except (NotUnderstood, ValueError, IndexError, KeyError) as unclear:
        return [Violation(kind, sentence, None, f"not understood: {unclear}")]
    found = []
    for fact in facts:
        try:
            is_so, true = CHECKS[fact.what](truth, fact)
        except (KeyError, IndexError, AttributeError, TypeError, ValueError) as missing:
            is_so, true = False, f"the set has no such thing: {missing!r}"
        if not is_so:
            found.append(Violation(kind, sentence, fact, true))
    return found


def grammar(truth: Truth) -> Grammar:
    made = truth.__dict__.get("grammar")
    if made is None:
        names = {name for purpose in ("timed", "memory", "explain") for name in truth.named(purpose).values()}
        made = truth.__dict__["grammar"] = Grammar(sorted(names), truth.stacks)
    return made


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


def range_of(said: tuple[str, str], ratios: list[float], over: str, truth: Truth) -> Found:
    if not ratios:
        return said == ("", ""), None
    ends = min(ratios), max(ratios)
    return over == truth.baseline and all(map(agrees, said, ends)), ends


def lead_range(truth: Truth, fact: Fact) -> Found:
    of = [truth.ratio(fact.on, who, truth.baseline) for who in truth.leaders(fact.on)]
    known = [ratio.value for ratio in of if ratio and ratio.word == "faster"]
    stands_in = truth.base(fact.on) != truth.baseline
    is_open = {*truth.leaders(fact.on)} == {*truth.counting(fact.on)}
    return range_of(fact.value, [] if stands_in or is_open or len(known) < len(of) else known, fact.over, truth)


def lower_median(truth: Truth, fact: Fact) -> Found:
    lowest_, first = truth.counting(fact.on)[0], truth.leaders(fact.on)[0]
    who, said = fact.value
    if lowest_ == first:
        return not who, None
    return who == lowest_ and agrees(said, truth.time(fact.on, lowest_)), lowest_


def own_formulation(truth: Truth, fact: Fact) -> Found:
    leaders, counting = truth.leaders(fact.on), truth.counting(fact.on)
    mine = {who.partition(":")[2] for who in leaders}
    having = {framework(who) for who in counting if who.partition(":")[2] in mine}
    is_own = (
        len(having) == 1 and "" not in mine and len({*map(framework, counting)}) > 1 and len(leaders) < len(counting)
    )
    return fact.value == (having.pop() if is_own else ""), mine


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


def names_of(listed: str) -> frozenset[str]:
    return frozenset(listed.replace(" and ", ", ").split(", "))


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


def mean_of(truth: Truth, fact: Fact) -> Found:
    said, of, has_none = fact.value
    known, _, number_ = figures.means(truth, fact.on)
    ranked = sorted(known, key=lambda who: (-known[who].value, who))
    if not ranked:
        return not fact.who and int(of) == number_, None
    first = known[ranked[0]]
    is_so = (fact.who, fact.over, int(of)) == (ranked[0], truth.baseline, number_)
    return is_so and agrees(said, first.value) and has_none == (first.value < 1), (ranked[0], first.value, number_)


def not_ranked(truth: Truth, fact: Fact) -> frozenset[str]:
    _, lacking, of = figures.means(truth, fact.on)
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
        " against ".join(pair) for pair in truth.upon(EAGER).items() if not figures.paid(truth, pair[0])[0]
    )


def pays_off(truth: Truth, fact: Fact) -> Found:
    steps, of = figures.paid(truth, fact.who)
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
    known = {case: share for case, share in figures.early(truth).items() if share > 0}
    case = max(known, key=lambda each: known[each], default=("", ""))
    return (fact.on, fact.who) == case and (not known or agrees(fact.value, known[case])), (case, known.get(case))


def copied(truth: Truth, fact: Fact) -> Found:
    nothing, some, of, most = fact.value
    known = figures.copies(truth)
    sure = {case: gap for case, (gap, low) in known.items() if low > 0}
    if not some:
        return not sure and (nothing or not known), sure
    case = max(sure, key=lambda each: sure[each])
    is_so = (int(some), int(of), fact.on, fact.who) == (len(sure), len(known), *case)
    return is_so and agrees(most, sure[case]), (len(sure), len(known), case, sure[case])


def settings(truth: Truth, fact: Fact) -> Found:
    found: dict[str, Counter[str]] = {}
    for by_value in figures.settings(truth, figures.TITLES[fact.on]).values():
        for value, ratio in by_value.items():
            found.setdefault(value, Counter())[ratio.word] += 1
    return fact.value == {value: dict(words) for value, words in found.items()}, found


def fields(truth: Truth, fact: Fact) -> int:
    return sum(bool(figures.settings(truth, field)) for field in figures.FIELDS)


def memory(way: Any) -> Callable[[Truth, Fact], Found]:
    def check(truth: Truth, fact: Fact) -> Found:
        who, times, of, low, high = fact.value
        true = figures.extreme(truth, way)
        return (who == true[0] and (times, of) == true[1:3] and agrees(low, true[3]) and agrees(high, true[4])), true

    return check


def in_ended(truth: Truth, fact: Fact) -> Found:
    part, whole, who, on = true = figures.in_ended(truth)
    said = (fact.who, fact.on) == (who, on)
    return said and (not who or (agrees(fact.value[0], part) and agrees(fact.value[1], whole))), true


def held(truth: Truth, fact: Fact) -> Found:
    (size, who, on, kinds), *others = figures.held(truth)
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
    of = figures.endings(truth)
    true = sum(outcome == word for outcome in of.values())
    names = {asked: name for purpose in ("timed", "memory") for asked, name in truth.named(purpose).items()}
    cases = {(who, names.get(a, "")) for (a, who, _), outcome in of.items() if outcome == word}
    return count == true and (rest == len(of) if word == "ok" else not rest or rest == cases), (true, len(of))


def agree(truth: Truth, fact: Fact) -> tuple[int, int]:
    known = figures.errors(truth).values()
    return sum(error is not None and outcome not in ("wrong", "differ") for outcome, error in known), len(known)


def largest_error(truth: Truth, fact: Fact) -> Found:
    known: dict[str, float] = {}  # {stack: its largest error that passed}
    for (_, who), (outcome, error) in figures.errors(truth).items():
        if error is not None and outcome not in ("wrong", "differ"):
            known[who] = max(known.get(who, 0.0), error)
    if not fact.who:
        return not known, known
    most = max(known.values())
    return known[fact.who] == most and agrees(fact.value, most, digits=2), (most, known)


def outcomes(truth: Truth, fact: Fact) -> frozenset[str]:
    cases = figures.errors(truth).items()
    return frozenset(f"{who} on {on}" for (on, who), (outcome, _) in cases if outcome == fact.on)


def reading(truth: Truth, fact: Fact) -> Found:
    _, true = figures.readings(truth)[fact.on or fact.what.removeprefix("notice of ")]
    said = fact.value
    if isinstance(true, tuple):
        some = [Some(names_of_questions(said[2]))] if len(said) > 2 and len(true) > 2 else []
        return tuple(map(int, said[:2])) == true[:2] and (not some or some[0] == true[2]), true
    text = said[-1].removeprefix("±")
    return agrees(text, true) or f"{true:.0%}" == text.replace(" ", ""), true


def names_of_questions(listed: str) -> frozenset[str]:
    return frozenset(listed.replace(" and ", ", ").split(", ")) if "others" not in listed else frozenset()


def over_limits(truth: Truth, fact: Fact) -> frozenset[str]:
    return frozenset(cause for cause, (is_over, _) in figures.readings(truth).items() if is_over)


def badge(truth: Truth, fact: Fact) -> Found:
    word, causes = figures.badge(truth)
    return fact.value[0] == word and fact.value[1] == causes, (word, causes)


def notices(truth: Truth, fact: Fact) -> Found:
    true = {(cause, "") for cause in over_limits(truth, fact)}
    causes = {cause for cause, has in figures.weak(truth).items() if has}
    doubted = {on for on in truth.cells if (twin := truth.twin_of(on)) and twin.p <= truth.pairs.doubt}
    true |= {(cause, "") for cause in causes - {"a stack that differs from itself"}}
    true |= {("a stack that differs from itself", on) for on in doubted}
    true |= {(outcome, on) for outcome, of in figures.invalid(truth).items() for on in of}
    true |= {("stand-in", on) for on in truth.cells if truth.base(on) != truth.baseline}
    return fact.value == true, true


def notice_of_stand_in(truth: Truth, fact: Fact) -> Found:
    return (fact.who, fact.over) == (truth.base(fact.on), truth.baseline), truth.base(fact.on)


def notice_of_invalid(truth: Truth, fact: Fact) -> Found:
    outcome = fact.what.removeprefix("notice of ")
    true = figures.invalid(truth)[outcome][fact.on]
    return frozenset((fact.who or fact.value[0]).split(", ")) == true, true


def notice_of_twin(truth: Truth, fact: Fact) -> Found:
    return shown((fact.value[0], fact.value[1]), truth.twin_of(fact.on))


def missing(truth: Truth, fact: Fact) -> Found:
    true = sum(row["outcome"] == "not run" for row in truth.rows)
    return int(fact.value[0]) == true, true


def mkl(truth: Truth, fact: Fact) -> Found:
    slowed, untested = figures.mkl(truth)
    said = Some(names_of(fact.value["slowed"]))
    return said == slowed and bool(fact.value["may"]) == untested, (slowed, untested)


def fits(truth: Truth, fact: Fact) -> Found:
    low, end, high = fact.value
    largest, failing = figures.largest(truth)[fact.who]
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


def cell(truth: Truth, fact: Fact) -> Found:
    if not fact.over:
        return agrees(fact.value["time"], truth.time(fact.on, fact.who)), truth.time(fact.on, fact.who)
    ratio, word = truth.ratio(fact.on, fact.who, fact.over), fact.value["word"].strip()
    interval = fact.value["interval"]
    is_so = (
        ratio is not None
        and agrees(fact.value["ratio"], ratio.value)
        and (not interval or interval_agrees(interval, ratio.low, ratio.high))
    )
    return is_so and (not word or (ratio is not None and ratio.word == word)) and fact.over == truth.base(
        fact.on
    ), ratio and (ratio.value, ratio.low, ratio.high, ratio.word)


def unified_cell(truth: Truth, fact: Fact) -> Found:
    ratio, said = truth.pair_word(fact.on, fact.who, NATIVE), fact.value
    times = agrees(said["under"], truth.time(fact.on, fact.over)) and agrees(
        said["time"], truth.time(fact.on, fact.who)
    )
    is_so, true = shown((said["ratio"], said["interval"]), ratio)
    return is_so and times and ratio is not None and ratio.word == said["word"], (true, ratio and ratio.word)


def thread(truth: Truth, fact: Fact) -> Found:
    """Holds the word on a thread: its two stacks alone are a family, named before anything was timed."""
    said, (on, *_) = fact.value, truth.cells
    asked = tomllib.loads(THREADS.read_text(encoding="utf-8"))[on.split()[0]]
    if "apart" in said or "apart" in asked:
        return said.get("apart") == asked.get("apart"), asked
    ratio = of_thread(truth, fact, asked)
    if ratio is None:
        return False, asked
    word = {"slower": "Confirmed", "faster": "The other way round"}.get(ratio.word, "Not confirmed")
    in_part = " in part" * (word == "Confirmed" and "limit" in asked)
    is_so = said["claim"] == word + in_part and said["limit"] == asked.get("limit", "")
    if "times" not in said:
        is_so &= said["word"] == ratio.word and shown((said["ratio"], said["interval"]), ratio)[0]
        return is_so, (word, ratio.value, ratio.low, ratio.high, ratio.word)
    times, low, high = (1 / each if each else None for each in (ratio.value, ratio.high, ratio.low))
    factor = asked.get("factor", [times])
    far = ", larger" if times > 2 * factor[-1] else ", smaller" if times < factor[0] / 2 else ""
    is_so &= agrees(said["times"], times) and agrees(said["low"], low) and agrees(said["high"], high)
    ends = [f"{each:g}" for each in dict.fromkeys((factor[0], factor[-1]))]
    words = f"more than {ends[0]}" if math.isinf(factor[-1]) else " to ".join(ends)
    is_so &= said["factor"] == (words if "factor" in asked else "")
    is_so &= said["word"] == ("" if word[0] != "N" else ratio.word) and said["far"] == far * (word == "Confirmed")
    return is_so, (word, times, low, high, ratio.word, far)


def of_thread(truth: Truth, fact: Fact, asked: dict[str, Any]) -> Ratio | None:
    """Returns the ratio of the two sides that a thread names; None for other sides."""
    if "cores" in asked:
        more, fewer = map(str, asked["cores"])
        by_value = figures.settings(truth, "threads").items()
        found = [of[more] for (_, who), of in by_value if who == fact.who == asked["slower"] and more in of]
        said = fact.value["more"], fact.value["fewer"] or "1"
        return found[0] if found and said == (more, fewer) else None
    (on,) = truth.cells
    if (fact.who, fact.over) != (asked["slower"], asked["than"]):
        return None
    return truth.fixed(on, fact.who, fact.over, frozenset({fact.who}))


def compare(truth: Truth, fact: Fact) -> Found:
    """Holds one sentence on two sets."""
    assert isinstance(truth, figures.Two)
    said, two = fact.value, truth.changes
    if "changed" in said:
        of = tuple(int(said[name]) for name in ("changed", "of", "worse"))
        return not two.unlike and of == two.counted and said["limit"] == "5 %", two.counted
    if "unlike" in said:
        return said["unlike"].split(", ") == two.unlike, two.unlike
    if "drift" in said:
        return two.drift is not None and agrees(said["drift"], two.drift - 1), two.drift
    return "versions" in said or agrees(said["shift"], two.shift), two.shift


CHECKS: dict[str, Callable[[Truth, Fact], Found]] = {
    "counting": equal(lambda t, f: len(t.counting(f.on))),
    "planned": equal(lambda t, f: len(t.cells[f.on])),
    "fastest": fastest,
    "rivals": equal(lambda t, f: frozenset(t.leaders(f.on)) - {f.who}),
    "ratio": lambda t, f: shown(f.value, t.ratio(f.on, f.who, f.over)),
    "verdict": verdict,
    "reason": reason,
    "no ratio": no_ratio,
    "is the baseline": equal(lambda t, f: f.who == t.base(f.on) == t.baseline),
    "stands for": stands_for,
    "alone": equal(alone),
    "partly": equal(lambda t, f: t.cells[f.on][f.who].failed),
    "failed": failed,
    "time": number(lambda t, f: t.time(f.on, f.who) if f.who in t.counting(f.on) else None),
    "best": number(lambda t, f: min(seconds(t.processes(f.on, f.who)))),
    "spread": number(lambda t, f: t.spread(f.on, f.who)),
    "spreads": spreads,
    "modes": equal(with_modes),
    "long first": long_first,
    "total": total,
    "leaders": equal(lambda t, f: frozenset(t.leaders(f.on))),
    "verb": equal(lambda t, f: len(t.leaders(f.on)) == 1),
    "leaders counted": counted_leaders,
    "lead range": lead_range,
    "lower median": lower_median,
    "own formulation": own_formulation,
    "best of each": best_of_each,
    "same formulation": same_formulation,
    "mean of": mean_of,
    "not ranked": equal(not_ranked),
    "left out": equal(lambda t, f: frozenset(figures.means(t, f.on)[1])),
    "no means": lambda t, f: (not t.over_own and f.over == t.baseline, [*t.over_own]),
    "means": lambda t, f: (f.value == figures.groups(t), figures.groups(t)),
    "thread": thread,
    "compare": compare,
    "open": open_question,
    "told": equal(lambda t, f: frozenset(of_track(t, f.on))),
    "led together": led_together,
    "groups told": equal(lambda t, f: min(3, len(alike(t, f.on)))),
    "led range": led_range,
    "leads most": equal(leads_most),
    "asked": equal(asked),
    "lowest on": lowest_on,
    "lowest others": equal(lambda t, f: (len(lowest(t, t.cells)) - f.value[1], f.value[1])),
    "questions": equal(lambda t, f: sum(bool(t.counting(on)) for on in t.cells) and len(t.cells)),
    "latency": latency,
    "least total": least_total,
    "more totals": equal(more_totals),
    "without total": without_total,
    "never pays": equal(never_pays),
    "pays off": pays_off,
    "free": free,
    "unified pairs": equal(lambda t, f: len(t.upon(NATIVE))),
    "early": early,
    "copies": copied,
    "settings": settings,
    "fields": equal(fields),
    "least memory": memory(min),
    "most memory": memory(max),
    "in ended": in_ended,
    "held": held,
    "ended": ended,
    "endings": equal(lambda t, f: len({*figures.endings(t).values()} - {"ok"})),
    "agree": equal(agree),
    "largest error": largest_error,
    "outcomes": equal(outcomes),
    "reading": reading,
    "over their limits": equal(over_limits),
    "noisy": equal(lambda t, f: figures.readings(t)["noisy blocks"][1]),
    "badge": badge,
    "notices": notices,
    "notice of stand-in": notice_of_stand_in,
    "notice of a stack that differs from itself": notice_of_twin,
    "notice of an unfinished run": missing,
    "notice of one block": lambda t, f: (figures.weak(t)["one block"], None),
    "notice of unpinned environments": lambda t, f: (figures.weak(t)["unpinned environments"], None),
    **{f"notice of {outcome}": notice_of_invalid for outcome in ("wrong", "differ", "implausible")},
    **{
        f"notice of {cause}": reading
        for cause in ("wide intervals", "a wide noise floor", "noisy blocks", "other programs")
    },
    "mkl": mkl,
    "fits": fits,
    "searched": equal(lambda t, f: len(figures.largest(t))),
    "fit": equal(fit),
    "cell": cell,
    "unified cell": unified_cell,
    "floor": lambda t, f: shown((f.value["ratio"], f.value["interval"]), t.twin_of(f.on)),
}


def all_wrong(spoken: Iterable[tuple[str, str, Truth]]) -> list[Violation]:
    return [violation for kind, sentence, truth in spoken for violation in wrong_in(kind, sentence, truth)]
