"""`ir` on a file of StableHLO that this machine's XLA refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from suite.cli.sets.programs import ir
from suite.environments import venv
from suite.errors import UserError
from suite.run.reading import newer_pythons
from suite.stacks.catalog import READER


@pytest.mark.stacks
def test_a_refusal_names_its_place_and_the_python_that_might_read_it(tmp_path: Path) -> None:
    file = tmp_path / "newer.mlir"
    file.write_text('module { func.func @main() { "stablehlo.newer"() : () -> () return } }', encoding="utf-8")
    with pytest.raises(UserError, match=r"line 1, column 30: unregistered operation 'stablehlo\.newer'") as refused:
        ir(case=(str(file), str(file)))
    lacking = newer_pythons("cpu", venv.ensure(READER).lock.pins["jax"])
    assert (f"reading it needs Python {lacking} here" in str(refused.value)) == bool(lacking)
