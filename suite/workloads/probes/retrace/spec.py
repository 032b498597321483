"""The classes, by the traces and compiles that the framework counted in the changed call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

MORE = 8


def classify(aspect: str, figures: Mapping[str, Any]) -> str:
    counts = [figures[name] for name in ("traces", "compiles") if name in figures]
    if not counts:
        return "interprets"
    if aspect == "scalars" and any(counts):
        return "retraces each time" if max(counts) >= MORE else "retraces at times"
    return "retraces" if any(counts) else "reuses"
