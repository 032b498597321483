"""The questions of examples/wrong/, whose results were wrong on some stack: what a set says of them, and why."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache

import msgspec

from suite.results.analysis import Comparison
from tools.figures.threads import EXAMPLES, asked

FOLDER = EXAMPLES / "wrong"


class Alone(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A program that shows it without this suite: in one environment, with what it `prints` and what is `right`."""

    environment: str
    code: str
    prints: str
    right: str


class Cause(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Why results are wrong, and the programs that show it."""

    says: str
    alone: tuple[Alone, ...]


@dataclass(frozen=True, slots=True)
class Wrong:
    """One question: its file's name and text, its thread's address, and the `lines` of its table: stacks, how they
    ended, and why."""

    name: str
    question: str
    address: str
    cause: Cause
    lines: tuple[tuple[str, str, str], ...]

    @classmethod
    def of(cls, comparison: Comparison) -> Wrong:
        name = comparison.head.text("workload")
        ends: dict[tuple[str, str], list[str]] = {}
        for case in comparison.cases:
            first = case.reason.partition("; ")[0].replace("|", "\\|") if case.failed else ""
            ends.setdefault((case.outcome, first), []).append(case.stack)
        lines = tuple((", ".join(f"`{stack}`" for stack in stacks), *end) for end, stacks in ends.items())
        return cls(name, *asked(FOLDER / f"{name}.py"), causes()[name], lines)


@cache
def causes() -> dict[str, Cause]:
    content = tomllib.loads((FOLDER / "wrong.toml").read_text(encoding="utf-8"))
    return msgspec.convert(content, dict[str, Cause])
