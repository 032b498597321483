"""The sections on how processes ended and on their memory: peaks, holders, outcomes, errors, sizes that fit."""

from __future__ import annotations

import math
import re
from collections import Counter

from tests.sentences.facts import processes
from tests.sentences.facts.processes import Largest
from tests.sentences.kinds.held import Groups, Held, agrees, kind, outcome_of, some

PEAK = r"{L:NAME} on {N:NAME_n} of {N:NAME_of} questions?(?: each)? \({B:NAME_low}(?: to {B:NAME_high})?\)"
PEAKS = (
    rf"The lowest peak is of {PEAK.replace('NAME', 'least')}, the highest of {PEAK.replace('NAME', 'most')}\."
    r"(?: Ended processes \(compilers\) held at most {B:part}, of the {B:whole} of {S:who} on {Q:on}\.)?"
)
FITS = r"(?:{N:low}(?: to {N:high})?(?P<more> or more)?|none)(?: \((?P<why>.*)\))?"
LIMIT = r"(?:[Uu]nder (?P<limit>[\d.]+ [KMGT]?i?B) )?"
FRONTIER = (
    rf"{LIMIT}{{L:first}} (?P<verb>fits?) the largest (?P<axis>\w+): (?P<most>[^;]+)(?:; (?P<others>.+))?\.",
    rf"{LIMIT}[Tt]he largest (?P<axis>\w+) that was tried, {{N:tried}}, fits on (?:(?P<all>every stack)|{{L:first}})(?:; (?P<others>.+))?\.",
    rf"{LIMIT}[Ii]t is (?P<open>open) which stack fits the largest (?P<axis>\w+); (?P<others>.+)\.",
)


@kind("peaks")
def peaks(held: Held) -> None:
    said = held.read(PEAKS)
    for name, way in (("least", min), ("most", max)):
        stacks, times, of, *ends = processes.extreme(held.truth, way)
        held.same(f"{name} memory", some(said[name]), stacks)
        held.same(f"{name} on", (said.number(f"{name}_n"), said.number(f"{name}_of")), (times, of))
        held.ends(f"{name} memory", said[f"{name}_low"], said[f"{name}_high"], ends)
    part, whole, who, on = processes.in_ended(held.truth)
    held.same("most in ended processes", (said["who"], said["on"]), (who, on))
    if who:
        held.near("in ended processes", said["part"], part)
        held.near("of a peak", said["whole"], whole)


@kind("holders")
def holders(held: Held) -> None:
    said = held.read(
        r"{S:who} holds most on {Q:on}: {B:held}(?:, of which {B:part} (?P<kind>.+?))?\.",
        r"{C:cases} hold most: {B:held}\.",
        r"No stack keeps a record of what it holds\.",
    )
    known = processes.held(held.truth)
    size, *_, kinds = known[0]
    most = frozenset(f"{who} on {on}" for size_, who, on, _ in known if size_ == size > 0)
    cases = (
        some(said["cases"]) if said["cases"] else frozenset({f"{said['who']} on {said['on']}"} if said["who"] else ())
    )
    held.same("holds most", cases, most)
    if most:
        held.near("holds", said["held"], size)
    held.same("a kind", bool(said["kind"]), bool(kinds) and len(most) == 1)
    if said["kind"]:
        held.near("of which", said["part"], kinds[said["kind"]])
        held.same("most of a kind", kinds[said["kind"]], max(kinds.values()))


@kind("endings")
def endings(held: Held) -> None:
    said = held.read(
        r"{N:ok} of {N:of} planned cases? ended ok(?:; (?P<others>[^;]+?))?"
        r"(?:; apart from these, {N:aside} process(?:es)? for programs, profiles and the like didn't)?\."
    )
    true, names = processes.endings(held.truth), held.truth.named("timed") | held.truth.named("memory")
    counts = Counter(true.values())
    held.same("ended ok", (said.number("ok"), said.number("of")), (counts["ok"], len(true)))
    told = {"ok"}
    for each in filter(None, re.split(r", (?=[\d,]+ )", said["others"])):
        about = held.read(r"{N:count} (?P<word>[a-z ]+?)(?: \((?P<cases>.+)\))?", text=each)
        word = outcome_of(about["word"])
        told.add(word)
        held.same(word, about.number("count"), counts[word])
        cases = {(one["who"], one["on"]) for one in held.every("{S:who} on {Q:on}", about["cases"])}
        those = {(who, names.get(asked, "")) for (asked, who, _), end in true.items() if end == word}
        held.so(f"cases that are {word}", not about["cases"] or cases == those, cases, those)
    held.same("outcomes", told, {"ok", *counts})


@kind("equivalence")
def equivalence(held: Held) -> None:
    said = held.read(
        r"{N:ok} of {N:of} cases? agree with the reference(?:; the largest error is (?P<error>[\d.e+-]+) \({L:who}\))?"
        r"(?:; wrong: (?P<wrong>{C}))?(?:; these differ, and nothing says which is right: (?P<differ>{C}))?"
        r"(?:; weights differ on {K:weights})?\."
    )
    known = processes.errors(held.truth)
    passed: dict[str, float] = {}  # {stack: its largest error}
    judged = {case: error for case, (end, error) in known.items() if end not in ("wrong", "differ")}
    right = [(who, error) for (_, who), error in judged.items() if error is not None]
    for who, error in right:
        passed[who] = max(passed.get(who, 0.0), error)
    most = max(passed.values(), default=0.0)
    held.same("agree", (said.number("ok"), said.number("of")), (len(right), len(known)))
    held.same("largest error of", some(said["who"]), frozenset(who for who, error in passed.items() if error == most))
    if passed:
        held.near("largest error", said["error"], most, digits=2)
    for word in ("wrong", "differ"):
        cases = frozenset(f"{who} on {on}" for (on, who), (end, _) in known.items() if end == word)
        held.same(word, some(said[word]), cases)


@kind("memory")
def memory(held: Held) -> None:
    said = held.read(r"{N:ok} of {N:of} cases? fit\.")
    rows = [row["outcome"] for row in held.truth.rows if row["purpose"] == "memory"]
    held.same("fit", (said.number("ok"), said.number("of")), (rows.count("ok"), len(rows)))


@kind("frontier")
def frontier(held: Held) -> None:
    on, _, text = held.text.partition(": ")
    said, (axis, limit, stacks) = held.read(*FRONTIER, text=text), processes.largest(held.truth)[on]
    ranked = sorted(stacks, key=lambda who: (-stacks[who].low, who))
    first = [who for who in ranked if stacks[who].low == stacks[ranked[0]].low]
    held.same("axis", said["axis"], axis)
    held.so("limit", agrees(said["limit"], limit) if said["limit"] else limit is None, said["limit"], limit)
    capped = [who for who in first if stacks[who].untried]
    others = [stacks[who] for who in ranked if who not in first]
    alone = len(first) == 1 or all(stacks[who].furthest == stacks[who].low for who in first)
    beaten = all(each.furthest < stacks[first[0]].low for each in others if each.low or not each.stopped)
    word = "tried" if capped == first else "largest" if alone and beaten else "open"
    held.same("says", "tried" if said["tried"] else "open" if said["open"] else "largest", word)
    each = said["others"].split(", ") if said["others"] else []
    fits = [held.read(f"{{S:who}} fits {FITS}", text=text) for text in each]
    rest = ranked if word == "open" else [who for who in ranked if who not in first]
    held.same("in order", [one["who"] for one in fits], rest)
    for one in fits:
        that_fits(held, one, stacks[one["who"]])
    if word == "open":
        return
    names = frozenset(ranked) if said["all"] else some(said["first"])
    held.same("fits most", names, frozenset(first))
    held.so("every stack", bool(said["all"]) == (word == "tried" and not others), said["all"], ranked)
    if said["tried"]:
        held.same("the largest tried", said.number("tried"), stacks[first[0]].low)
    else:
        held.same("verb", said["verb"], "fits" if len(first) == 1 else "fit")
        that_fits(held, held.read(FITS, text=said["most"]), stacks[first[0]])


def that_fits(held: Held, said: Groups, true: Largest) -> None:
    """Holds the largest size that fits, or the sizes between which it lies, and why its search ended."""
    is_open = true.high != true.low + 1
    held.same("largest", said.number("low"), true.low)
    held.same("at most", said.number("high"), (true.high or 1) - 1 if is_open else 0)
    held.same("or more", bool(said["more"]), math.isinf(true.furthest) and bool(true.low))
    failed = f"its search failed: {true.stopped[0]:,} ended as {true.stopped[1]}" if true.stopped else ""
    unasked = "no larger one was tried" if true.high is None and true.low and not failed else ""
    held.same("search", said["why"], (failed or unasked) if is_open else "")
