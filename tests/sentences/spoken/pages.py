"""Sentences outside a set's own page: the published tables, README's findings, and comparisons of two sets."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from suite.cli.sets.compare import between
from suite.page.between_sets import compared_sets
from suite.results import load
from tests.sentences.check import Spoken
from tests.sentences.facts.contrasts import THRESHOLD, Two
from tests.sentences.facts.reader import ARCHIVE, Truth, archived
from tests.sentences.kinds.tables import CLAIMS, TRACKS

ROOT = ARCHIVE.parent
PAGES = ("docs/findings/figures.md", "docs/findings/gallery.md", "README.md")
MARKED = re.compile(r"<!-- figures: ([\w-]+) (\{[^\n]*\}) -->\n(.*?)<!-- /figures -->", re.DOTALL)
HEADLINE = re.compile(r"^(?:Fastest|Lowest median|No answer|So far the lowest median) for .*$", re.MULTILINE)
PAIRS = (
    ("2026-11-27.cpu.069b23a24959", "2026-11-28.cpu.dd0d4e764c49"),
    ("2026-11-27.cpu.b839632f5c59", "2026-11-28.cpu.dd0d4e764c49"),
    ("2026-11-27.cpu.069b23a24959", "2026-11-27.cpu.b839632f5c59"),
)  # kept sets that share cases
TIE = 1.03


def published() -> Iterator[Spoken]:
    """Yields (kind, sentence, the facts of its set) of all published tables."""
    yield from claims((ROOT / "README.md").read_text(encoding="utf-8"))
    for page in PAGES:
        for _, origin, text in MARKED.findall((ROOT / page).read_text(encoding="utf-8")):
            sets = json.loads(origin)["sets"]
            if len(sets) == 1:
                yield from table(text, [archived(each) for each in sets])


def table(text: str, truths: list[Truth]) -> Iterator[Spoken]:
    for answer in HEADLINE.findall(text):
        answer = re.sub(r" (?:Results are|Right results|Noise floor).*", "", answer).rstrip()
        yield "headline", answer, next(t for t in truths if any(f" for {on}: " in answer for on in t.cells))
    for claim in re.findall(r"says: .*?\*\*(.+?)\*\*$", text, re.MULTILINE):
        yield "thread", claim, truths[0]
    for told in re.findall(r"^\S+ over \S+: free on .*$", text, re.MULTILINE):
        yield "unified", told, truths[0]
    for floors in re.findall(r"^Noise floor, `\S+` over itself: (.+?)(?:\. |\.$)", text, re.MULTILINE):
        for each in re.findall(r"([a-z][^\[\]]*? [\d.]+× \[[^\]]*\])", floors):
            yield "floor", each, truths[0]
    yield from cells(text, truths)


def cells(text: str, truths: list[Truth]) -> Iterator[Spoken]:
    """Yields the figures of tables whose heads are questions, of those of one question, and of Keras's."""
    heads: list[str] = []
    question = ""
    for line in text.splitlines():
        if line.startswith("### ") or line.endswith(":"):
            question = line.removeprefix("### ").removesuffix(":").partition(", ")[0]
        said = [each.strip() for each in line.split("|")[1:-1]]
        if not line.startswith("|") or line.startswith("| ---"):
            heads = heads if line.startswith("|") else []
        elif not heads:
            heads = said
        elif heads[0].startswith("speedup over "):
            yield from across(said, heads, truths)
        elif heads[:3] == ["question", "native", "unified"] and said[5] != "–":
            yield "unified cell", " | ".join(said), truths[0]
        elif heads[:2] == ["stack", "median"] and "verdict" in heads:
            on = question if question in truths[0].cells else next(iter(truths[0].cells))
            yield from of_one(dict(zip(heads, said, strict=False)), on, truths[0])


def across(said: list[str], heads: list[str], truths: list[Truth]) -> Iterator[Spoken]:
    who, over = said[0].strip("`"), heads[0].removeprefix("speedup over ").strip("`")
    for on, each in zip(heads[1:], said[1:], strict=True):
        each = re.sub(r"(?<=×), (?=close|undecided|tie)", " ", each)
        truth = next(t for t in truths if on in t.cells)
        if "×" in each:  # what a cell says beside its verdict, such as `two modes`, is the page's
            each = re.sub(r"((?:faster|slower|tie|close))\b.*$", r"\1", each)
            yield "cell", f"{on} | `{who}` over `{over}`: {each}", truth
        elif re.fullmatch(r"[\d.,]+ (?:s|ms|µs|ns)", each):
            yield "cell", f"{on} | `{who}`: {each}", truth


def of_one(line: dict[str, str], on: str, truth: Truth) -> Iterator[Spoken]:
    who, word = line["stack"].strip("`"), re.split(r"[ ,:]", line["verdict"])[0]
    over, ratio = next((head, each) for head, each in line.items() if head.startswith("speedup over "))
    if "×" in ratio:
        yield "cell", f"{on} | `{who}` over `{over.removeprefix('speedup over ').strip('`')}`: {ratio} {word}", truth
    if re.fullmatch(r"[\d.,]+ (?:s|ms|µs|ns)", line["median"]):
        yield "cell", f"{on} | `{who}`: {line['median']}", truth


def compared() -> Iterator[Spoken]:
    """Yields what `./stackwars compare` says of kept sets that share cases."""
    for first, second in PAIRS:
        two = Two(archived(first).folder, archived(second))
        (pair,) = compared_sets(between([load(two.folder), load(two.second.folder)], across=True), THRESHOLD, TIE)
        yield from (("compare", sentence, two) for sentence in (pair.answer, *pair.sentences))


def claims(readme: str) -> Iterator[Spoken]:
    """Yields each claim of README's findings. Raises ValueError for a bullet of which nothing is checked."""
    found = readme.partition("## What we found")[2].partition("\n## ")[0]
    for bullet in re.findall(r"^- (.+)$", found, re.MULTILINE):
        told = [match[0] for claim in CLAIMS for match in re.finditer(claim, bullet)]
        if not told:
            raise ValueError(f"nothing of this bullet is checked: {bullet}")
        yield from (("bullet", each, archived(TRACKS)) for each in told)
