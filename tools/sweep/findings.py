"""What the sweep has found: kept in docs/findings/sweep.json, and shown by docs/findings/sweep.md."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from suite.environments import venv
from suite.stacks.catalog import IMPORTS, STACKS
from tools.sweep.questions import UNDEFINED, Pairs, Question, questions

ROOT = Path(__file__).parents[2]
KNOWN = Path(__file__).with_name("known.toml")
KEPT = ROOT / "docs" / "findings" / "sweep.json"
PAGE = KEPT.with_suffix(".md")
HEADS = ("expression", "type", "stacks", "smallest input", "NumPy", "answer", "what it is")

HEAD = """\
One line of arithmetic, drawn values, every stack: where is the answer not NumPy's, in the declared type? {count} \
questions, [tools/sweep/questions.py](../../tools/sweep/questions.py), were asked of each. An input is the smallest \
that Hypothesis found; it is repeated to an array of 64, as compilers use vectors. *Bug*: the framework's documents or \
its uncompiled form say otherwise. *Convention*: it defines the operation in another way. *Undefined*: C leaves it \
open."""


class Finding(msgspec.Struct, frozen=True):
    """An answer of one stack that isn't NumPy's. `x` and `y` are the smallest input, all values as text."""

    family: str
    text: str
    dtype: str
    stack: str
    x: str
    y: str
    right: str
    found: str

    @classmethod
    def of(cls, question: Question, stack: str, pairs: Pairs, right: Any, found: Any) -> Finding:
        (x, y), *_ = pairs
        values = map(shown, (x, y, right, found))
        return cls(question.family.name, question.text, question.dtype, stack, *values)

    @property
    def input(self) -> str:
        named = {"x": self.x, "y": self.y}
        used = [name for name in named if re.search(rf"\b{name}\b", self.text)]
        return ", ".join(f"{name} = {named[name]}" for name in used)


class Known(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is known of findings of a `family`, whose expressions match `text`, on stacks that match `stacks`: `kind` is
    bug, convention or undefined; `says` why; `tracker` the public issue, or `report` ours, ready to be filed."""

    family: str
    kind: str
    says: str
    text: str = ".*"
    stacks: str = ".*"
    dtype: str = ".*"
    tracker: str = ""
    report: str = ""

    def fits(self, finding: Finding) -> bool:
        pairs = ((self.text, finding.text), (self.stacks, finding.stack), (self.dtype, finding.dtype))
        return self.family == finding.family and all(re.fullmatch(pattern, value) for pattern, value in pairs)

    @property
    def words(self) -> str:
        where = f"[tracker]({self.tracker})" if self.tracker else f"[report]({self.report})" if self.report else ""
        return f"**{self.kind}**: {self.says}{f' ({where})' if where else ''}"


class Kept(msgspec.Struct, frozen=True):
    """The file: how many questions each stack has answered, with its versions, and the findings."""

    tried: dict[str, int]
    versions: dict[str, str]
    findings: tuple[Finding, ...]


def shown(value: Any) -> str:
    """Returns a value as a person writes it: the shortest text that is the same number in its type."""
    return str(value.item()) if str(getattr(value, "dtype", "")) == "bool" else str(value)


@cache
def known() -> tuple[Known, ...]:
    return msgspec.convert(tomllib.loads(KNOWN.read_text(encoding="utf-8"))["known"], tuple[Known, ...])


def about(finding: Finding, all_known: Iterable[Known]) -> str:
    """Returns what is known of a finding, in words."""
    if entry := next((entry for entry in all_known if entry.fits(finding)), None):
        return entry.words
    right = next(question.family.right for question in questions() if question.family.name == finding.family)
    return f"**{right}**" if right == UNDEFINED else f"not looked into yet ({right})"


def cells(finding: Finding, all_known: Iterable[Known]) -> list[str]:
    return [
        finding.text,
        finding.dtype,
        finding.stack,
        finding.input,
        finding.right,
        finding.found,
        about(finding, all_known),
    ]


def rows(findings: Iterable[Finding], all_known: Sequence[Known]) -> list[list[str]]:
    """Returns a row for each expression, type and meaning: its stacks together, with one of their smallest inputs."""
    together: dict[tuple[str, ...], list[Finding]] = {}
    for finding in findings:
        together.setdefault((finding.family, finding.text, about(finding, all_known)), []).append(finding)
    made = []
    for found in together.values():
        text, _, _, *rest = cells(found[0], all_known)
        types, stacks = (", ".join(dict.fromkeys(getattr(each, name) for each in found)) for name in ("dtype", "stack"))
        made.append([f"`{text}`", types, stacks, *rest])
    return made


def table(heads: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Returns a table in Markdown, of texts that are Markdown themselves."""
    cells = ([cell.replace("|", "\\|") for cell in line] for line in (heads, ["---"] * len(heads), *lines))
    return "\n".join(f"| {' | '.join(line)} |" for line in cells)


def versions(stacks: Iterable[str]) -> dict[str, str]:
    """Returns the version of each stack's framework, by the lock that its environment has here."""
    found = {}
    for stack in stacks:
        environment = STACKS[stack].environment
        pins = venv.fit(environment, "cpu").pins
        package = IMPORTS[environment][0].replace("_", "-")
        found[stack] = next(f"{name} {pins[name]}" for name in (package, f"{package}-cpu") if name in pins)
    return found


def keep(findings: Sequence[Finding], tried: Mapping[str, int]) -> None:
    """Keeps the findings beside those of stacks that weren't `tried` now, and writes the page."""
    before = msgspec.json.decode(KEPT.read_bytes(), type=Kept) if KEPT.is_file() else Kept({}, {}, ())
    others = (finding for finding in before.findings if finding.stack not in tried)
    kept = Kept({**before.tried, **tried}, {**before.versions, **versions(tried)}, (*others, *findings))
    KEPT.write_bytes(msgspec.json.format(msgspec.json.encode(kept), indent=1) + b"\n")
    PAGE.write_text(page(), encoding="utf-8")


def page() -> str:
    """Returns the text of docs/findings/sweep.md."""
    kept = msgspec.json.decode(KEPT.read_bytes(), type=Kept)
    by_version: dict[str, list[str]] = {}
    for stack, version in kept.versions.items():
        by_version.setdefault(version, []).append(stack)
    parts = [
        "<!-- generated by `.venv/bin/python -m tools.sweep --write` -->",
        "# A sweep of small questions",
        HEAD.format(count=len(questions())),
        table(
            ("stacks", "version", "questions answered", "with another answer"),
            [
                [
                    ", ".join(f"`{stack}`" for stack in stacks),
                    version,
                    ", ".join(dict.fromkeys(str(kept.tried[stack]) for stack in stacks)),
                    ", ".join(str(sum(each.stack == stack for each in kept.findings)) for stack in stacks),
                ]
                for version, stacks in by_version.items()
            ],
        ),
    ]
    for family in dict.fromkeys(finding.family for finding in kept.findings):
        lines = rows((each for each in kept.findings if each.family == family), known())
        parts += [f"## {family.capitalize()}", table(HEADS, lines)]
    return "\n\n".join(parts) + "\n"
