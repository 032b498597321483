"""What the badge, its notices and the readings of noise say."""

from __future__ import annotations

from collections.abc import Iterator

from tests.sentences.said.grammar import Fact, Grammar, NotUnderstood, Some

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
