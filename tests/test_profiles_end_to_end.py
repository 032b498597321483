"""Whose kernels do the work, by what every library says of itself, and where a step's time goes, by every profiler."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

import pytest

from suite import results
from suite.ir.timeline import Category, Profile
from tests.runs import PEAKS, STACKS_OF_PEAKS, WITH_OLDER, Lanes

pytestmark = [pytest.mark.stacks, pytest.mark.newest]
RUNS = PEAKS
# Newer versions of jaxlib than the older lock's don't write the code that they generate.
WRITE_THEIR_CODE = {"peaks": ["tf_xla"], "peaks of the rest": ["torch_xla"], "older peaks": WITH_OLDER}
OF_PRODUCTS = {
    "torch_eager": "MKL",
    "torch_inductor": "MKL",
    "tf_eager": "oneDNN",
    "tf_graph": "oneDNN",
    "jax_eager": "YNNPACK",
    "jax_jit": "YNNPACK",
    "torchax_jit": "YNNPACK",
    "torch_xla": "XLA runtime",
    "tf_xla": "XLA runtime",
}


def profiles_of(run: Any) -> dict[str, Profile]:
    """By stack; every process ended well."""
    assert run.code == 0, run.log
    rows = results.load(run.folder).rows
    assert {row["outcome"] for row in rows} == {"ok"}, [(row["case_name"], row["reason"]) for row in rows]
    return {row["stack"]: row.decoded("profile", Profile) for row in rows if row["purpose"] == "profile"}


@pytest.mark.parametrize("run", PEAKS)
def test_every_stack_s_step_is_attributed(runs: Lanes, run: str) -> None:
    found = profiles_of(runs[run])
    assert set(found) == set(STACKS_OF_PEAKS[run])
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


@pytest.mark.parametrize("run", ["peaks", "peaks of the rest"])
def test_the_library_of_the_products_is_named_first(runs: Lanes, run: str) -> None:
    rows = [row for row in results.load(runs[run].folder).rows if row["purpose"] == "explain"]
    named = {row["stack"]: [library["library"] for library in json.loads(row["kernels"])] for row in rows}
    if run == "peaks":  # NumPy's order is that of one step's times, which a neighbour turns round
        assert set(named.pop("numpy")) == {"NumPy", "OpenBLAS"}
    assert {stack: libraries[0] for stack, libraries in named.items()} == {stack: OF_PRODUCTS[stack] for stack in named}


@pytest.mark.parametrize(("run", "stacks"), WRITE_THEIR_CODE.items())
def test_the_vectors_of_xla_s_code_have_their_width(runs: Lanes, run: str, stacks: Iterable[str]) -> None:
    rows = [row for row in results.load(runs[run].folder).rows if row["purpose"] == "explain"]
    widths = {
        row["stack"]: library["isa"]
        for row in rows
        for library in json.loads(row["kernels"])
        if library["library"] == "XLA"
    }
    assert {stack: re.fullmatch(r"\d+-bit vectors", widths.get(stack) or "") is not None for stack in stacks} == (
        dict.fromkeys(stacks, True)
    ), widths
