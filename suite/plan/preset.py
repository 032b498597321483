"""Presets are data: a TOML file says what is asked and which constants of the protocol differ."""

from __future__ import annotations

import dataclasses
import difflib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_type_hints

from suite.case import PASSES
from suite.errors import UserError, unknown
from suite.protocol import Protocol

HOME = Path(__file__).parents[2] / "presets"
KEYS = {"title": str, "size": str, "baseline": str, "stacks": list, "precisions": list, "tracks": list, "twin": bool,
        "seed": int, "questions": list, "protocol": dict}  # fmt: skip
QUESTION_KEYS = {"workload": str, "pass": str, "size": str}


@dataclass(frozen=True, slots=True)
class Question:
    """A workload, a pass, and a size if it isn't the preset's."""

    workload: str
    pass_: str
    size: str | None = None


@dataclass(frozen=True, slots=True)
class Preset:
    """What a run asks unless options say otherwise."""

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


def names() -> list[str]:
    """The presets that come with the suite."""
    return sorted(path.stem for path in HOME.glob("*.toml"))


def load(name: str) -> Preset:
    """A preset by name, or by the path of a TOML file. Raises UserError naming file, key and near match."""
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
        baseline=data.get("baseline", "torch_eager"),
        stacks=tuple(data.get("stacks", ["*"])),
        precisions=tuple(data.get("precisions", ["f32"])),
        tracks=tuple(data.get("tracks", ["default"])),
        twin=data.get("twin", True),
        seed=data.get("seed", 0),
        questions=tuple(question(entry, f"{path}, questions[{i}]") for i, entry in enumerate(data["questions"])),
        protocol=protocol(data.get("protocol", {}), f"{path}, [protocol]"),
    )


def question(entry: Any, where: str) -> Question:
    """One entry of `questions`."""
    if not isinstance(entry, dict):
        raise UserError(f"{where} must be a table such as {{ workload = \"gemm\", pass = \"forward\" }}.")
    check(entry, QUESTION_KEYS, where)
    if "workload" not in entry or entry.get("pass") not in PASSES:
        raise UserError(f"{where} needs a 'workload' and a 'pass' that is one of {', '.join(PASSES)}.")
    return Question(entry["workload"], entry["pass"], entry.get("size"))


def protocol(entries: dict[str, Any], where: str) -> Protocol:
    """The protocol with some constants replaced; an integer may stand for a float."""
    kinds = get_type_hints(Protocol)
    check(entries, {field.name: kinds[field.name] for field in dataclasses.fields(Protocol)}, where)
    return Protocol(**entries)


def check(data: dict[str, Any], kinds: Mapping[str, type], where: str) -> None:
    """Refuse unknown keys, with the near match, and values of another type."""
    for key, value in data.items():
        if key not in kinds:
            near = difflib.get_close_matches(key, kinds, n=1)
            hint = f" Did you mean '{near[0]}'?" if near else f" Known: {', '.join(sorted(kinds))}."
            raise UserError(f"{where}: unknown key '{key}'.{hint}")
        wanted = kinds[key]
        fits = isinstance(value, (int, float)) if wanted is float else isinstance(value, wanted)
        if not fits or (isinstance(value, bool) and wanted is not bool):
            raise UserError(f"{where}: '{key}' must be a {wanted.__name__}, not {value!r}.")
