"""What a probe's folder says in `probe.toml`, under the names that a spec gives it: title, sizes, aspects, figures,
classes, and what pages say of them."""

from __future__ import annotations

import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any

from suite.errors import UserError

FILE = "probe.toml"


def add(folder: Path, spec: ModuleType) -> None:
    """Gives a spec the words of its folder's `probe.toml`; figures are added to its own. Without `classify`, nothing is
    classified: every class is `measured`. Raises UserError with the line or the key that is wrong."""
    path = folder / FILE
    try:
        told = tomllib.loads(path.read_text(encoding="utf-8"))
        figures = {name: (unit, meaning) for name, (unit, meaning) in told.get("figures", {}).items()}
        spec.__dict__.update(
            TITLE=told["title"],
            SIZES=told["sizes"],
            PASSES=("forward",),
            ASPECTS=told["aspects"],
            FIGURES=getattr(spec, "FIGURES", {}) | figures,
            CLASSES=told["classes"],
            DOCUMENTED=beliefs(told, "documented"),
            PRIMER=beliefs(told, "primer"),
            NOT_ON=told.get("not_on", {}),
        )
    except KeyError as missing:
        raise UserError(f"{path} lacks {missing.args[0]}. See docs/how-to/probe.md.") from None
    except (AttributeError, TypeError, ValueError) as broken:
        raise UserError(f"{path} can't be read: {broken}. See docs/how-to/probe.md.") from None
    if not hasattr(spec, "classify"):
        spec.__dict__["classify"] = measured


def measured(aspect: str, figures: Any) -> str:
    """The class of a probe that classifies nothing."""
    return "measured"


def beliefs(told: dict[str, Any], name: str) -> dict[str, dict[str, tuple[str, str]]]:
    """{aspect: {stack: (class, address of the page that says so)}}."""
    return {
        aspect: {stack: (class_, told["pages"][page]) for stack, (class_, page) in stacks.items()}
        for aspect, stacks in told.get(name, {}).items()
    }
