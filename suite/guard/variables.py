"""The shell's variables that change how a Python starts, or what it imports. None of this program's gets them."""

from __future__ import annotations

from collections.abc import Mapping


def without_python(environ: Mapping[str, str]) -> dict[str, str]:
    """Returns variables without PYTHONPATH, PYTHONHOME and all others of that kind."""
    return {name: value for name, value in environ.items() if not name.startswith("PYTHON")}
