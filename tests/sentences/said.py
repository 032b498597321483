"""What each kind of sentence says, as typed facts: what, on which question, of whom, over whom, and the value shown."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from tests.sentences.shown import WORDS, number_of

COUNT = rf"(?:[\d,]+|{'|'.join(WORDS)})"
SHAPES = {
    "N": COUNT,
    "T": r"[\d.,]+ (?:s|ms|µs|ns)",
    "B": r"[\d.,]+ (?:B|KiB|MiB|GiB|TiB)",
    "R": r"[\d.,]+(?:e[+-]\d+)?×",
    "I": r"[\[(][^\])]+[\])]",
    "P": r"(?:< )?[±+-]?[\d.]+ %",
    "X": r".+?",
}


@dataclass(frozen=True)
class Fact:
    what: str
    on: str = ""
    who: str = ""
    over: str = ""
    value: Any = None


@dataclass(frozen=True)
class Some:
    """A list in a sentence: the names it has, and how many others it counts."""

    names: frozenset[str]
    others: int = 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, frozenset) and self.names <= other and len(other) == len(self.names) + self.others

    def __hash__(self) -> int:
        return hash(self.names)


class NotUnderstood(Exception):
    """A sentence that no pattern of its kind fits, or that names a stack or question that the set lacks."""


class Grammar:
    """Patterns with the names of one set: {Q} a question, {S} a stack, {L} a list of stacks, {K} one of questions, and
    the shapes of numbers. `{Q:on}` is the group `on`."""

    def __init__(self, questions: Iterable[str], stacks: Iterable[str]) -> None:
        self.questions, self.stacks = [*questions], [*stacks]
        q, s = (self.one_of(names) for names in (self.questions, self.stacks))
        listing = "{0}(?:, {0})*(?:,? and (?:{0}|\\d+ others))?|none"
        self.shapes = SHAPES | {"Q": q, "S": s, "L": listing.format(s), "K": listing.format(q)}
        self.shapes["C"] = listing.format(f"{s} on {q}")  # of cases
        self.made: dict[str, re.Pattern[str]] = {}

    @staticmethod
    def one_of(names: Iterable[str]) -> str:
        return f"(?:{'|'.join(map(re.escape, sorted(names, key=len, reverse=True))) or '(?!)'})"

    def pattern(self, text: str) -> re.Pattern[str]:
        if text not in self.made:
            made = re.sub(
                r"\{([A-Z])(?::(\w+))?\}",
                lambda found: (
                    f"(?P<{found[2]}>{self.shapes[found[1]]})" if found[2] else f"(?:{self.shapes[found[1]]})"
                ),
                text,
            )
            self.made[text] = re.compile(made)
        return self.made[text]

    def read(self, pattern: str, text: str) -> dict[str, str]:
        found = self.pattern(pattern).fullmatch(text)
        if not found:
            raise NotUnderstood(text)
        return {name: value or "" for name, value in found.groupdict().items()}

    def maybe(self, pattern: str, text: str) -> dict[str, str] | None:
        try:
            return self.read(pattern, text)
        except NotUnderstood:
            return None

    def start(self, pattern: str, text: str) -> tuple[dict[str, str], str]:
        """Returns what the longest fitting beginning says, and the rest."""
        found = self.pattern(pattern).match(text)
        if not found:
            raise NotUnderstood(text)
        return {name: value or "" for name, value in found.groupdict().items()}, text[found.end() :]


def some(text: str) -> Some:
    """Returns the names of `a, b and c` or `a, b, c and 5 others`."""
    if text in ("", "none"):
        return Some(frozenset())
    names = re.split(r", | and ", text.replace(", and ", ", "))
    others = [int(name.split()[0]) for name in names if name.endswith(" others")]
    return Some(frozenset(name for name in names if not name.endswith(" others")), sum(others))


RATIO = r"(?P<ratio>{R}) as fast as {S:over}(?P<interval> {I})?"
TIME = (
    r" \((?P<itself>the baseline)\)"
    r"| \(in place of the baseline {S:place}, which has no time that counts\)"
    r"|; (?:no ratio, the baseline {S} has no ok row|no block pairs it with the baseline {S})"
    rf"|, (?:(?P<open>undecided)(?: \((?P<why>[^)]*)\))?: )?{RATIO}(?P<word>, a tie|, close|, slower|, undecided)?"
)


def headline(text: str, g: Grammar) -> Iterator[Fact]:
    if none := g.maybe(
        r"No answer(?: so far)? for {Q:on}: no stack (?:produced|has) a time that counts\.(?P<rest>.*)", text
    ):
        yield Fact("counting", none["on"], value=0)
        yield from failed(none["rest"], none["on"], g)
        return
    if one := g.maybe(
        r"{Q:on}: {S:who} takes {T:time}(?: so far)?; no other stack (?:was measured|is shown)\.(?P<rest>.*)", text
    ):
        yield Fact("planned", one["on"], value=1)
    elif one := g.maybe(r"{Q:on}: {S:who} alone has a valid time(?: so far)?, {T:time}\.(?P<rest>.*)", text):
        yield Fact("counting", one["on"], value=1)
    else:
        one, rest = g.start(
            rf"(?P<lead>Fastest|Lowest median|So far the lowest median) for {{Q:on}}: {{S:who}}, {{T:time}}(?:{TIME})",
            text,
        )
        yield from speed(one)
        more, rest = g.start(
            r"(?: \((?P<ended>[^)]*)\))?(?:; not shown to be faster than {L:rivals})?(?:; {S:lower} has a lower median, {T:lower_time}, but is slower inside the blocks)?(?P<alone>; sure by its question alone, not among all of the set)?\.",
            rest,
        )
        yield Fact("fastest", one["on"], value=(one["lead"], one["who"]))
        yield Fact("rivals", one["on"], one["who"], value=some(more["rivals"]))
        yield Fact("lower median", one["on"], value=(more["lower"], more["lower_time"]))
        yield Fact("alone", one["on"], one["who"], value=bool(more["alone"]))
        yield Fact("partly", one["on"], one["who"], value=bool(more["ended"]))
        one["rest"] = rest
    yield Fact("time", one["on"], one["who"], value=one["time"])
    yield from modes(failed(one["rest"], one["on"], g), one["on"], one["who"], g)


def speed(one: dict[str, str]) -> Iterator[Fact]:
    on, who, over = one["on"], one["who"], one["over"]
    yield Fact("is the baseline", on, who, value=bool(one["itself"]))
    if one["place"]:
        yield Fact("stands for", on, who, value=one["place"])
    elif over:
        word = one["open"] or one["word"].removeprefix(", ").removeprefix("a ") or "faster"
        yield Fact("ratio", on, who, over, (one["ratio"], one["interval"].strip()))
        yield Fact("verdict", on, who, over, word)
        yield Fact("reason", on, who, over, one["why"])
    elif not one["itself"]:
        yield Fact("no ratio", on, who)


class Rest(list[Fact]):
    """Facts, and the text after them."""

    text = ""


def failed(rest: str, on: str, g: Grammar) -> Rest:
    found, left = g.start(r"(?: {N:lost} of {N:of} stacks did not end ok\.)?", rest)
    facts = Rest([Fact("failed", on, value=(int(found["lost"] or 0), int(found["of"] or 0)))])
    facts.text = left
    return facts


TIMES = r"{S} {T}(?:(?:, | and ){S} {T})*(?: and \d+ others)?"
BEST = rf" The best of each framework: (?P<best>{TIMES})\."
SAME = rf" The same formulation, (?P<name>\w+): (?P<times>{TIMES}); with (?P=name) (?:{{L:lead}} (?:leads|share the lead)|nobody leads)\."


def times_in(text: str, g: Grammar) -> tuple[list[tuple[str, str]], int]:
    """Returns the stacks of a list with their times, and how many others it counts."""
    others = re.search(r" and (\d+) others$", text)
    return g.pattern("({S}) ({T})").findall(text), int(others[1]) if others else 0


def formulations(rest: str, on: str, g: Grammar) -> Generator[Fact, None, str]:
    """Reads what a headline says of frameworks that were given different formulations; returns the text after it."""
    if g.pattern(BEST).match(rest):
        one, rest = g.start(BEST, rest)
        yield Fact("best of each", on, value=times_in(one["best"], g))
        while g.pattern(SAME).match(rest):
            one, rest = g.start(SAME, rest)
            yield Fact("same formulation", on, value=(one["name"], times_in(one["times"], g), some(one["lead"])))
        rest = rest.removeprefix(" No two frameworks have the same formulation.")
    return rest


MODES = r" Processes of {S:who} (?:run in two modes|differ widely, so other programs disturbed them): the slowest takes {R:spread} as long as the fastest\. The fastest process has a median of {T:best}, the typical one {T:typical}\."
MANY_MODES = r" Processes of {N:count} stacks (?:run in two modes|differ widely, so other programs disturbed them) \({L:who}\): the slowest takes {R:low} to {R:high} as long as the fastest\."
FIRST = r" The first run of {S:who} takes {T:first}(?:; by the medians it is ahead of {S:than} in total time from step {N:step} on|; by the medians {S:last} has the least total time in the end)?\."


def modes(facts: Rest, on: str, fastest: str, g: Grammar) -> Iterator[Fact]:
    yield from facts
    rest, who = (yield from formulations(facts.text, on, g)), set[str]()
    while g.pattern(MODES).match(rest):
        one, rest = g.start(MODES, rest)
        who.add(one["who"])
        yield Fact("spread", on, one["who"], value=one["spread"])
        yield Fact("best", on, one["who"], value=one["best"])
        yield Fact("time", on, one["who"], value=one["typical"])
    if g.pattern(MANY_MODES).match(rest):
        one, rest = g.start(MANY_MODES, rest)
        who = {*some(one["who"]).names}
        yield Fact("spreads", on, value=(int(one["count"]), one["low"], one["high"]))
    yield Fact("modes", on, value=frozenset(who))
    one = g.read(rf"(?:{FIRST})?", rest)
    yield Fact("long first", on, fastest, value=(one["who"], one["first"]))
    if one["who"]:
        yield Fact("total", on, one["who"], value=(one["than"], one["step"], one["last"]))


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


def shares(words: str) -> tuple[int, int]:
    """Returns (some, of) for `3 of 6 questions`, `all 4 questions`, `both questions`, and (some, 0) for `3`."""
    numbers = [number_of(word) for word in re.findall(COUNT, words)]
    if words in ("both questions", "the question"):
        return (2, 2) if words.startswith("both") else (1, 1)
    return (numbers[0], numbers[0] if words.startswith("all") else numbers[1] if len(numbers) > 1 else 0)


def simple(
    *patterns: str, what: str, **values: Callable[[dict[str, str]], Any]
) -> Callable[[str, Grammar], Iterator[Fact]]:
    """Returns a reader of sentences of one shape: a fact of everything that it names."""

    def read(text: str, g: Grammar) -> Iterator[Fact]:
        for pattern in patterns:
            if found := g.maybe(pattern, text):
                keys = {name: found.pop(name, "") for name in ("on", "who", "over")}
                yield Fact(what, **keys, value=values["value"](found) if values else found)
                return
        raise NotUnderstood(text)

    return read


GROUPS = r"(?P<group>[a-z0-9][^;:()]*) \({N:of}\), (?:(?P<none>none, since no stack answered all)|none is over 1× \({S:next} {R:next_mean}\)|{S:who} {R:mean})"


FORMER = (  # a clause of the summary as it was first written
    r"(?:(?P<group>[A-Za-z][^:;]*): )?(?:{S:who} has the greatest mean speedup over {S:over}: {R:mean}, on {N:of} questions?"
    r"|[Nn]o stack's mean speedup is over 1×, that of {S:base}; {S:next} has the next, {R:next_mean}, on {N:next_of} questions?"
    r"|(?P<none>[Nn]o stack answered all, so no mean ranks them))"
    r"(?: \(not ranked, since they lack a question: {L:left}\))?(?:; |\.$)"
)


def summary(text: str, g: Grammar) -> Iterator[Fact]:
    if g.pattern(FORMER).match(text):
        rest, number = text, 0
        while rest:
            one, rest = g.start(FORMER, rest)
            number += 1
            who, over, mean, of = (
                one[first] or one[then]
                for first, then in (("who", "next"), ("over", "base"), ("mean", "next_mean"), ("of", "next_of"))
            )
            group = one["group"][:1].lower() + one["group"][1:]
            if who:
                yield Fact("mean of", group, who, over, (mean, of, bool(one["next"])))
            yield Fact("left out", group, value=some(one["left"]))
        yield Fact("means", value=number)
        return
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


def peaks(text: str, g: Grammar) -> Iterator[Fact]:
    end = r"{L:%s} on {N:%s_n} of {N:%s_of} questions?(?: each)? \({B:%s_low}(?: to {B:%s_high})?\)"
    low, high = (end % ((name,) * 5) for name in ("least", "most"))
    one = g.read(
        rf"Lowest peak: {low}\. Highest: {high}\.(?: Most in ended processes, such as compilers: {{B:part}} of the {{B:whole}} of {{S:who}} on {{Q:on}}\.)?",
        text,
    )
    for name in ("least", "most"):
        ends = one[f"{name}_low"], one[f"{name}_high"] or one[f"{name}_low"]
        yield Fact(f"{name} memory", value=(some(one[name]), int(one[f"{name}_n"]), int(one[f"{name}_of"]), *ends))
    yield Fact("in ended", one["on"], one["who"], value=(one["part"], one["whole"]))


ENDED = {"out of host memory": "oom_host", "out of device memory": "oom_device", "out of memory compiling": "oom_compile",
         "wrong result": "wrong", "wrong results": "wrong", "results differ": "differ"}  # fmt: skip


def endings(text: str, g: Grammar) -> Iterator[Fact]:
    one = g.read(
        r"{N:ok} of {N:of} planned cases? ended ok(?:; (?P<others>[^;]+?))?(?:; apart from these, {N:aside} process(?:es)? for programs, profiles and the like didn't)?\.",
        text,
    )
    yield Fact("ended", value=("ok", number_of(one["ok"]), number_of(one["of"])))
    said = [each for each in re.split(r", (?=[\d,]+ )", one["others"]) if each]
    for each in said:
        about = g.read(r"{N:count} (?P<word>[a-z ]+?)(?: \((?P<cases>.+)\))?", each)
        named = frozenset(m.groups() for m in g.pattern(r"({S}) on ({Q})").finditer(about["cases"]))
        yield Fact("ended", value=(ENDED.get(about["word"], about["word"]), number_of(about["count"]), named))
    yield Fact("endings", value=len(said))


def equivalence(text: str, g: Grammar) -> Iterator[Fact]:
    one = g.read(
        r"{N:ok} of {N:of} cases? agree with the reference(?:; the largest error is (?P<error>[\d.e+-]+) \({S:who}\))?(?:; wrong: (?P<wrong>{C}))?(?:; these differ, and nothing says which is right: (?P<differ>{C}))?(?:; weights differ on {K:weights})?\.",
        text,
    )
    yield Fact("agree", value=(number_of(one["ok"]), number_of(one["of"])))
    yield Fact("largest error", who=one["who"], value=one["error"])
    for word in ("wrong", "differ"):
        yield Fact("outcomes", on=word, value=some(one[word]))


WHAT = {
    "blocks over a limit of the noise gate": ("noisy blocks", r"{N:some} of {N:of} block runs?", "0"),
    "narrowest interval of a ratio": ("wide intervals", "{P:share}", r"±[\d.]+ %"),
    "noise floors wider than ±10 %": ("a wide noise floor", "{N:some} of {N:of}", "0"),
    "share of its cores' time that the f32 ceiling's measurement got": ("other programs", "{P:share}", "at least 90 %"),
    "change of the machine's f32 ceiling": ("a change of the machine's speed", "{P:share}", "±10 %"),
}


def noise(text: str, g: Grammar) -> Iterator[Fact]:
    told = []
    if text != "No reading is over its limit.":
        for part in g.read(r"Over its limit: (?P<parts>.+)\.", text)["parts"].split("; "):
            what, _, rest = part.partition(": ")
            cause, found, limit = WHAT.get(what, ("", "(?!)", ""))
            told.append(cause)
            one = g.read(rf"{found}, limit {limit}", rest)
            yield Fact("reading", cause, value=tuple(one.values()))
    yield Fact("over their limits", value=frozenset(told))


def badge(text: str, g: Grammar) -> Iterator[Fact]:
    word, _, causes = text.partition(": ")
    names = causes.split(", ") if causes else []
    more = int(names.pop().split()[0]) if names and names[-1].endswith(" more") else 0
    yield Fact("badge", value=(word, Some(frozenset(names), more)))


NOTICES = {
    "wide intervals": r"A tie \(no difference over (?P<tie>[\d.]+ %)\) was out of reach: the narrowest interval of a ratio is {P:share}\.",
    "a wide noise floor": r"The noise floor is wider than ±10 % in {N:some} of {N:of} comparisons \({K:where}\): no smaller difference is shown there\.",
    "noisy blocks": r"{N:some} of {N:of} block runs? exceeded a noise limit(?: \(rejected and not counted: \d+\))?\.",
    "other programs": r"Other programs were running: the measurement of the machine's f32 ceiling got only {P:share} of its cores' time\. If they went on, they widened the intervals\.",
    "a change of the machine's speed": r"The machine reached .+ in f32 when this set was resumed and .+ when it was begun .+",
    "an unfinished run": r"This run is not complete: {N:missing} planned processes have no result yet\..*",
    "a stack that differs from itself": r"Doubt the verdicts of {Q:on}: {S:who} against itself \(A/A\) is {R:ratio} {I:interval}, so equal processes differ by as much\.",
    "one block": r"One block only: no interval exists and every verdict is undecided\.",
    "unpinned environments": r"Some environments were not installed from the lock files \(unpinned\)\.",
    "wrong": r"Wrong results, left out of every ratio: (?P<who>.+) in {Q:on}\.",
    "differ": r"Results that differ, and nothing says which is right, left out of every ratio: (?P<who>.+) in {Q:on}\.",
    "implausible": r"Times that can't be, left out of every ratio: (?P<who>.+) in {Q:on}\.",
    "stand-in": r"On {Q:on} the baseline {S:over} has no time that counts \((?P<why>.+)\): {S:who}, the fastest that has one, stands in for it\.",
}
UNCHECKED = ("The build of ", "The source was modified", "Builds of ", "Left out on request")  # facts outside the rows


def notices(text: str, g: Grammar) -> Iterator[Fact]:
    """Reads all notices, one a line: what each says, and that none is missing."""
    told = []
    for line in text.splitlines():
        if line.startswith(UNCHECKED):
            continue
        kind, found = next(
            ((kind, found) for kind, each in NOTICES.items() if (found := g.maybe(each, line)) is not None), ("", {})
        )
        if not kind:
            raise NotUnderstood(line)
        keys = {name: found.pop(name, "") for name in ("on", "who", "over")}
        told.append((kind, keys["on"]))
        yield Fact(f"notice of {kind}", **keys, value=tuple(found.values()))
    yield Fact("notices", value=frozenset(told))


def frontier(text: str, g: Grammar) -> Iterator[Fact]:
    text = re.sub(r"^[^:]*: (?=Largest|The largest)", "", text)
    one = g.read(
        r"(?:Largest {X:axis} that fits: (?P<each>.+?)\.)?(?: ?The largest (?:\w+ )?that was tried, {N:most}, fits on (?P<open>.+)\.)?",
        text,
    )
    for each in one["each"].split(", ") if one["each"] else []:
        about = g.read(r"{S:who} (?:{N:low}(?P<end> to {N:high}|| or more.*| \(by its curve\))|none)", each)
        yield Fact("fits", who=about["who"], value=(about["low"] or "0", about["end"], about["high"]))
    for who in [] if one["open"] in ("", "every stack") else one["open"].split(", "):
        yield Fact("fits", who=who, value=(one["most"], " or more", ""))
    yield Fact("searched", value=len(one["each"].split(", ")) + one["open"].count(",") + bool(one["open"]))


def leads(text: str, g: Grammar) -> Iterator[Fact]:
    """Reads the frames of one question, `question: a, b`."""
    on, _, names = text.rpartition(": ")
    yield Fact("leaders", on, value=frozenset(filter(None, names.split(", "))))


THREAD = (
    r"(?P<claim>Confirmed(?: in part)?|The other way round|Not confirmed)(?P<far>, larger|, smaller)?: `{S:who}` takes "
    r"(?P<times>[\d.,]+) times as long (?:as `{S:over}`|on {N:more} cores? as on {N:fewer}) \((?P<low>[\d.,]+) to "
    r"(?P<high>[\d.,]+)(?:, (?P<word>\w+))?\) here(?:; the thread says (?P<factor>[\w .]+) times)?(?:; (?P<limit>.+))?\."
)
CASE = r"`{S:who}`(?: on {N:more} cores over {N:fewer}| over `{S:over}`) is {R:ratio} ?(?P<interval>{I})?, (?P<word>\w+)(?:; (?P<limit>.+))?\."
PARSERS: dict[str, Callable[[str, Grammar], Iterable[Fact]]] = {
    "headline": headline,
    "map": map_sentence,
    "frames": leads,
    "summary": summary,
    "comparisons": comparisons,
    "latency": simple(
        r"The longest first call took {T:first} \({S:who} on {Q:on}\)(?:; {N:without} cases? without a steady time)?\.",
        r"No case has a time\.",
        what="latency",
    ),
    "break_even": break_even,
    "compiled": compiled,
    "unified": unified,
    "transfers": transfers,
    "ways": ways,
    "peaks": peaks,
    "holders": simple(
        r"{S:who} holds most on {Q:on}: {B:held}(?:, of which {B:part} (?P<kind>.+?))?\.",
        r"No stack keeps a record of what it holds\.",
        what="held",
    ),
    "endings": endings,
    "equivalence": equivalence,
    "noise": noise,
    "blocks": simple(
        r"{N:some} of {N:of} block runs? exceeded a noise limit\.",
        what="noisy",
        value=lambda f: (int(f["some"]), int(f["of"])),
    ),
    "badge": badge,
    "notices": notices,
    "cause": simple(
        r"MKL's default path on this (?P<vendor>AMD )?processor likely slows {L:slowed}(?P<may>; a faster one may reverse the ranking)?\.",
        what="mkl",
    ),
    "frontier": frontier,
    "memory": simple(r"{N:ok} of {N:of} cases? fit\.", what="fit", value=lambda f: (int(f["ok"]), int(f["of"]))),
    "thread": simple(
        rf"(?P<claim>Confirmed(?: in part)?|The other way round|Not confirmed) here: {CASE}",
        THREAD,
        r"Can't be compared: (?P<apart>.+)\.",
        what="thread",
    ),
    "compare": simple(
        r"{N:changed} of {N:of} cases changed; {N:worse} (?:is|are) worse by more than (?P<limit>[\d.]+ %), or no longer ok\.",
        r"The sets differ in (?P<unlike>.+): nothing is called faster\.",
        r"The machine's f32 ceilings in the two runs differ by {P:drift}: a smaller change of a case may come from the machine\.",
        r"The median of all ratios is {R:shift}: if all cases changed alike, the machine may have changed, and not the stacks\.",
        r"Versions that differ, first and second set: (?P<versions>.+)\.",
        what="compare",
    ),
    "cell": simple(
        r"{Q:on} \| `{S:who}` over `{S:over}`: {R:ratio} ?(?P<interval>{I})?(?P<word> \w+)?(?P<why>: .+)?",
        r"{Q:on} \| `{S:who}`: {T:time}",
        what="cell",
    ),
    "unified cell": simple(
        r"{Q:on} \| `{S:over}` \| `{S:who}` \| {T:under} \| {T:time} \| {R:ratio} (?P<interval>{I}) \| (?P<word>\w+).*",
        what="unified cell",
    ),
    "floor": simple(r"{Q:on} {R:ratio} ?(?P<interval>{I})?", what="floor"),
}


def facts_in(kind: str, text: str, grammar: Grammar) -> list[Fact]:
    """Returns all that a sentence says. Raises NotUnderstood for one that no pattern of its kind fits."""
    return [*PARSERS[kind](" ".join(text.split(" ")), grammar)]
