"""README's findings: each claim of its bullets held against the kept sets behind it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from tests.sentences.facts.contrasts import settings
from tests.sentences.facts.estimates import Ratio
from tests.sentences.facts.reader import ARCHIVE, NATIVE, Truth, archived
from tests.sentences.kinds.shown import agrees

TRACKS, OPERATIONS, MODELS = "2026-11-27.cpu.b839632f5c59", "2026-11-27.cpu.069b23a24959", "2026-11-28.cpu.ab402eff7f8e"
LSTMS = ("2026-11-28.cpu.2c911dfa5d19", "2026-11-28.cpu.a12d0651eeea")
README = (ARCHIVE.parent / "README.md").read_text(encoding="utf-8")
N = r"([\d.]+)"
Claim = tuple[str, bool, Any]  # the words, whether they are so, what is so


def keras(who: str, *names: str) -> list[float]:
    """Returns how many times as long a Keras stack takes as the native one, on each question of some sets."""
    found = []
    for truth in map(archived, names):
        asked = [on for on, cells in truth.cells.items() if {who, NATIVE[who]} <= cells.keys()]
        found += [1 / ratio.value for on in asked if (ratio := truth.pair_word(on, who, NATIVE))]
    return found


def on_track(track: str) -> list[Ratio]:
    """Returns the ratios of compiled JAX over PyTorch on each question of a track."""
    truth = archived(TRACKS)
    asked = [on for on in truth.cells if f"{track} track" in on]
    return [ratio for on in asked if (ratio := truth.ratio(on, "jax_jit", "torch_eager"))]


def tuned() -> list[Ratio]:
    """Returns the ratios of PyTorch's tuned track over its default one."""
    ways = settings(archived(TRACKS), "track")
    return [of["tuned"] for (_, who), of in ways.items() if who == "torch_eager"]


def within(said: tuple[str, ...], values: list[float]) -> tuple[bool, Any]:
    ends = min(values), max(values)
    return all(agrees(each, end) for each, end in zip(said, ends, strict=True)), ends


def counted(said: tuple[str, ...], ratios: list[Ratio], word: str) -> tuple[bool, Any]:
    """Holds `3 of 3` with a verdict, and the range of the ratios."""
    some = sum(ratio.word == word for ratio in ratios)
    is_so, ends = within(said[2:], [ratio.value for ratio in ratios])
    return is_so and said[:2] == (str(some), str(len(ratios))), (some, len(ratios), ends)


def all_faster(said: tuple[str, ...], ratios: list[Ratio]) -> tuple[bool, Any]:
    is_so, ends = within(said, [ratio.value for ratio in ratios])
    return is_so and {ratio.word for ratio in ratios} == {"faster"}, (ends, [ratio.word for ratio in ratios])


def elu(said: tuple[str, ...]) -> tuple[bool, Any]:
    truth: Truth = archived(OPERATIONS)
    true = max(row["relative_error"] for row in truth.rows if row["outcome"] == "wrong" and row["relative_error"])
    return agrees(f"{said[0]} %", true), true


CLAIMS: dict[str, Callable[[tuple[str, ...]], tuple[bool, Any]]] = {
    rf"takes {N} to {N} times as long as JAX": lambda s: within(s, keras("keras_jax", OPERATIONS, MODELS, *LSTMS)),
    rf", {N} to {N} as TensorFlow": lambda s: within(s, keras("keras_tf", OPERATIONS, MODELS, *LSTMS)),
    rf", {N} to {N} as PyTorch": lambda s: within(s, keras("keras_torch", OPERATIONS, MODELS)),
    rf"LSTM:? {N} to {N}": lambda s: within(s, keras("keras_torch", *LSTMS)),
    rf"trains `ffn`, `gemm`, `mha` {N} to {N} times as fast": lambda s: all_faster(s, tuned()),
    rf"faster on (\d+) of (\d+) without it \({N} to {N}×\)": lambda s: counted(s, on_track("default"), "faster"),
    rf"slower on (\d+) of (\d+) with it \({N} to {N}×\)": lambda s: counted(s, on_track("tuned"), "slower"),
    rf"ELU's gradient {N} % off": elu,
}


def claims(readme: str = README) -> Iterator[Claim]:
    """Yields each claim of the bullets that a set stands behind. Raises ValueError for a bullet without any."""
    found = readme.partition("## What we found")[2].partition("\n## ")[0]
    for bullet in re.findall(r"^- (.+)$", found, re.MULTILINE):
        known = [(match, check) for pattern, check in CLAIMS.items() for match in re.finditer(pattern, bullet)]
        if not known:
            raise ValueError(f"nothing of this bullet is checked: {bullet}")
        for match, check in known:
            yield match[0], *check(match.groups())
