"""The questions of examples/ and the threads that they come from: what a thread says, held against a measured set."""

from __future__ import annotations

import ast
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

import msgspec

from suite import units
from suite.results.analysis import Analysis, Comparison
from suite.verdicts.verdicts import Speedup

EXAMPLES = Path(__file__).parents[2] / "examples"
THREAD = re.compile(r"\s*([\w.-]+/[\w.-]+)#(\d+)\s*$")
WORDS = {"slower": "confirmed", "faster": "the other way round"}


class Thread(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a public thread says: that the stack `slower` is slower `than` another, or on `cores[0]` cores than on
    `cores[1]`; or `apart`, why no figure of the question can be held against it. `limit` is what the set leaves
    open of it."""

    says: str
    slower: str = ""
    than: str = ""
    cores: tuple[int, ...] = ()
    limit: str = ""
    apart: str = ""

    @property
    def held(self) -> str:
        """Returns the two sides that a set decides on."""
        if self.cores:
            return f"`{self.slower}` on {self.cores[0]} cores over {self.cores[1]}"
        return f"`{self.slower}` over `{self.than}`"

    def verdict(self, analysis: Analysis, comparison: Comparison) -> str:
        if self.apart:
            return f"Can't be compared: {self.apart}."
        speedup = self.by_cores(analysis) if self.cores else self.by_stack(analysis, comparison)
        if speedup is None:
            return f"Can't be compared: {self.held} has no two times that count here."
        ratio = units.estimate(speedup.ratio.value, speedup.ratio.low, speedup.ratio.high)
        word = WORDS.get(speedup.verdict, "not confirmed")
        part = " in part" if self.limit and word == "confirmed" else ""
        limit = f"; {self.limit}" if self.limit else ""
        return f"{word.capitalize()}{part} here: {self.held} is {ratio}, {speedup.verdict}{limit}."

    def by_stack(self, analysis: Analysis, comparison: Comparison) -> Speedup | None:
        sides = [comparison.of(stack) for stack in (self.slower, self.than)]
        known = all(figures is not None and figures.counts for figures in sides)
        over = analysis.pairing.planned(self.than, {self.slower}, comparison.id) if known else {}
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
        text = (EXAMPLES / f"{name}.py").read_text(encoding="utf-8")
        words = " ".join((ast.get_docstring(ast.parse(text)) or "").split())
        found = THREAD.search(words)
        address = f"https://github.com/{found[1]}/issues/{found[2]}" if found else ""
        return cls(name, THREAD.sub("", words), address, threads()[name])


def names() -> list[str]:
    return sorted(path.stem for path in EXAMPLES.glob("*.py"))


def threads() -> dict[str, Thread]:
    content = tomllib.loads((EXAMPLES / "threads.toml").read_text(encoding="utf-8"))
    return msgspec.convert(content, dict[str, Thread])
