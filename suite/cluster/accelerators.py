"""Reads cloud/accelerators.toml: the kinds of machines that a job may request, and how each scheduler names them."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from suite.case import TARGETS
from suite.errors import UserError, unknown

FILE = Path(__file__).parents[2] / "cloud" / "accelerators.toml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Accelerator:
    """One kind of machine. A field that is empty doesn't apply to this kind. `memory` and `disk` are written as for a
    Kubernetes pod, like `14Gi`; cloud/accelerators.toml explains the other fields."""

    name: str
    target: str
    skypilot: str
    resource: str
    nodes: tuple[Mapping[str, list[str]], ...]
    gres: str
    cores: int
    memory: str
    disk: str
    runtime: str = ""

    @property
    def memory_gb(self) -> int:
        """Returns the GB of memory to request from SkyPilot: the number of GiB. N GB are a little less than N GiB, so
        that a machine of exactly this size is accepted."""
        return int(self.memory.removesuffix("Gi"))


def load(path: Path = FILE) -> dict[str, Accelerator]:
    """Returns {name: accelerator} of a file. Raises UserError, which names the entry, if an entry isn't valid."""
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError) as broken:
        raise UserError(f"{path} can't be read: {broken}.") from broken
    return {name: entry(name, table, path) for name, table in tables.items()}


def entry(name: str, table: Mapping[str, Any], path: Path) -> Accelerator:
    """Returns the accelerator that a TOML table describes. Raises UserError for a key or value that isn't valid."""
    needed = {field.name for field in fields(Accelerator)} - {"name", "runtime"}
    for key in sorted(needed ^ table.keys() - {"runtime"}):
        raise UserError(f"{path}, [{name}]: '{key}' is {'no key of an accelerator' if key in table else 'missing'}.")
    sized = all(re.fullmatch(r"[1-9]\d*Gi", str(table[key])) for key in ("memory", "disk"))
    if table["target"] not in TARGETS or not sized or type(table["cores"]) is not int:
        raise UserError(
            f"{path}, [{name}]: a target is one of {', '.join(TARGETS)}, memory and disk are like '14Gi', "
            "cores a whole number."
        )
    return Accelerator(name=name, **{**table, "nodes": tuple(table["nodes"])})


def find(name: str | None, target: str) -> Accelerator:
    """Returns the accelerator of this name; if `name` is None, the first one of the target. Raises UserError for an
    unknown name, and for an accelerator of another target."""
    if target not in TARGETS:
        raise unknown("target", target, TARGETS)
    listed = load()
    if name is None:
        return next(accelerator for accelerator in listed.values() if accelerator.target == target)
    if name not in listed:
        raise unknown("accelerator", name, listed)
    if listed[name].target != target:
        raise UserError(f"{name} belongs to another target: it needs --target={listed[name].target}.")
    return listed[name]
