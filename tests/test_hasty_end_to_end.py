"""A stack that forgets to wait for its steps computes the right thing, and has no time that is compared."""

from __future__ import annotations

from pathlib import Path

import pytest

from suite import results
from suite.case import Flag
from suite.page.formats.render import page
from tests.runs import Asked, Lanes

HASTY = Path(__file__).parent / "hasty"
RUNS = {
    "hasty": Asked(
        0.5,
        (
            f"--stack-path={HASTY}",
            "--stack=jax_hasty",
            "--stack=jax_jit",
            "--baseline=jax_jit",
            "--workload=gemm",
            "--size=quick",
            "--pass=forward",
            "--repeats=1",
        ),
    )
}


@pytest.mark.runs("hasty")
def test_a_stack_that_does_not_wait_is_caught_and_one_that_does_is_not(runs: Lanes) -> None:
    loaded = results.load(runs["hasty"].folder)
    assert "its 2.15 GFLOP take at least" in page(loaded), "the list of failures has time and bound"
    cells = {cell["stack"]: cell for cell in loaded.stacks().to_dicts()}
    assert (cells["jax_jit"]["outcome"], cells["jax_hasty"]["outcome"]) == ("ok", "implausible")
    assert "its 2.15 GFLOP take at least" in cells["jax_hasty"]["reason"], "the bound beside the time"
    (flagged,) = [row for row in loaded.rows if Flag.IMPLAUSIBLE in row.flags]
    assert flagged["outcome"] == "ok", "it passes the gate: what it computes is right"
    assert loaded.ratios().is_empty(), "nothing is compared with it"
