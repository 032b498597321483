"""Facts as text: the nested JSON of rows and of machine.json becomes {name: value}."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from suite.units import digits, quantity, seconds

MOST_VALUES = 4  # of a fact that differs between rows are listed


def known(values: Mapping[str, str]) -> dict[str, str]:
    """Returns the facts that aren't empty."""
    return {name: value for name, value in values.items() if value}


def facts_of(value: Any, prefix: str = "") -> dict[str, str]:
    """Returns nested JSON as flat facts: {'cpu': {'model': 'x'}} is `cpu.model = x`."""
    if isinstance(value, Mapping) and value:
        parts = (facts_of(value[key], f"{prefix}.{key}" if prefix else str(key)) for key in value)
        return {name: text for part in parts for name, text in part.items()}
    return {prefix: as_text(value, prefix)}


def as_text(value: Any, name: str = "") -> str:
    """Returns JSON in words: null is `unknown`, true is `yes`, a list of plain values is comma-separated.

    A number whose `name` ends in its unit (`ram_bytes`, `timer_cost_seconds`) is scaled.
    """
    if value is None:
        return "unknown"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float) and name.endswith("_bytes"):
        return quantity(value)
    if isinstance(value, int | float) and name.endswith("_seconds"):
        return seconds(value)
    if isinstance(value, list | tuple) and not any(isinstance(member, Mapping | list) for member in value):
        return ", ".join(map(as_text, value)) or "none"
    return str(value) if isinstance(value, str | int | float) else json.dumps(value, sort_keys=True)


def merged(reports: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Returns the facts of many rows, sorted by name; a fact that differs between rows has all its values."""
    seen: dict[str, dict[str, None]] = {}
    for report in reports:
        for name, value in facts_of(report).items() if report else ():
            seen.setdefault(name, {})[value] = None
    return {name: joined(list(values)) for name, values in sorted(seen.items())}


def joined(values: list[str]) -> str:
    """Returns a few values separated by `|`; for many numbers their range, for many texts the first few."""
    if len(values) <= MOST_VALUES:
        return " | ".join(values)
    try:
        numbers = sorted(map(float, values))
    except ValueError:
        return " | ".join(values[:MOST_VALUES]) + f" | and {len(values) - MOST_VALUES} more"
    return f"{digits(numbers[0])} to {digits(numbers[-1])} in {len(numbers)} readings"
