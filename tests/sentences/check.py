"""Holds what sentences say against the reader: `wrong_in` returns what is false, each with what is true."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from tests.sentences.facts.blocks import seconds
from tests.sentences.checks import machine as noise
from tests.sentences.checks.found import Found, equal, number, shown
from tests.sentences.checks.headline import (
    alone,
    best_of_each,
    failed,
    fastest,
    long_first,
    lower_median,
    no_ratio,
    reason,
    same_formulation,
    spreads,
    stands_for,
    total,
    verdict,
    with_modes,
)
from tests.sentences.checks.leads import (
    alike,
    asked,
    counted_leaders,
    lead_range,
    leads_most,
    led_range,
    led_together,
    lowest,
    lowest_on,
    of_track,
    open_question,
    own_formulation,
)
from tests.sentences.checks.processes import agree, ended, fit, fits, held, in_ended, largest_error, memory, outcomes
from tests.sentences.checks.tables import cell, compare, thread, unified_cell
from tests.sentences.checks.times import (
    copied,
    early,
    fields,
    free,
    latency,
    least_total,
    mean_of,
    more_totals,
    never_pays,
    not_ranked,
    pays_off,
    settings,
    without_total,
)
from tests.sentences.facts import machine, means, processes
from tests.sentences.facts.reader import NATIVE, Truth
from tests.sentences.said.grammar import Fact, Grammar, NotUnderstood
from tests.sentences.said.kinds import facts_in


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
    "behind": equal(lambda t, f: t.behind(f.on)),
    "verb": equal(lambda t, f: len(t.leaders(f.on)) == 1),
    "leaders counted": counted_leaders,
    "lead range": lead_range,
    "lower median": lower_median,
    "own formulation": own_formulation,
    "best of each": best_of_each,
    "same formulation": same_formulation,
    "mean of": mean_of,
    "not ranked": equal(not_ranked),
    "no means": lambda t, f: (not t.over_own and f.over == t.baseline, [*t.over_own]),
    "means": lambda t, f: (f.value == means.groups(t), means.groups(t)),
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
    "endings": equal(lambda t, f: len({*processes.endings(t).values()} - {"ok"})),
    "agree": equal(agree),
    "largest error": largest_error,
    "outcomes": equal(outcomes),
    "reading": noise.reading,
    "over their limits": equal(noise.over_limits),
    "noisy": equal(lambda t, f: machine.readings(t)["noisy blocks"][1]),
    "badge": noise.badge,
    "notices": noise.notices,
    "notice of stand-in": noise.notice_of_stand_in,
    "notice of a stack that differs from itself": noise.notice_of_twin,
    "notice of an unfinished run": noise.missing,
    "notice of one block": lambda t, f: (machine.weak(t)["one block"], None),
    "notice of unpinned environments": lambda t, f: (machine.weak(t)["unpinned environments"], None),
    **{f"notice of {outcome}": noise.notice_of_invalid for outcome in ("wrong", "differ", "implausible")},
    **{
        f"notice of {cause}": noise.reading
        for cause in ("wide intervals", "a wide noise floor", "noisy blocks", "other programs")
    },
    "mkl": noise.mkl,
    "fits": fits,
    "searched": equal(lambda t, f: len(processes.largest(t))),
    "fit": equal(fit),
    "cell": cell,
    "unified cell": unified_cell,
    "floor": lambda t, f: shown((f.value["ratio"], f.value["interval"]), t.twin_of(f.on)),
}


def all_wrong(spoken: Iterable[tuple[str, str, Truth]]) -> list[Violation]:
    return [violation for kind, sentence, truth in spoken for violation in wrong_in(kind, sentence, truth)]
