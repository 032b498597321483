"""Where a step's time goes, by every framework's own profiler."""

from __future__ import annotations

from typing import Any

import pytest

from suite import results
from suite.ir.timeline import COMPILE, CONVOLUTIONS, HOST, OPTIMIZER, PRODUCTS, Profile
from suite.stacks.catalog import REAL_STACKS
from tests.runs import Asked, Lanes

pytestmark = pytest.mark.stacks
RUNS = {
    "ffn": Asked(3, ("--purpose=explain", "--workload=ffn", "--size=quick", "--pass=train")),
    "resnet50": Asked(3, ("--purpose=explain", "--workload=resnet50", "--size=tiny", "--pass=train",
                          "--stack=jax_jit", "--stack=torch_*", "--stack=tf_graph", "--stack=tf_xla")),
}  # fmt: skip


def profiles_of(run: Any) -> dict[str, Profile]:
    """By stack; every process ended well."""
    assert run.code == 0, run.log
    rows = results.load(run.folder).rows
    assert {row["outcome"] for row in rows} == {"ok"}, [(row["case_name"], row["reason"]) for row in rows]
    return {row["stack"]: Profile.from_json(row.mapping("profile")) for row in rows if row["purpose"] == "profile"}


@pytest.mark.runs("ffn")
def test_every_stack_s_step_is_attributed(runs: Lanes) -> None:
    found = profiles_of(runs["ffn"])
    assert set(found) == set(REAL_STACKS)
    for stack, profile in found.items():
        assert sum(profile.categories.values()) == pytest.approx(profile.seconds, rel=0.05), stack
        assert profile.attributed >= 0.9, stack
        assert profile.categories.get(COMPILE, 0.0) == 0.0, "nothing compiles in a steady step"
        assert profile.categories[PRODUCTS] > 0.02 * profile.seconds, (stack, profile.categories)
        # Op by op JAX has nothing that would tell the optimizer's operations from others.
        assert (profile.categories.get(OPTIMIZER, 0.0) > 0.0) == (stack != "jax_eager"), (stack, profile.categories)
        assert profile.categories.get(HOST, 0.0) < 0.7 * profile.seconds, (stack, profile.categories)
        assert 0 < len(profile.largest) <= 10


@pytest.mark.runs("resnet50")
def test_convolutions_are_told_from_products(runs: Lanes) -> None:
    for stack, profile in profiles_of(runs["resnet50"]).items():
        assert profile.categories.get(CONVOLUTIONS, 0.0) > profile.categories.get(PRODUCTS, 0.0), stack
