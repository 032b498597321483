"""Reads presets: TOML files with the questions of a run and the constants of the protocol that differ from defaults."""

from __future__ import annotations

import dataclasses
import difflib
import itertools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_type_hints

from suite.case import PASSES, Purpose
from suite.errors import UserError, unknown
from suite.protocol import Protocol
from suite.stacks.catalog import BASELINE
from suite.units import BYTES, parse

HOME = Path(__file__).parents[2] / "presets"
KEYS = {
    "title": str,
    "purpose": str,
    "size": str,
    "baseline": str,
    "stacks": list,
    "precisions": list,
    "tracks": list,
    "limit_memory": list,
    "twin": bool,
    "seed": int,
    "questions": list,
    "protocol": dict,
}
QUESTION_KEYS = {"workload": str, "pass": str, "size": str, "dims": dict}
PURPOSES = (Purpose.TIMED, Purpose.MEMORY, Purpose.IR, Purpose.EXPLAIN, Purpose.PROBE)  # what a whole run can be for


@dataclass(frozen=True, slots=True)
class Question:
    """One question of a preset: a workload and a pass. `size` is given if it isn't the preset's. `dims` has values that
    replace those of the size, each value in a case of its own."""

    workload: str
    pass_: str
    size: str | None = None
    dims: Mapping[str, tuple[int, ...]] = field(default_factory=dict)

    @property
    def replaced(self) -> tuple[Mapping[str, int], ...]:
        """Returns every combination of the dims' values; one empty combination if no dim is replaced."""
        return tuple(dict(zip(self.dims, values, strict=True)) for values in itertools.product(*self.dims.values()))


@dataclass(frozen=True, slots=True)
class Preset:
    """What a run measures, and how, unless options say otherwise."""

    name: str
    path: Path
    title: str
    size: str
    baseline: str
    stacks: tuple[str, ...]
    precisions: tuple[str, ...]
    tracks: tuple[str, ...]
    twin: bool
    seed: int
    questions: tuple[Question, ...]
    protocol: Protocol
    purpose: Purpose = Purpose.TIMED
    limits: tuple[int, ...] = ()  # bytes of memory


def names() -> list[str]:
    return sorted(path.stem for path in HOME.glob("*.toml"))


def load(name: str) -> Preset:
    """Returns a preset, given by its name or by the path of a TOML file. Raises UserError, which names the file and the
    key, or the nearest name."""
    path = Path(name) if name.endswith(".toml") else HOME / f"{name}.toml"
    if not path.is_file():
        if name.endswith(".toml"):
            raise UserError(f"There is no preset file {path}.")
        raise unknown("preset", name, names())
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as broken:
        raise UserError(f"Preset {path} isn't valid TOML: {broken}.") from broken
    check(data, KEYS, str(path))
    if "questions" not in data or "size" not in data:
        raise UserError(f"Preset {path} needs the keys 'size' and 'questions'.")
    return Preset(
        name=path.stem,
        path=path,
        title=data.get("title", path.stem),
        size=data["size"],
        baseline=data.get("baseline", BASELINE),
        stacks=tuple(data.get("stacks", ["*"])),
        precisions=tuple(data.get("precisions", ["f32"])),
        tracks=tuple(data.get("tracks", ["default"])),
        twin=data.get("twin", True),
        seed=data.get("seed", 0),
        questions=tuple(question(entry, f"{path}, questions[{i}]") for i, entry in enumerate(data["questions"])),
        protocol=protocol(data.get("protocol", {}), f"{path}, [protocol]"),
        purpose=purpose(data.get("purpose", "timed"), path),
        limits=tuple(limit(entry, path) for entry in data.get("limit_memory", [])),
    )


def purpose(word: str, path: Path) -> Purpose:
    if word not in PURPOSES:
        raise UserError(f"Preset {path}: {unknown('purpose', word, PURPOSES)}")
    return Purpose(word)


def limit(entry: Any, path: Path) -> int:
    size = parse(entry, BYTES) if isinstance(entry, str) else None
    if size is None:
        raise UserError(f"{path}: 'limit_memory' is a list of sizes like \"6GiB\", not {entry!r}.")
    return int(size)


def question(entry: Any, where: str) -> Question:
    if not isinstance(entry, dict):
        raise UserError(f'{where} must be a table such as {{ workload = "gemm", pass = "forward" }}.')
    check(entry, QUESTION_KEYS, where)
    if "workload" not in entry or entry.get("pass") not in PASSES:
        raise UserError(f"{where} needs a 'workload' and a 'pass' that is one of {', '.join(PASSES)}.")
    dims = entry.get("dims", {})
    for name, values in dims.items():
        whole = isinstance(values, list) and values and all(type(value) is int and value > 0 for value in values)
        if not whole:
            raise UserError(f"{where}: 'dims' has lists of whole numbers, like {{ batch = [1, 2, 4] }}; {name} hasn't.")
    return Question(
        entry["workload"], entry["pass"], entry.get("size"), {name: tuple(values) for name, values in dims.items()}
    )


def protocol(entries: dict[str, Any], where: str) -> Protocol:
    kinds = get_type_hints(Protocol)
    check(entries, {field.name: kinds[field.name] for field in dataclasses.fields(Protocol)}, where)
    return Protocol(**entries)


def check(data: dict[str, Any], kinds: Mapping[str, type], where: str) -> None:
    for key, value in data.items():
        if key not in kinds:
            near = difflib.get_close_matches(key, kinds, n=1)
            hint = f" Did you mean '{near[0]}'?" if near else f" Known: {', '.join(sorted(kinds))}."
            raise UserError(f"{where}: unknown key '{key}'.{hint}")
        kind = kinds[key]
        fits = isinstance(value, (int, float)) if kind is float else isinstance(value, kind)
        if not fits or (isinstance(value, bool) and kind is not bool):
            raise UserError(f"{where}: '{key}' must be a {kind.__name__}, not {value!r}.")
