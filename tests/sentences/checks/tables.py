"""Whether published tables, threads and comparisons of two sets say what is so."""

from __future__ import annotations

import math
import tomllib
from pathlib import Path
from typing import Any

from tests.sentences.checks.found import Found, shown
from tests.sentences.facts.estimates import Ratio
from tests.sentences.facts import settings as ways
from tests.sentences.facts import two_sets
from tests.sentences.facts.reader import NATIVE, Truth
from tests.sentences.said.grammar import Fact
from tests.sentences.kinds.shown import agrees, interval_agrees

THREADS = Path(__file__).parents[3] / "examples" / "threads.toml"


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
        by_value = ways.settings(truth, "threads").items()
        found = [of[more] for (_, who), of in by_value if who == fact.who == asked["slower"] and more in of]
        said = fact.value["more"], fact.value["fewer"] or "1"
        return found[0] if found and said == (more, fewer) else None
    (on,) = truth.cells
    if (fact.who, fact.over) != (asked["slower"], asked["than"]):
        return None
    return truth.fixed(on, fact.who, fact.over, frozenset({fact.who}))


def compare(truth: Truth, fact: Fact) -> Found:
    """Holds one sentence on two sets."""
    assert isinstance(truth, two_sets.Two)
    said, two = fact.value, truth.changes
    if "changed" in said:
        of = tuple(int(said[name]) for name in ("changed", "of", "worse"))
        return not two.unlike and of == two.counted and said["limit"] == "5 %", two.counted
    if "unlike" in said:
        return said["unlike"].split(", ") == two.unlike, two.unlike
    if "drift" in said:
        return two.drift is not None and agrees(said["drift"], two.drift - 1), two.drift
    return "versions" in said or agrees(said["shift"], two.shift), two.shift
