"""What the sentence on the map says, and its frames."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tests.sentences.said.grammar import Fact, Grammar, shares, some
from tests.sentences.kinds.shown import WORDS, number_of

RANGE = r"(?: \((?P<low>[\d.,]+)×?(?: to (?P<high>[\d.,]+)×)? {S:over}\))?"


def map_sentence(text: str, g: Grammar) -> Iterator[Fact]:
    if text == "No question has two stacks with times that count.":
        yield Fact("asked", value=0)
    elif one := g.maybe(r"One block decides nothing: {S:who} has the lowest median on (?P<share>.+)\.", text):
        yield Fact("lowest on", who=one["who"], value=shares(one["share"]))
    else:
        tracks = re.split(r"(?:^|; )(\w+) track: ", text.removesuffix("."), flags=re.IGNORECASE)
        if tracks[0]:
            yield from clauses(tracks[0], "", g)
        for track, part in zip(tracks[1::2], tracks[2::2], strict=True):
            yield from clauses(part, track.lower(), g)


def clauses(text: str, track: str, g: Grammar) -> Iterator[Fact]:
    full = (
        {name.replace(f" {track} track", ""): name for name in g.questions if f"{track} track" in name} if track else {}
    )
    g = Grammar([*g.questions, *full], g.stacks)
    told, first, number = [], True, 0
    for part in re.split(r"; (?![^(]*\))", text):
        lowered = (
            part[:1].lower() + part[1:]
            if re.match(rf"(?:{'|'.join(WORDS)}|neither|none)\b", part, re.IGNORECASE)
            else part
        )
        about = next(filter(None, (g.maybe(pattern, lowered) for pattern in FEW)), None)
        if about:
            on = full.get(about["on"], about["on"])
            told.append(on)
            yield from clause(about, on, g)
            continue
        about = g.read(
            rf"(?:{{L:who}}|(?P<count>{{N}}) stacks(?:, {{S:among}} among them,)?) (?P<verb>leads?|shares? the lead on) (?P<share>both questions|all {{N}} questions|the question|{{N}} of {{N}} questions|{{N}})(?P<alone> alone|, {{N}} alone)?{RANGE}",
            part,
        )
        yield from many(about, track, is_first=first)
        first, number = False, number + 1
    if number:
        yield Fact("groups told", track, value=number)
    if told:
        yield Fact("told", on=track, value=frozenset(told))


OWN = r"(?:, a formulation that only (?P<own>\w+) was given \((?P<told>[^)]*)\))?"


FEW = (
    rf"{{L:who}} (?P<verb>leads?|share the lead on) {{Q:on}}{RANGE}{OWN}",
    rf"(?P<count>{{N}}) stacks(?:, {{S:among}} among them,)? share the lead on {{Q:on}}{RANGE}{OWN}",
    r"(?:neither of {L:all}|none of {N:open} stacks) is shown to be faster on {Q:on}",
)


def clause(about: dict[str, str], on: str, g: Grammar) -> Iterator[Fact]:
    if "open" in about:
        yield Fact("open", on, value=number_of(about["open"]) if about["open"] else some(about["all"]))
        return
    if "count" in about:
        yield Fact("leaders counted", on, value=(number_of(about["count"]), about["among"]))
    else:
        yield Fact("leaders", on, value=some(about["who"]))
        yield Fact("verb", on, value=about["verb"] == "leads")
    yield Fact("own formulation", on, value=about["own"])
    for each in about["told"].split("; ") if about["own"] and about["told"] != "no two frameworks share one" else ():
        one = g.read(r"with (?P<name>\w+) (?:{L:lead} (?:leads|share the lead)|nobody leads)", each)
        yield Fact("same formulation", on, value=(one["name"], None, some(one["lead"])))
    yield Fact("lead range", on, over=about["over"], value=(about["low"], about["high"] or about["low"]))


def many(about: dict[str, str], track: str, *, is_first: bool) -> Iterator[Fact]:
    number, of = shares(about["share"])
    who = number_of(about["count"]) if about["count"] else some(about["who"])
    alone = number if about["alone"] == " alone" else int(re.sub(r"\D", "", about["alone"]) or 0)
    yield Fact("led together", track, value=(who, number, alone, about["among"], about["verb"] == "leads"))
    if of or is_first:
        yield Fact("asked", track, value=of)
    if is_first:
        yield Fact("leads most", track, value=number)
    if about["low"] or is_first:
        yield Fact(
            "led range", track, about["who"], about["over"], (number, about["low"], about["high"] or about["low"])
        )


def behind(text: str, g: Grammar) -> Iterator[Fact]:
    """Reads the pairs of one question, `question: slower < faster, slower < faster`."""
    on, _, pairs = text.rpartition(": ")
    yield Fact("behind", on, value={tuple(pair.split(" < ")) for pair in pairs.split(", ") if pair})


def leads(text: str, g: Grammar) -> Iterator[Fact]:
    """Reads the frames of one question, `question: a, b`."""
    on, _, names = text.rpartition(": ")
    yield Fact("leaders", on, value=frozenset(filter(None, names.split(", "))))
