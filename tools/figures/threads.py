"""The questions of examples/ and the threads that they come from: what a thread says, held against a measured set."""

from __future__ import annotations

import ast
import math
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

import msgspec

from suite import units
from suite.results.analysis import Analysis, Comparison
from suite.stats import Word
from suite.verdicts.verdicts import Speedup

EXAMPLES = Path(__file__).parents[2] / "examples"
THREAD = re.compile(r"\s*([\w.-]+/[\w.-]+)#(\d+)\s*$")
WORDS = {"slower": "confirmed", "faster": "the other way round"}
FAR = 2.0  # times beyond the range that a thread says, a factor that we find is larger, or smaller


class Thread(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a public thread says: that the stack `slower` takes longer `than` another, or on `cores[0]` cores than on
    `cores[1]`; or `apart`, why no figure of the question can be held against it. `factor` is how many times as long the
    thread says that it takes: one number, or the least and the greatest; empty if it gives none. `limit` is what the
    set leaves open of it."""

    says: str
    slower: str = ""
    than: str = ""
    cores: tuple[int, ...] = ()
    factor: tuple[float, ...] = ()
    limit: str = ""
    apart: str = ""

    def held(self, times: str = "", ends: str = "") -> str:
        """Returns the two sides that a set decides on, with how many times as long the first one takes."""
        takes = f"`{self.slower}` takes {times or 'longer'}{' times as long' if times else ''}"
        if self.cores:
            more, fewer = self.cores
            return f"{takes} on {more} core{'s' * (more > 1)} {'as' if times else 'than'} on {fewer}{ends}"
        return f"{takes} {'as' if times else 'than'} `{self.than}`{ends}"

    @property
    def claimed(self) -> str:
        """Returns `; the thread says 1.7 to 3.2 times`; empty if it says no number."""
        if not self.factor:
            return ""
        least, greatest = (f"{each:g}" for each in (self.factor[0], self.factor[-1]))
        words = f"more than {least}" if math.isinf(self.factor[-1]) else " to ".join(dict.fromkeys((least, greatest)))
        return f"; the thread says {words} times"

    def word(self, verdict: Word, times: float) -> str:
        """Returns what a set says to the thread, where `slower` takes `times` as long: the set's own verdict decides on
        the direction, and `FAR` on whether the factor is still the thread's."""
        word = WORDS.get(verdict, "not confirmed")
        if word != "confirmed":
            return word
        least, greatest = (self.factor[0], self.factor[-1]) if self.factor else (times, times)
        far = ", larger" if times > FAR * greatest else ", smaller" if times < least / FAR else ""
        return f"{word}{' in part' if self.limit else ''}{far}"

    def verdict(self, analysis: Analysis, comparison: Comparison) -> str:
        """Returns the word on the thread, with the factor that the set shows beside the thread's."""
        if self.apart:
            return f"Can't be compared: {self.apart}."
        speedup = self.by_cores(analysis) if self.cores else self.by_stack(analysis, comparison)
        if speedup is None:
            return f"Can't be compared: whether {self.held()} isn't known, since not both have a time that counts here."
        ratio = speedup.ratio
        times, *ends = (units.beside_one(1 / each) for each in (ratio.value, ratio.high, ratio.low) if each)
        known = [" to ".join(ends)] * bool(ends) + [speedup.verdict] * (speedup.verdict not in WORDS)
        between = f" ({', '.join(known)})" if known else ""
        limit = f"; {self.limit}" if self.limit else ""
        word = self.word(speedup.verdict, 1 / ratio.value).capitalize()
        return f"{word}: {self.held(times, between)} here{self.claimed}{limit}."

    def by_stack(self, analysis: Analysis, comparison: Comparison) -> Speedup | None:
        sides = [comparison.of(stack) for stack in (self.slower, self.than)]
        known = all(figures is not None and figures.counts for figures in sides)
        over = analysis.pairing.over(self.than) if known else {}
        return over.get((comparison.id, self.slower))

    def by_cores(self, analysis: Analysis) -> Speedup | None:
        more, fewer = map(str, self.cores)
        for within in analysis.within_set:
            if within.field == "threads" and {more, fewer} <= {*within.values}:
                for speedup in within.over(fewer):
                    if speedup.stack == more and within.stacks[speedup.comparison_id] == self.slower:
                        return speedup
        return None


@dataclass(frozen=True, slots=True)
class Example:
    """A question file of examples/: its question and the address of its thread; `thread` is what that says."""

    name: str
    question: str
    address: str
    thread: Thread

    @classmethod
    def of(cls, name: str) -> Example:
        """Returns the example of a table, `gallery-top-k`."""
        name = name.removeprefix("gallery-").replace("-", "_")
        return cls(name, *asked(EXAMPLES / f"{name}.py"), threads()[name])


def asked(path: Path) -> tuple[str, str]:
    """Returns what a question file asks, and the address of the thread that its first line names; empty without one."""
    words = " ".join((ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").split())
    found = THREAD.search(words)
    return THREAD.sub("", words), f"https://github.com/{found[1]}/issues/{found[2]}" if found else ""


def names() -> list[str]:
    return sorted(path.stem for path in EXAMPLES.glob("*.py"))


def threads() -> dict[str, Thread]:
    content = tomllib.loads((EXAMPLES / "threads.toml").read_text(encoding="utf-8"))
    return msgspec.convert(content, dict[str, Thread])
