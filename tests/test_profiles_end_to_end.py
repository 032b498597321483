"""Where a step's time goes, by every framework's own profiler."""

from __future__ import annotations

import re
from typing import Any

import pytest

from suite import results
from suite.ir.timeline import Category, Profile
from suite.stacks.catalog import REAL_STACKS
from tests.runs import Asked, Lanes

pytestmark = pytest.mark.stacks
RUNS = {
    "ffn_profiled": Asked(3, ("--purpose=explain", "--workload=ffn", "--size=quick", "--pass=train")),
    "resnet50_profiled": Asked(3, ("--purpose=explain", "--workload=resnet50", "--size=tiny", "--pass=train",
                                   "--stack=jax_jit", "--stack=torch_*", "--stack=tf_graph", "--stack=tf_xla")),
}  # fmt: skip


def profiles_of(run: Any) -> dict[str, Profile]:
    """By stack; every process ended well."""
    assert run.code == 0, run.log
    rows = results.load(run.folder).rows
    assert {row["outcome"] for row in rows} == {"ok"}, [(row["case_name"], row["reason"]) for row in rows]
    return {row["stack"]: Profile.from_json(row.mapping("profile")) for row in rows if row["purpose"] == "profile"}


@pytest.mark.runs("ffn_profiled")
def test_every_stack_s_step_is_attributed(runs: Lanes) -> None:
    found = profiles_of(runs["ffn_profiled"])
    assert set(found) == set(REAL_STACKS)
    for stack, profile in found.items():
        assert sum(profile.categories.values()) == pytest.approx(profile.seconds, rel=0.05), stack
        assert profile.attributed >= 0.9, stack
        assert profile.categories.get(Category.COMPILE, 0.0) == 0.0, "nothing compiles in a steady step"
        assert profile.categories[Category.PRODUCTS] > 0.02 * profile.seconds, (stack, profile.categories)
        # Op by op JAX has nothing that would tell the optimizer's operations from others.
        optimizer = profile.categories.get(Category.OPTIMIZER, 0.0)
        assert (optimizer > 0.0) == (stack != "jax_eager"), (stack, profile.categories)
        assert profile.categories.get(Category.HOST, 0.0) < 0.7 * profile.seconds, (stack, profile.categories)
        assert 0 < len(profile.largest) <= 10


@pytest.mark.runs("resnet50_profiled")
def test_convolutions_are_told_from_products_and_norms_are_known(runs: Lanes) -> None:
    for stack, profile in profiles_of(runs["resnet50_profiled"]).items():
        assert profile.categories.get(Category.NORMS, 0.0) > 0.0, stack
        assert profile.categories.get(Category.CONVOLUTIONS, 0.0) > 0.0, stack
        named = {category for category, name, _ in profile.largest if re.search("conv(?!ert)", name, re.IGNORECASE)}
        assert named == {Category.CONVOLUTIONS}, (stack, profile.largest)
