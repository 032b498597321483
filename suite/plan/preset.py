"""Reads presets: TOML files with the questions of a run and the constants of the protocol that differ from defaults."""

from __future__ import annotations

import dataclasses
import itertools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta

from suite.case import PASSES, Purpose
from suite.errors import UserError, check_known, unknown
from suite.protocol import Protocol
from suite.sets import json_file
from suite.stacks.catalog import BASELINE
from suite.units import BYTES, parse

HOME = Path(__file__).parents[2] / "presets"
PURPOSES = (Purpose.TIMED, Purpose.MEMORY, Purpose.IR, Purpose.EXPLAIN, Purpose.PROBE)  # what a whole run can be for
SPELLED = {"pass": "pass_", "limit_memory": "limits"}  # {key in the file: field}, where they differ


@dataclass(frozen=True, slots=True)
class Question:
    """One question of a preset: a workload and a pass. `size` is given if it isn't the preset's. `dims` has values that
    replace those of the size, each value in a case of its own."""

    workload: str
    pass_: str
    size: str | None = None
    dims: Mapping[str, Annotated[tuple[Annotated[int, Meta(gt=0)], ...], Meta(min_length=1)]] = field(
        default_factory=dict
    )

    def __post_init__(self) -> None:
        check_known("pass", self.pass_, PASSES)

    @property
    def replaced(self) -> tuple[Mapping[str, int], ...]:
        """Returns every combination of the dims' values; one empty combination if no dim is replaced."""
        return tuple(dict(zip(self.dims, values, strict=True)) for values in itertools.product(*self.dims.values()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """What a run measures, and how, unless options say otherwise. But for `name` and `path` the fields are the file's
    keys."""

    name: str
    path: Path
    title: str
    size: str
    questions: tuple[Question, ...]
    baseline: str = BASELINE
    stacks: tuple[str, ...] = ("*",)
    precisions: tuple[str, ...] = ("f32",)
    tracks: tuple[str, ...] = ("default",)
    twin: bool = True
    seed: int = 0
    protocol: Protocol = field(default_factory=Protocol)
    purpose: Purpose = Purpose.TIMED
    limits: tuple[int, ...] = ()  # bytes of memory

    def __post_init__(self) -> None:
        check_known("purpose", self.purpose, PURPOSES)


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
    fields = fields_of(Preset, data, str(path))
    if "questions" not in fields or "size" not in fields:
        raise UserError(f"Preset {path} needs the keys 'size' and 'questions'.")
    if isinstance(fields["questions"], list):
        fields["questions"] = [
            fields_of(Question, entry, f"{path}, questions[{n}]") for n, entry in enumerate(fields["questions"])
        ]
    if "protocol" in fields:
        fields["protocol"] = fields_of(Protocol, fields["protocol"], f"{path}, [protocol]")
    if isinstance(fields.get("limits"), list):
        fields["limits"] = [limit(entry, path) for entry in fields["limits"]]
    loaded: Preset = json_file.typed(
        Preset, {"title": path.stem} | fields | {"name": path.stem, "path": path}, str(path)
    )
    return loaded


def fields_of(kind: type, table: Any, where: str) -> Any:
    """Returns a table of the file under the names of fields. Raises UserError for a key that there isn't."""
    if not isinstance(table, dict):
        return table
    spelled = {field: key for key, field in SPELLED.items()}
    keys = [spelled.get(each.name, each.name) for each in dataclasses.fields(kind) if each.name not in ("name", "path")]
    for key in table:
        check_known("key", key, keys, of=where)
    return {SPELLED.get(key, key): value for key, value in table.items()}


def limit(entry: Any, path: Path) -> int:
    size = parse(entry, BYTES) if isinstance(entry, str) else None
    if size is None:
        raise UserError(f"{path}: 'limit_memory' is a list of sizes like \"6GiB\", not {entry!r}.")
    return int(size)
