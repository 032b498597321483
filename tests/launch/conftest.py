"""`run`: launch a small program under a supervisor."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from suite.launch.local import launch
from suite.launch.process import Exit, ProcessLimits
from tests.launch.programs import HUNG_SECONDS, Run, write_program


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """`run(code, **limits)`: launch a program in `tmp_path`."""

    def run(code: str, **limits: Any) -> Exit:
        program = write_program(tmp_path / "program.py", code)
        given = {"timeout_seconds": HUNG_SECONDS, "compile_timeout_seconds": HUNG_SECONDS} | limits
        return launch([str(program)], {"SHELLS": "none"}, tmp_path, ProcessLimits(**given))

    return run
