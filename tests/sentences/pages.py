"""Sentences outside a set's own page: the published tables, README's findings, and comparisons of two sets."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

from suite.cli.sets.compare import between
from suite.page.between_sets import compared_sets
from suite.results import load
from tests.sentences import figures
from tests.sentences.check import Violation, wrong_in
from tests.sentences.reader import NATIVE, Truth
from tests.sentences.said import NotUnderstood
from tests.sentences.shown import agrees

ROOT = Path(__file__).parents[2]
PAGES = ("docs/findings/figures.md", "docs/findings/gallery.md", "README.md")
MARKED = re.compile(r"<!-- figures: ([\w-]+) (\{[^\n]*\}) -->\n(.*?)<!-- /figures -->", re.DOTALL)
HEADLINE = re.compile(r"^(?:Fastest|Lowest median|No answer|So far the lowest median) for .*$", re.MULTILINE)
ROUNDED = 2  # digits of a range in a bullet that people wrote; one between markers has three
Bullet = tuple[str, bool, object]  # the words, whether they are so, what is so


@cache
def truth_of(name: str) -> Truth:
    """Returns the facts of a kept set by the beginning of its name."""
    (folder,) = (ROOT / "sets").glob(f"{name}*")
    return Truth(folder)


def published() -> Iterator[tuple[str, str, Truth]]:
    """Yields (kind, sentence, the facts of its set) of all published tables."""
    for page in PAGES:
        for name, origin, text in MARKED.findall((ROOT / page).read_text(encoding="utf-8")):
            sets = json.loads(origin)["sets"]
            if len(sets) == 1 or name == "readme":
                yield from table(text, [truth_of(each) for each in sets])


def table(text: str, truths: list[Truth]) -> Iterator[tuple[str, str, Truth]]:
    for answer in HEADLINE.findall(text):
        answer = re.sub(r" (?:Results are|Right results|Noise floor).*", "", answer).rstrip()
        yield "headline", answer, next(t for t in truths if any(f" for {on}: " in answer for on in t.cells))
    for claim in re.findall(r"says: .*?\*\*(.+?)\*\*$", text, re.MULTILINE):
        yield "thread", claim, truths[0]
    for floors in re.findall(r"^Noise floor, `\S+` over itself: (.+?)(?:\. |\.$)", text, re.MULTILINE):
        for each in re.findall(r"([a-z][^\[\]]*? [\d.]+× \[[^\]]*\])", floors):
            yield "floor", each, truths[0]
    yield from cells(text, truths)


def cells(text: str, truths: list[Truth]) -> Iterator[tuple[str, str, Truth]]:
    """Yields the figures of tables whose heads are questions, of those of one question, and of Keras's."""
    heads: list[str] = []
    question = ""
    for line in text.splitlines():
        if line.startswith("### ") or line.endswith(":"):
            question = line.removeprefix("### ").removesuffix(":").partition(", ")[0]
        said = [each.strip() for each in line.strip("| ").split(" | ")]
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


def across(said: list[str], heads: list[str], truths: list[Truth]) -> Iterator[tuple[str, str, Truth]]:
    who, over = said[0].strip("`"), heads[0].removeprefix("speedup over ").strip("`")
    for on, each in zip(heads[1:], said[1:], strict=True):
        each = re.sub(r"(?<=×), (?=close|undecided|tie)", " ", each)
        each = re.sub(r"(?:, two modes| by its question alone)+$", "", each)
        truth = next(t for t in truths if on in t.cells)
        if "×" in each:
            yield "cell", f"{on} | `{who}` over `{over}`: {each}", truth
        elif re.match(r"[\d.,]+ (?:s|ms|µs|ns)$", each):
            yield "cell", f"{on} | `{who}`: {each}", truth


def of_one(line: dict[str, str], on: str, truth: Truth) -> Iterator[tuple[str, str, Truth]]:
    who, word = line["stack"].strip("`"), line["verdict"].partition(" (")[0].partition(":")[0]
    over, ratio = next((head, each) for head, each in line.items() if head.startswith("speedup over "))
    if "×" in ratio:
        yield "cell", f"{on} | `{who}` over `{over.removeprefix('speedup over ').strip('`')}`: {ratio} {word}", truth
    if line["median"] not in ("–", ""):
        yield "cell", f"{on} | `{who}`: {line['median']}", truth


def times_as_long(who: str, sets: list[Truth], but: str = "", only: str = "") -> tuple[float, float]:
    """Returns the range of a Keras stack's time over the native stack's, over the questions of some sets."""
    found = []
    for truth in sets:
        for on, of in truth.cells.items():
            workload = on.split()[0]
            if {who, NATIVE[who]} <= of.keys() and workload != but and workload.startswith(only or ""):
                ratio = truth.pair_word(on, who, NATIVE)
                found += [1 / ratio.value] if ratio else []
    return min(found), max(found)


def is_range(said: tuple[str, ...], true: tuple[float, float], digits: int = 3) -> bool:
    return all(agrees(each, end, digits) for each, end in zip(said, true, strict=True))


def bullets(readme: str) -> Iterator[Bullet]:
    """Yields each claim of README's findings that sets stand behind: those written by hand, and those computed."""
    found = readme.partition("## What we found")[2].partition("\n## ")[0]
    tracks, operations, models = (truth_of(name) for name in ("2026-11-27.cpu.b839", "2026-11-27.cpu.069b", "2026-11-28.cpu.ab40"))
    rnns = [truth_of(name) for name in ("2026-11-28.cpu.2c91", "2026-11-28.cpu.a12d")]
    jax = {track: [tracks.ratio(on, "jax_jit", "torch_eager") for on in tracks.cells if track in on] for track in ("default", "tuned")}
    ends = {track: (min(r.value for r in of if r), max(r.value for r in of if r)) for track, of in jax.items()}
    words = {track: [r.word for r in of if r] for track, of in jax.items()}
    ways = [of["tuned"] for (_, who), of in figures.settings(tracks, "track").items() if who == "torch_eager"]
    n = r"([\d.]+)"
    claims: dict[str, Callable[[tuple[str, ...]], tuple[bool, object]]] = {
        rf"JAX trains `gemm`, `ffn` and `mha` {n} to {n} times as fast": lambda said: (
            is_range(said, ends["default"], ROUNDED) and {*words["default"]} == {"faster"}, ends["default"]),
        r"path\]\([^)]*\) (PyTorch) leads": lambda _: (
            all(tracks.leaders(on) == ["torch_eager"] for on in tracks.cells if "tuned" in on), [tracks.leaders(on) for on in tracks.cells]),
        rf"times as long on JAX, {n} to {n} on PyTorch": lambda said: (
            is_range(said, times_as_long("keras_torch", [operations, models]), ROUNDED), times_as_long("keras_torch", [operations, models])),
        rf"takes {n} to {n} times as long (?:on JAX|as JAX alone)": lambda said: (
            is_range(said, times_as_long("keras_jax", [operations, models, *(rnns if "alone" in found else [])]), 3 if "alone" in found else ROUNDED),
            times_as_long("keras_jax", [operations, models])),
        rf", {n} to {n} as TensorFlow": lambda said: (
            is_range(said, times_as_long("keras_tf", [operations, models, *rnns])), times_as_long("keras_tf", [operations, models, *rnns])),
        rf", {n} to {n} as PyTorch": lambda said: (
            is_range(said, times_as_long("keras_torch", [operations, models])), times_as_long("keras_torch", [operations, models])),
        rf"(?:LSTM|LSTM:) {n} to {n}": lambda said: (
            is_range(said, times_as_long("keras_torch", rnns)), times_as_long("keras_torch", rnns)),
        rf"trains `ffn`, `gemm`, `mha` {n} to {n} times as fast": lambda said: (
            is_range(said, (min(r.value for r in ways), max(r.value for r in ways))) and {r.word for r in ways} == {"faster"}, [(r.value, r.word) for r in ways]),
        rf"faster on (\d+) of (\d+) without it \({n} to {n}×\)": lambda said: (
            is_range(said[2:], ends["default"]) and said[:2] == (str(words["default"].count("faster")), str(len(words["default"]))), (ends, words)),
        rf"slower on (\d+) of (\d+) with it \({n} to {n}×\)": lambda said: (
            is_range(said[2:], ends["tuned"]) and said[:2] == (str(words["tuned"].count("slower")), str(len(words["tuned"]))), (ends, words)),
        rf"ELU's gradient {n} % off": lambda said: elu(said[0], operations),
    }  # fmt: skip
    for pattern, check in claims.items():
        for match in re.finditer(pattern, found):
            yield match[0], *check(match.groups())


def elu(said: str, truth: Truth) -> tuple[bool, float]:
    true = max(row["relative_error"] for row in truth.rows if row["outcome"] == "wrong" and row["relative_error"])
    return agrees(f"{said} %", true, 3 if "." in said else ROUNDED), true


def compared(first: Truth, second: Truth) -> Iterator[tuple[str, list[Violation]]]:
    """Yields every sentence of a comparison of two sets, with what is wrong in it."""
    found, drift, unlike = figures.changes(first, second)
    (pair,) = compared_sets(between([load(first.folder), load(second.folder)], across=True), 1.05, 1.03)
    for sentence in (pair.answer, *pair.sentences):
        yield sentence, wrong_in_compare(sentence, found, drift, unlike, first)


def wrong_in_compare(
    sentence: str, found: figures.Changes, drift: float | None, unlike: list[str], truth: Truth
) -> list[Violation]:
    from tests.sentences.check import grammar
    from tests.sentences.said import facts_in

    try:
        (fact,) = facts_in("compare", sentence, grammar(truth))
    except NotUnderstood as unclear:
        return [Violation("compare", sentence, None, str(unclear))]
    said, true, is_so = fact.value, "", True
    if "changed" in said:
        changed = sum(bool(ratio and ratio.word in ("faster", "slower")) for ratio, *_ in found.values())
        worse = sum(
            (before == "ok" != after) or bool(ratio and ratio.word == "slower" and 1 / ratio.value > 1.05)
            for ratio, before, after in found.values()
        )
        true = str((changed, len(found), worse))
        is_so = not unlike and (int(said["changed"]), int(said["of"]), int(said["worse"])) == (changed, len(found), worse)
    elif "unlike" in said:
        true, is_so = ", ".join(unlike), said["unlike"].split(", ") == unlike
    elif "drift" in said:
        true, is_so = str(drift), drift is not None and agrees(said["drift"], drift - 1)
    elif "shift" in said:
        ratios = sorted(ratio.value for ratio, *_ in found.values() if ratio)
        middle = figures.middle_of_logs(ratios)
        true, is_so = str(middle), agrees(said["shift"], middle)
    return [] if is_so else [Violation("compare", sentence, fact, true)]
