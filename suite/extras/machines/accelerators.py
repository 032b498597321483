"""Reads cloud/accelerators.toml: the kinds of machines that a job may request, and how each scheduler names them."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from suite.case import TARGETS
from suite.errors import UserError, check_known

FILE = Path(__file__).parents[3] / "cloud" / "accelerators.toml"


Gibibytes = Annotated[str, msgspec.Meta(pattern=r"^[1-9]\d*Gi$")]  # as for a Kubernetes pod


class Accelerator(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One kind of machine. A field that is empty doesn't apply to this kind; cloud/accelerators.toml explains them."""

    name: str
    target: Literal["cpu", "cuda", "tpu"]
    skypilot: str
    resource: str
    nodes: tuple[dict[str, list[str]], ...]
    gres: str
    cores: int
    memory: Gibibytes
    disk: Gibibytes
    runtime: str = ""

    @property
    def memory_gb(self) -> int:
        """Returns the GB of memory to request from SkyPilot: the number of GiB. N GB are a little less than N GiB, so
        that a machine of exactly this size is accepted."""
        return int(self.memory.removesuffix("Gi"))


def load(path: Path = FILE) -> dict[str, Accelerator]:
    """Returns {name: accelerator} of a file. Raises UserError, which names the entry, if an entry isn't valid."""
    listed = {}
    try:
        for name, table in tomllib.loads(path.read_text(encoding="utf-8")).items():
            where = f"{path}, [{name}]"
            listed[name] = msgspec.convert({**table, "name": name}, Accelerator)
    except (OSError, tomllib.TOMLDecodeError) as broken:
        raise UserError(f"{path} can't be read: {broken}.") from broken
    except msgspec.ValidationError as broken:
        raise UserError(f"{where}: {broken}.") from broken
    return listed


def find(name: str | None, target: str) -> Accelerator:
    """Returns the accelerator of this name; if `name` is None, the first one of the target. Raises UserError for an
    unknown name, and for an accelerator of another target."""
    check_known("target", target, TARGETS)
    listed = load()
    if name is None:
        return next(accelerator for accelerator in listed.values() if accelerator.target == target)
    check_known("accelerator", name, listed)
    if listed[name].target != target:
        raise UserError(f"{name} belongs to another target: it needs --target={listed[name].target}.")
    return listed[name]
