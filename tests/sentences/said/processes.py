"""What the sections on processes and their memory say."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tests.sentences.said.grammar import Fact, Grammar, some
from tests.sentences.kinds.shown import number_of


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
