"""Puts the source into a wheel as data; an editable install, as of `.venv`, has it already."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SOURCE = (
    *("suite", "presets", "docker", "reports", "cloud", "examples", "docs/published"),
    *("tasks.py", "pyproject.toml", "hatch_build.py", "README.md", "LICENSE"),
)
# What only tests need. The golden files of their sizes are a third of all: without one, stacks are compared with each
# other, as at every size that has none.
TESTS = ("golden/tiny.*", "golden/odd.*", "docker/locks/test/*", "__pycache__/*")


class Source(BuildHookInterface[Any]):
    """Of a wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "standard":
            root = Path(self.root)
            files = [
                file
                for name in SOURCE
                for file in ((root / name).rglob("*") if (root / name).is_dir() else [root / name])
            ]
            build_data["force_include"] |= {
                str(file): f"stackwars_source/{file.relative_to(root)}"
                for file in files
                if file.is_file() and not any(map(file.match, TESTS))
            }
