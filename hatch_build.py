"""Puts the source into a wheel as data; an editable install, as of `.venv`, has it already."""

from __future__ import annotations

from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SOURCE = (
    *("suite", "presets", "docker", "reports", "cloud", "examples", "docs/published"),
    *("tasks.py", "pyproject.toml", "hatch_build.py", "README.md", "LICENSE"),
)


class Source(BuildHookInterface[Any]):
    """Of a wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "standard":
            build_data["force_include"] |= {name: f"stackwars_source/{name}" for name in SOURCE}
