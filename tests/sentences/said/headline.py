"""What the answer to one question says."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator

from tests.sentences.said.grammar import Fact, Grammar, some

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
