"""The sentence on the map, its frames, and the pairs of which one is slower."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from typing import Any

from tests.sentences.facts.reader import Truth
from tests.sentences.kinds.formulations import only_given, told_beside
from tests.sentences.kinds.held import WORDS, Groups, Held, Names, agrees, kind, shares, some

RANGE = r"(?: \((?P<low>[\d.,]+)×?(?: to (?P<high>[\d.,]+)×)? {S:over}\))?"
OWN = r"(?:, a formulation that only (?P<own>\w+) was given \((?P<told>[^)]*)\))?"
COUNTED = r"(?P<count>{N}) stacks(?:, {S:among} among them,)?"
ONE = (
    rf"{{L:who}} (?P<verb>leads?|share the lead on) {{Q:on}}{RANGE}{OWN}",
    rf"{COUNTED} share the lead on {{Q:on}}{RANGE}{OWN}",
    r"(?P<open>neither of {L:all}|none of {N:none} stacks) is shown to be faster on {Q:on}",
)
MANY = (
    rf"(?:{{L:who}}|{COUNTED}) (?P<verb>leads?|shares? the lead on) (?P<share>both questions|all {{N}} questions|"
    rf"the question|{{N}} of {{N}} questions|{{N}})(?P<alone> alone|, {{N}} alone)?{RANGE}"
)


@kind("map")
def map_sentence(held: Held) -> None:
    truth, text = held.truth, held.text
    if text == "No question has two stacks with times that count.":
        held.same("questions of two stacks", 0, len(truth.led()))
    elif one := held.maybe(r"One block decides nothing: (?P<who>\S+) has the lowest median on (?P<share>.+)\."):
        lowest = [truth.counting(on)[0] for on in truth.led()]
        if truth.over_words != truth.baseline:
            lowest = [who.partition(":")[0] for who in lowest]
        times = Counter(lowest)
        said = *shares(one["share"]), times[one["who"]]
        held.same("lowest median most often", said, (times[one["who"]], len(truth.led()), max(times.values())))
    else:
        tracks = re.split(r"(?:^|; )(\w+) track: ", text.removesuffix("."), flags=re.IGNORECASE)
        if tracks[0]:
            clauses(held, tracks[0], "")
        else:
            known = {re.findall(r"(\w+) track", on)[0] for on in truth.led()}
            held.same("tracks", {track.lower() for track in tracks[1::2]}, known)
        for track, part in zip(tracks[1::2], tracks[2::2], strict=True):
            clauses(held, part, track.lower())


def clauses(held: Held, text: str, track: str) -> None:
    """Holds the clauses of one track: each of one question, or each of the questions that the same stacks lead."""
    asked = {on: of for on, of in held.truth.led().items() if not track or f"{track} track" in on}
    short = {on.replace(f" {track} track", ""): on for on in held.names.questions if track and f"{track} track" in on}
    whole, held.names = held.names, Names([*held.names.questions, *short], held.names.stacks)
    told, number = [], 0
    for part in re.split(r"; (?![^(]*\))", text):
        lowered = re.sub(rf"^(?:{'|'.join(WORDS)}|neither|none)\b", lambda m: m[0].lower(), part, flags=re.IGNORECASE)
        if about := held.maybe(*ONE, text=lowered):
            told.append(short.get(about["on"], about["on"]))
            of_one(held, about, told[-1])
        else:
            of_many(held, held.read(MANY, text=part), asked, is_first=number == 0)
            number += 1
    if number:
        held.same("groups of leaders told", number, min(3, len(alike(asked))))
    if told:
        held.same("questions told", sorted(told), sorted(asked))
    held.names = whole


def of_one(held: Held, said: Groups, on: str) -> None:
    truth = held.truth
    leaders, counting = truth.leaders(on), truth.counting(on)
    names = some(said["all"] or said["who"])
    if said["open"]:
        held.same("open", (len(leaders), said.number("none")), (len(counting), len(counting) if said["none"] else 0))
        held.so("open among", said["none"] or names == frozenset(counting), names, counting)
        return
    if said["count"]:
        base = truth.baseline if truth.baseline in leaders else ""
        held.same("leaders counted", (said.number("count"), said["among"]), (len(leaders), base))
    else:
        held.same("leaders", names, frozenset(leaders))
        held.same("leads", said["verb"] == "leads", len(leaders) == 1)
    held.same("only one framework's formulation", said["own"], only_given(truth, on))
    if said["own"]:
        told_beside(held, on, said["told"])
    ratios = faster_ratios(truth, [on], leaders)
    is_shown = len(ratios) == len(leaders) < len(counting)
    held.so("range", is_range(truth, said, ratios if is_shown else []), said, ratios)


def of_many(held: Held, said: Groups, asked: dict[str, list[str]], *, is_first: bool) -> None:
    """Holds that stacks which lead the same questions are told together, and that one which leads none alone shares the
    lead: else a tie reads like a win."""
    number, of = shares(said["share"])
    alone = number if said["alone"] == " alone" else int(re.sub(r"\D", "", said["alone"]) or 0)
    groups: list[Any] = []
    for questions, stacks in alike(asked).items():
        by_itself = sum({*asked[on]} == stacks for on in questions) if len(stacks) == 1 else 0
        base = held.truth.baseline if said["count"] and held.truth.baseline in stacks else ""
        ratios = faster_ratios(held.truth, questions, stacks) if is_first else []
        groups.append((stacks, len(questions), by_itself, base, ratios))
    fitting = any(
        (said.number("count") == len(stacks) if said["count"] else some(said["who"]) == stacks)
        and (number, alone, said["among"]) == true
        and (said["verb"] == "leads") == (true[1] > 0)
        and is_range(held.truth, said, ratios)
        for stacks, *true_, ratios in groups
        for true in [tuple(true_)]
    )
    held.so("leaders together", fitting, dict(said), groups)
    if of or is_first:
        held.same("of all questions", of, len(asked))
    if is_first:
        held.same("leads most", number, max(map(len, alike(asked))))


def alike(asked: dict[str, list[str]]) -> dict[frozenset[str], frozenset[str]]:
    """Returns {questions: the stacks that lead exactly these}."""
    led: dict[str, set[str]] = defaultdict(set)
    for on, leaders in asked.items():
        for who in leaders:
            led[who].add(on)
    return {frozenset(of): frozenset(who for who in led if led[who] == of) for of in led.values()}


def faster_ratios(truth: Truth, questions: Any, stacks: Any) -> list[float]:
    """Returns the ratios over the baseline itself that are shown to be faster."""
    own = [on for on in questions if truth.base(on) == truth.own(on)]
    ratios = [truth.ratio(on, who, truth.own(on)) for on in own for who in stacks]
    return [ratio.value for ratio in ratios if ratio and ratio.word == "faster"]


def is_range(truth: Truth, said: Groups, ratios: list[float]) -> bool:
    if not ratios or not said["low"]:
        return not ratios and not said["low"]
    ends = (said["low"], min(ratios)), (said["high"] or said["low"], max(ratios))
    return said["over"] == truth.over_words and all(agrees(*end) for end in ends)


@kind("behind")
def behind(held: Held) -> None:
    """Holds the pairs of one question, `question: slower < faster, slower < faster`."""
    on, _, pairs = held.text.rpartition(": ")
    held.same("pairs", {tuple(pair.split(" < ")) for pair in pairs.split(", ") if pair}, held.truth.behind(on))


@kind("row")
def row_of_map(held: Held) -> None:
    """Holds the map's cells of one question, `question: jax_jit faster leads 8.34× [6.51, 10.7]; numpy baseline`."""
    cell = r"{S:who} (?P<word>\w+)(?P<leads> leads)?(?: {R:ratio} ?(?P<interval>{I})?|(?P<none> –))?"
    on, _, text = held.text.partition(": ")
    truth, told = held.truth, [held.read(cell, text=each) for each in text.split("; ") if each]
    held.same("stacks whose times count", {said["who"] for said in told}, {*truth.counting(on)})
    framed = {said["who"] for said in told if said["leads"]}
    held.same("frames", framed, {*truth.leaders(on)} if truth.decided else set())
    for said in told:
        who, base = said["who"], truth.base(on)
        ratio = truth.ratio(on, who, base)
        word = "baseline" if who == base else ratio.word if ratio else "none"
        held.same(f"verdict of {who}", said["word"], word)
        if ratio and who != base:
            held.ratio(f"ratio of {who}", said, ratio)
