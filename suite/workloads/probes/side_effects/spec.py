"""The classes, by counts alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def classify(aspect: str, figures: Mapping[str, Any]) -> str:
    if aspect == "global":
        return "each call" if figures["right"] == figures["calls"] else "stale"
    if figures["times"] == figures["calls"]:
        return "each call"
    return "while tracing" if figures["times"] else "never"
