"""A sentence that is held against the facts of its set: read by patterns with the set's names, then compared. Numbers
have three significant digits, in a fitting unit."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from tests.sentences.facts.estimates import Ratio
from tests.sentences.facts.reader import Truth

UNITS = {"s": 1.0, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9, "B": 1.0, "KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30,
         "TiB": 2.0**40, "%": 0.01, "×": 1.0, "": 1.0}  # fmt: skip
NUMBER = re.compile(r"(?P<sign>[+±\N{MINUS SIGN}-]?)(?P<digits>[\d,]+(?:\.\d+)?(?:e[+-]?\d+)?)\s*(?P<unit>[^\d\s]*)")
ENDED = {"out of host memory": "oom_host", "out of device memory": "oom_device", "out of memory compiling": "oom_compile",
         "wrong result": "wrong", "wrong results": "wrong", "results differ": "differ"}  # fmt: skip
WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def agrees(said: str, true: float | None, digits: int = 3) -> bool:
    """Whether a shown number is the true one, rounded to its digits."""
    if said.startswith("< "):
        return said == "< 0.1 %" and true is not None and 0 < true < 0.001
    found = NUMBER.fullmatch(said.strip())
    if not found or true is None or found["unit"] not in UNITS:
        return False
    text, unit = found["digits"].replace(",", ""), UNITS[found["unit"]]
    number, true = float(text), true / unit
    sign = -1 if found["sign"] in ("-", "\N{MINUS SIGN}") else 1
    if number == 0:
        return abs(true) < 1e-9
    mantissa, _, power = text.partition("e")
    decimals = len(mantissa.partition(".")[2]) - int(power or 0)
    rounded = digits - 1 - math.floor(math.log10(number))
    places = max(decimals, rounded) if "." in mantissa else rounded  # 2,497 steps are shown as 2,500
    return abs(sign * number - true) <= 0.5 * 10.0**-places * (1 + 1e-6) + 1e-12


def interval_agrees(said: str, low: float | None, high: float | None) -> bool:
    """Whether `[1.58, 1.92]` is the interval; an end at 1 that only a later step of the test excluded is open."""
    if not said:
        return low is None
    left, right = said[1:-1].split(", ") if said.count(", ") == 1 else ("", "")
    is_open = (
        low is not None and high is not None and ((low == 1) == (said[0] == "(")) and ((high == 1) == (said[-1] == ")"))
    )
    if low is not None and high is not None and high > 10_000 * low:  # it says next to nothing
        known = left == "< 0.01" if low <= 0.01 else agrees(left, low)
        return is_open and known and (right == "> 100" if high >= 100 else agrees(right, high))
    return is_open and agrees(left, low) and agrees(right, high)


def number_of(word: str) -> int:
    """Returns a count in words or digits."""
    return WORDS.index(word.lower()) if word.lower() in WORDS else int(word.replace(",", ""))


def outcome_of(words: str) -> str:
    """Returns the outcome that is told as `out of host memory in the first run`."""
    plain = re.sub(r" (?:in the|while|during) .*", "", words)
    return ENDED.get(plain, plain)


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


class NotUnderstood(Exception):
    """A sentence that no pattern of its kind fits, or that names a stack or question that the set lacks."""


class Groups(dict[str, str]):
    """What a pattern's groups read; empty for a group that read nothing or isn't in the pattern."""

    def __missing__(self, name: str) -> str:
        return ""

    def number(self, name: str) -> int:
        return number_of(self[name]) if self[name] else 0


@dataclass(frozen=True)
class Some:
    """A list in a sentence: the names it has, and how many others it counts."""

    names: frozenset[str]
    others: int = 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, frozenset) and self.names <= other and len(other) == len(self.names) + self.others

    def __hash__(self) -> int:
        return hash(self.names)


class Names:
    """Patterns with the names of one set: {Q} a question, {S} a stack, {L} a list of stacks, {K} one of questions, {C}
    one of cases, and the shapes of numbers. `{Q:on}` is the group `on`."""

    def __init__(self, questions: Iterable[str], stacks: Iterable[str]) -> None:
        self.questions, self.stacks = [*questions], [*stacks]
        q, s = (
            f"(?:{'|'.join(map(re.escape, sorted(names, key=len, reverse=True))) or '(?!)'})"
            for names in (self.questions, self.stacks)
        )
        listing = "{0}(?:, {0})*(?:,? and (?:{0}|\\d+ others))?|none"
        lists = {name: listing.format(one) for name, one in (("L", s), ("K", q), ("C", f"{s} on {q}"))}
        self.shapes = SHAPES | {"Q": q, "S": s} | lists
        self.made: dict[str, re.Pattern[str]] = {}

    def pattern(self, text: str) -> re.Pattern[str]:
        if text not in self.made:
            named = re.sub(r"\{([A-Z]):(\w+)\}", lambda m: f"(?P<{m[2]}>{self.shapes[m[1]]})", text)
            self.made[text] = re.compile(re.sub(r"\{([A-Z])\}", lambda m: f"(?:{self.shapes[m[1]]})", named))
        return self.made[text]


class Held:
    """One sentence, and what of it is `false`: (what, as it is said, as it is)."""

    def __init__(self, text: str, truth: Truth) -> None:
        self.text, self.truth, self.names = text, truth, names_of(truth)
        self.false: list[tuple[str, Any, Any]] = []

    def read(self, *patterns: str, text: str | None = None) -> Groups:
        """Returns what the first pattern reads that fits all of the text. Raises NotUnderstood if none does."""
        said = self.text if text is None else text
        found = self.maybe(*patterns, text=said)
        if found is None:
            raise NotUnderstood(said)
        return found

    def maybe(self, *patterns: str, text: str | None = None) -> Groups | None:
        said = self.text if text is None else text
        fitting = (found for each in patterns if (found := self.names.pattern(each).fullmatch(said)))
        return next((Groups(found.groupdict("")) for found in fitting), None)

    def start(self, text: str, *patterns: str) -> tuple[Groups, str]:
        """Returns what the first pattern reads that fits the text's beginning, and the rest."""
        found = next((found for each in patterns if (found := self.names.pattern(each).match(text))), None)
        if not found:
            raise NotUnderstood(text)
        return Groups(found.groupdict("")), text[found.end() :]

    def every(self, pattern: str, text: str) -> list[Groups]:
        return [Groups(found.groupdict("")) for found in self.names.pattern(pattern).finditer(text)]

    def so(self, what: str, is_so: object, said: Any, true: Any) -> None:
        if not is_so:
            self.false.append((what, said, true))

    def same(self, what: str, said: Any, true: Any) -> None:
        self.so(what, bool(said == true), said, true)

    def near(self, what: str, said: str, true: float | None, digits: int = 3) -> None:
        self.so(what, agrees(said, true, digits), said, true)

    def ends(self, what: str, low: str, high: str, values: Iterable[float]) -> None:
        """Holds `1.58` or `1.58 to 1.92`, the least and the greatest of some values."""
        known = sorted(values) or [float("nan")]
        self.near(f"{what}, least", low, known[0])
        self.near(f"{what}, greatest", high or low, known[-1])

    def ratio(self, what: str, said: Groups, ratio: Ratio | None) -> None:
        """Holds the groups `ratio` and `interval`."""
        is_so = ratio is not None and agrees(said["ratio"], ratio.value)
        is_so = is_so and ratio is not None and interval_agrees(said["interval"].strip(), ratio.low, ratio.high)
        self.so(what, is_so, (said["ratio"], said["interval"]), ratio and (ratio.value, ratio.low, ratio.high))


Kind = Callable[[Held], None]
KINDS: dict[str, Kind] = {}


def kind(name: str) -> Callable[[Kind], Kind]:
    def add(hold: Kind) -> Kind:
        KINDS[name] = hold
        return hold

    return add


def names_of(truth: Truth) -> Names:
    made = truth.shared.get("names")
    if made is None:
        made = truth.shared["names"] = Names(sorted(truth.all_names), truth.stacks)
    return made


def some(text: str) -> Some:
    """Returns the names of `a, b and c` or `a, b, c and 5 others`."""
    names = re.split(r", | and ", text.replace(", and ", ", ")) if text not in ("", "none") else []
    others = [int(name.split()[0]) for name in names if name.endswith((" others", " more"))]
    return Some(frozenset(name for name in names if not name.endswith((" others", " more"))), sum(others))


def shares(words: str) -> tuple[int, int]:
    """Returns (some, of) for `3 of 6 questions`, `all 4 questions`, `both questions`, and (some, 0) for `3`."""
    if words in ("both questions", "the question"):
        return (2, 2) if words.startswith("both") else (1, 1)
    numbers = [number_of(word) for word in re.findall(COUNT, words)]
    return (numbers[0], numbers[0] if words.startswith("all") else numbers[1] if len(numbers) > 1 else 0)
