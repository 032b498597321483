"""Figures in sentences: numbers with a unit, factors and decimals that no marker encloses. Each is the constant of a
rule, or listed in docs/figures.toml with what stands behind it. Counts in whole numbers aren't looked for."""

from __future__ import annotations

import ast
import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

ROOT = Path(__file__).parents[3]
BENCHMARKS = "benchmarks/README.md"
# What stands behind a listed figure: the constants of a file; a benchmark of that name; a document; a calculation (of
# the page's own command, or as said); the size of packages or of a limit; or something seen, of which no set is kept.
KINDS = ("rule", "benchmark", "document", "computed", "size", "seen")
FACTORS = ("×", "times", "as", "the time")

PLAIN, POWER = r"\d+(?:,\d{3})*(?:\.\d+)?", r"e[-\N{MINUS SIGN}]?\d+"
NUMBER = f"{PLAIN}(?:{POWER})?"
WORDS = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10}
WORDS |= {"twelve": 12, "fifteen": 15, "sixteen": 16, "twenty": 20, "fifty": 50, "hundred": 100}
WORD = f"(?:{'|'.join(WORDS)})"
UNIT = r"×|%|[nµm]?s|min|seconds?|minutes?|hours?|[KMGT]i?B(?:/s)?|[MGT]?FLOPs?(?:/s)?|[mb]illion|times a second|times"
FIGURE = re.compile(
    rf"(?<![\w.@/-])(?:{NUMBER}(?:(?:,? (?:to|and|or)|,) {NUMBER})* ?(?:{UNIT})(?![\w/])|{NUMBER} of {NUMBER}\b(?!-)"
    rf"|{PLAIN}{POWER}(?!\w)|\d+\.\d+(?![\w.]*\d)|{WORD}(?: (?:to|and|or|of) {WORD})* (?:{UNIT})\b"
    r"|(?:half|twice|double|a (?:third|quarter|tenth)(?: of)?) (?:the time|as)\b)"
)
VERSIONED = (
    "Python|PyTorch|PyTorch/XLA|JAX|Keras|TensorFlow|NumPy|transformers|LLaMA|GPT-Neo|ResNet-50|release|small build,"
)
# No prose: what is generated or code, where a link leads, versions, `2 × 64 tokens`, and 1×, which is no figure.
HIDDEN = re.compile(
    r"<!-- (figures|columns|generated)\b.*?<!-- /\1 -->|^```.*?^```|<!--.*?-->|<[^>\n]+>|`[^`\n]*`|(?<=\])\([^)\s]*\)"
    rf"|\b(?:{VERSIONED}) v?\d+\.\d+(?:(?:,| to| or| and|, the others) \d\.\d+)*"
    rf"(?![\d.]*\d| ?(?:{UNIT})(?![\w/])| (?:to|or|and) \d[\d.]* ?(?:{UNIT})(?![\w/]))|arXiv:[\d.]+|\d+(?:\.\d+){{2,}}"
    r"|\d[\d,]* × (?=\d)|(?<![\d.])1×",
    re.DOTALL | re.MULTILINE,
)
SCALE = {"%": 1e-2, "ns": 1e-9, "µs": 1e-6, "ms": 1e-3, "min": 60, "minutes": 60, "hours": 3600, "KiB": 2**10} | {
    f"{prefix}{i}B": base ** (3 if prefix == "G" else 2) for prefix in "MG" for i, base in (("i", 2**10), ("", 10**3))
}


class Page(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What stands behind a page's figures: `rules`, the files whose constants it may say, factors excepted, and
    `listed`, {words of the page, or a heading for all below it: `KIND: what`}."""

    rules: tuple[str, ...] = ()
    listed: dict[str, str] = {}


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure with its place in the page's text."""

    words: str
    start: int
    end: int

    @property
    def values(self) -> list[float]:
        """Returns its numbers in the base unit: 0.05 for 5 %, 0.0003 for 0.3 ms."""
        numbers = re.findall(rf"{NUMBER}|\b{WORD}\b", self.words)
        values = [float(WORDS.get(text, text.replace(",", "").replace("\N{MINUS SIGN}", "-"))) for text in numbers]
        if self.words.endswith(" times a second"):
            return [1 / value for value in values]
        unit = re.sub(r"^.*[\d ]", "", self.words)
        return [value * SCALE.get(unit, 1) for value in values]


def pages(file: Path) -> dict[str, Page]:
    """Returns the pages whose figures are looked for, by their path, as docs/figures.toml lists them."""
    return msgspec.convert(tomllib.loads(file.read_text(encoding="utf-8"))["numbers"], dict[str, Page])


def figures_of(text: str) -> list[Figure]:
    """Returns the figures of a page's sentences and of its tables outside of markers."""
    shown = HIDDEN.sub(lambda hidden: "`" * len(hidden[0]), text)
    return [Figure(found[0], *found.span()) for found in FIGURE.finditer(shown)]


def constants(files: tuple[str, ...]) -> set[float]:
    """Returns the numbers that files of Python or TOML assign at their top, in classes and as defaults."""
    return {float(f"{number:.9g}") for file in files for number in numbers_of(ROOT / file)}


def numbers_of(file: Path) -> Iterator[float]:
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".toml":
        yield from (float(number) for number in re.findall(r"(?<![\w.])\d+(?:\.\d+)?(?![\w.])", text))
        return
    tree = ast.parse(text)
    bodies: list[Any] = [tree, *(node for node in tree.body if isinstance(node, ast.ClassDef))]
    for statement in (each for body in bodies for each in body.body if isinstance(each, (ast.Assign, ast.AnnAssign))):
        for node in ast.walk(statement):
            if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
                yield float(node.value)
            if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mult, ast.Pow)):
                yield float(eval(compile(ast.Expression(node), "constant", "eval"), {"__builtins__": {}}))


def is_rule(figure: Figure, known: set[float]) -> bool:
    """Whether each number of a figure is a constant; a percentage also stands for a share beyond 1."""
    return bool(figure.values) and all(
        {float(f"{each:.9g}") for each in (value, 1 + value, 1 - value)} & known
        if "%" in figure.words
        else float(f"{value:.9g}") in known
        for value in figure.values
    )


def sections(text: str, heading: str) -> Iterator[tuple[int, int]]:
    """Yields the place of what stands under a heading."""
    start = text.find(f"\n{heading}\n") + 1 if not text.startswith(heading) else 0
    level = heading.partition(" ")[0]
    after = re.compile(rf"^#{{1,{len(level)}}} ", re.MULTILINE).search(text, start + len(heading))
    if text[start:].startswith(heading):
        yield start, after.start() if after else len(text)


def places(text: str, words: str) -> list[tuple[int, int]]:
    """Returns where listed words stand in a page, or what is under a listed heading."""
    if words.startswith("#"):
        return [*sections(text, words)]
    return [found.span() for found in re.finditer(re.escape(words), text)]


def sources(text: str, page: Page) -> tuple[Counter[str], list[str]]:
    """Returns how many of a page's figures have a source, by its kind, and a sentence for each figure without one, each
    source that doesn't say its figure, and each that has none."""
    counts: Counter[str] = Counter()
    problems, idle = [], {*page.listed}
    known, listed = constants(page.rules), {words: places(text, words) for words in page.listed}
    for figure in figures_of(text):
        around = text[max(0, figure.start - 40) : figure.end + 30].replace("\n", " ")
        behind = [w for w, spans in listed.items() if any(a <= figure.start and figure.end <= b for a, b in spans)]
        idle -= {*behind}
        if behind:
            kind, _, source = page.listed[behind[-1]].partition(": ")
            counts[kind] += 1
            if not says(kind, source, figure, behind[-1]):
                problems.append(f"'{figure.words}' isn't what its source says, '{kind}: {source}': …{around}…")
        elif figure.words.endswith(FACTORS) or not is_rule(figure, known):
            problems.append(f"no set, rule or listed source stands behind '{figure.words}': …{around}…")
        else:
            counts["rule"] += 1
    return counts, problems + [f"no figure is in the listed words '{words}'" for words in sorted(idle)]


def says(kind: str, source: str, figure: Figure, words: str) -> bool:
    """Whether a listed source is of a known kind and, where it is in this repository, says the figure: a file has the
    constant, a benchmark's text the numbers; a benchmark of a whole section must only be there."""
    if kind == "rule":
        return is_rule(figure, constants((source,)))
    if kind == "benchmark":
        text = (ROOT / BENCHMARKS).read_text(encoding="utf-8")
        known = "".join(text[start:end] for start, end in sections(text, f"## {source}"))
        numbers = re.findall(NUMBER, figure.words)
        return bool(known) and (words.startswith("#") or all(f" {number}" in known for number in numbers))
    return kind in KINDS and bool(source)
