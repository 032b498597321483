"""A fact that a sentence states, and the patterns with the names of one set by which sentences are read."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from tests.sentences.kinds.shown import WORDS, number_of

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
