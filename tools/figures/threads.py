"""The questions of examples/ and the threads that they come from: what a thread says, held against a measured set."""

from __future__ import annotations

import ast
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

from suite import units
from suite.results.analysis import Analysis, Comparison

EXAMPLES = Path(__file__).parents[2] / "examples"
THREAD = re.compile(r"\s*([\w.-]+/[\w.-]+)#(\d+)\s*$")
WORDS = {"slower": "confirmed", "faster": "the other way round"}


@dataclass(frozen=True, slots=True)
class Thread:
    """What a public thread says: that the stack `slower` is slower `than` another, or `apart`, why no figure of the
    question can be held against it."""

    says: str
    slower: str = ""
    than: str = ""
    apart: str = ""

    def verdict(self, analysis: Analysis, comparison: Comparison) -> str:
        if self.apart:
            return f"Can't be compared: {self.apart}."
        sides = [comparison.of(stack) for stack in (self.slower, self.than)]
        known = all(figures is not None and figures.counts for figures in sides)
        over = analysis.over(self.than, {self.slower}, comparison.id) if known else {}
        speedup = over.get((comparison.id, self.slower))
        if speedup is None:
            return f"Can't be compared: {self.slower} or {self.than} has no time that counts here."
        ratio = units.estimate(speedup.ratio.value, speedup.ratio.low, speedup.ratio.high)
        word = WORDS.get(speedup.verdict, "not confirmed")
        return f"{word.capitalize()} here: `{self.slower}` over `{self.than}` is {ratio}, {speedup.verdict}."


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
    return {name: Thread(**fields) for name, fields in content.items()}
