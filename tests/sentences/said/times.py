"""What the sections on times say: means, total times, pairs of stacks, clocks, settings."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tests.sentences.said.grammar import Fact, Grammar, Some
from tests.sentences.kinds.shown import number_of

GROUPS = r"(?P<group>[a-z0-9][^;:()]*) \({N:of}\), (?:(?P<none>none, since no stack answered all)|none is over 1× \({S:next} {R:next_mean}\)|{S:who} {R:mean})"


def summary(text: str, g: Grammar) -> Iterator[Fact]:
    if g.maybe(r"No ratio over {S:over} can be formed\.", text):
        yield Fact("no means", over=g.read(r"No ratio over {S:over} can be formed\.", text)["over"])
        return
    if left := g.maybe(r"Not ranked over (?P<group>[^:]*), since they lack a question: (?P<who>.+)\.", text):
        pairs = g.pattern(r"({S}) \((\d+) of (\d+)\)").findall(left["who"])
        others = re.search(r" and (\d+) others$", left["who"])
        lacking = Some(frozenset(f"{who} {lacks} of {of}" for who, lacks, of in pairs), int(others[1]) if others else 0)
        yield Fact("not ranked", left["group"], value=lacking)
        return
    whole = g.read(r"Greatest mean speedup over {S:over}: (?P<groups>.+)\.", text)
    groups = whole["groups"].split("; ")
    for each in groups:
        one = g.read(GROUPS, each)
        who, mean = one["who"] or one["next"], one["mean"] or one["next_mean"]
        yield Fact("mean of", one["group"], who, whole["over"], (mean, one["of"], bool(one["next"])))
    yield Fact("means", value=len(groups))


def comparisons(text: str, g: Grammar) -> Iterator[Fact]:
    one = g.read(
        r"Lowest median of a step, on {N:of} questions?: (?P<shares>.+)\.|No stack has a time that counts\.", text
    )
    said = re.split(r", | and ", one["shares"]) if one["shares"] else []
    if said and said[-1].endswith("others"):
        yield Fact("lowest others", value=(int(said.pop().split()[0]), len(said)))
    for part in said:
        about = g.read("{S:who} on {N:count}", part)
        yield Fact("lowest on", who=about["who"], value=(number_of(about["count"]), 0))
    yield Fact("questions", value=int(one["of"] or 0))


def break_even(text: str, g: Grammar) -> Iterator[Fact]:
    if text.startswith("Not in the table: "):
        yield Fact(
            "without total",
            value=frozenset(
                m.groups() for m in g.pattern(r"(?:Not in the table: |, )({S}) on ({Q}) \(").finditer(text)
            ),
        )
        return
    one = g.read(
        r"Least total time on {Q:on}(?P<whole>, the first call included)?: (?P<legs>.+?)(?: \({N:more} more comparisons? below\))?\.(?: The first run of {S:last} takes {T:first}\.)?",
        text,
    )
    legs = one["legs"].split(", then ")
    read = [g.read(r"{S:who}(?: up to step {N:step}| from the first step on)?", leg) for leg in legs]
    yield Fact("least total", one["on"], value=tuple((leg["who"], leg["step"]) for leg in read))
    yield Fact("long first", one["on"], read[-1]["who"], value=(one["last"], one["first"]))
    if one["whole"]:
        yield Fact("more totals", value=int(one["more"] or 0))


def compiled(text: str, g: Grammar) -> Iterator[Fact]:
    one = g.read(
        r"(?:Compiling pays off at step: (?P<groups>.+?)(?:; it isn't shown to pay off for (?P<never>.+))?|Compiling isn't shown to pay off for (?P<none>.+))\.",
        text,
    )
    never = re.split(r", | and ", one["never"] or one["none"]) if one["never"] or one["none"] else []
    others = int(never.pop().split()[0]) if never and never[-1].endswith("others") else 0
    pairs = {" against ".join(g.read("{S:who} against {S:over}", each).values()) for each in never}
    yield Fact("never pays", value=Some(frozenset(pairs), others))
    for group in filter(None, one["groups"].split("; ")):
        about, rest = g.start("over {S:over} ", group)
        for each in re.split(r", (?=[a-z])", rest):
            pair = g.read(r"{S:who} {N:low}(?: to {N:high})?(?: \({N:paid} of {N:of}(?: questions?)?\))?", each)
            values = tuple(pair[name] for name in ("low", "high", "paid", "of"))
            yield Fact("pays off", who=pair["who"], over=about["over"], value=values)


def unified(text: str, g: Grammar) -> Iterator[Fact]:
    for part in text.removesuffix(".").split("; "):
        one = g.read(
            r"{S:who} over {S:over}: free on {N:free} of {N:of} questions?(?: \({K:where}\))?(?:, at most (?P<worst>[\d.,]+) times as long \({Q:worst_on}\))?(?:, undecided on {N:open})?",
            part,
        )
        keys = {name: one.pop(name) for name in ("who", "over")}
        yield Fact("free", **keys, value=tuple(one.items()))
    yield Fact("unified pairs", value=text.count(": free on"))


def transfers(text: str, g: Grammar) -> Iterator[Fact]:
    if text.startswith("Not in the table: ") or text == "No stack has times by other clocks than synced.":
        return
    one = g.read(
        r"(?:Timing the call alone would miss up to {P:early} of a step \({S:early_who} on {Q:early_on}\)\. ?)?(?:(?P<none>No copy of a result to host memory is shown to add time: no difference is above its noise)\.|Copying the result to host memory adds time in {N:copied} of {N:of} cases?, at most {T:most} \({S:who} on {Q:on}\)\.|What the copy of a result to host memory adds has no interval.*\.)?",
        text,
    )
    yield Fact("early", one["early_on"], one["early_who"], value=one["early"])
    yield Fact("copies", one["on"], one["who"], value=(bool(one["none"]), one["copied"], one["of"], one["most"]))


def ways(text: str, g: Grammar) -> Iterator[Fact]:
    parts = [part.partition(": ") for part in text.removesuffix(".").split("; ")]
    for title, _, said in parts:
        counts: dict[str, dict[str, int]] = {}
        value = ""
        for word in said.split(", "):
            *name, number, verdict = word.split()
            value = name[0] if name else value
            counts.setdefault(value, {})[verdict] = int(number)
        yield Fact("settings", on=title.lower(), value=counts)
    yield Fact("fields", value=len(parts))
