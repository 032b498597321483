"""Keras beside the frameworks below it."""

from __future__ import annotations

import pytest

from suite.answers.unified import native_pairs
from tests.answers.asking import answered, asked
from tests.results.rows import rows_of

SECONDS = {
    "jax_jit": [0.0100, 0.0101, 0.0102],
    "keras_jax": [0.0150, 0.0151, 0.0153],
    "torch_eager": [0.0200, 0.0202, 0.0204],
    "keras_torch": [0.0100, 0.0101, 0.0102],
    "numpy": [0.01, 0.0102, 0.0101],
}


def test_pairs_come_from_the_catalogue_and_share_a_variant() -> None:
    stacks = ["keras_tf", "tf_graph", "keras_jax@0.6", "jax_jit", "keras_torch@2.13", "torch_eager@2.13", "numpy"]
    assert native_pairs(stacks) == {"keras_torch@2.13": "torch_eager@2.13", "keras_tf": "tf_graph"}


def test_functions_of_one_name_are_a_pair() -> None:
    stacks = [
        "keras_jax:naive",
        "keras_torch@2.13:naive",
        "jax_jit:naive",
        "torch_eager:naive",
        "torch_eager@2.13:naive",
    ]
    pairs = {"keras_jax:naive": "jax_jit:naive", "keras_torch@2.13:naive": "torch_eager@2.13:naive"}
    assert native_pairs(stacks) == pairs


def test_each_is_compared_with_its_native_stack_alone() -> None:
    table = answered("unified", rows_of(SECONDS)).table
    assert [*table.select("native", "unified", "verdict").iter_rows()] == [
        ("jax_jit", "keras_jax", "slower"),
        ("torch_eager", "keras_torch", "faster"),
    ]
    assert table["speedup"].to_list() == pytest.approx([1 / 1.5, 2.0], rel=0.01)
    assert table["unified_median_seconds"].to_list() == pytest.approx([0.0151, 0.0101], rel=0.02)


def test_the_sentence_says_where_it_is_free_and_what_it_costs_elsewhere() -> None:
    other = rows_of({"jax_jit": [0.010, 0.0101, 0.0102], "keras_jax": [0.005, 0.0051, 0.0052]}, pass_="train")
    said = answered("unified", [*rows_of(SECONDS), *other]).sentence
    assert (
        "keras_jax over jax_jit: free on 1 of 2 questions (gemm train), at most 1.50 times as long (gemm forward)"
        in said
    )
    assert "keras_torch over torch_eager: free on 1 of 1 question" in said


def test_what_nothing_is_shown_of_is_said_to_be_undecided() -> None:
    apart = {"jax_jit": [0.010, 0.030, 0.011], "keras_jax": [0.012, 0.010, 0.031]}
    assert (
        answered("unified", rows_of(apart)).sentence
        == "keras_jax over jax_jit: free on 0 of 1 question, undecided on 1."
    )


def test_a_set_without_a_pair_has_none() -> None:
    assert asked("unified", rows_of({name: SECONDS[name] for name in ("numpy", "keras_jax")})) is None
