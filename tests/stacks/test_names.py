"""Names of cases and attempts: they tell what differs, and are safe for files."""

from __future__ import annotations

import dataclasses
import string

import pytest
from hypothesis import given

from suite.case import Attempt, Purpose
from suite.stacks.catalog import STACKS
from suite.stacks.names import attempt_name, case_name, counterpart, precision_name, retry_of
from tests.test_case import ATTEMPT, GEMM, attempts

SAFE = set(string.ascii_letters + string.digits + "_.@-" + "=,")


def test_names_tell_what_differs() -> None:
    named = dataclasses.replace(
        GEMM, stack="jax_jit", variant="nightly", device="h100", target="cuda", track="tuned", cache="warm"
    )
    assert named.stack_name == "jax_jit@nightly"
    assert case_name(named) == "gemm-tiny-train-f32-cuda-h100-tuned-warm-jax_jit@nightly"


def test_a_counterpart_runs_another_function_on_the_same_stack() -> None:
    stacks = ["jax_jit:floor", "torch_eager:scan", "torch_eager:floor", "torch_eager@old:floor"]
    assert counterpart("torch_eager:scan", stacks) == "torch_eager:scan"
    assert counterpart("torch_eager:cumprod", stacks) == counterpart("torch_eager", stacks) == "torch_eager:floor"
    assert counterpart("torch_eager@old:cumprod", stacks) == "torch_eager@old:floor"
    assert counterpart("numpy:cumprod", stacks) == counterpart("torch", stacks) == ""


@pytest.mark.parametrize(
    ("stack", "own"),
    [
        *((stack, "parameters") for stack in ("jax_eager", "jax_jit")),
        *((stack, "autocast") for stack in ("torch_eager", "torch_inductor", "torch_xla", "torchax_jit")),
        *((stack, "products") for stack in ("tf_eager", "tf_graph", "tf_xla")),
    ],
)
def test_the_name_of_a_bf16_case_says_which_mixed_precision_it_is(stack: str, own: str) -> None:
    case = dataclasses.replace(GEMM, stack=stack, precision="bf16")
    assert case_name(case) == f"gemm-tiny-train-bf16_{own}-cpu-{stack}"
    assert case.comparison_name == "gemm-tiny-train-bf16-cpu", "one question, whatever each makes of it"
    assert case.to_json()["precision"] == "bf16"
    assert case_name(dataclasses.replace(case, precision="tf32")) == f"gemm-tiny-train-tf32-cpu-{stack}"


def test_every_stack_that_has_bf16_has_a_name_for_its_own() -> None:
    named = {stack for stack in STACKS if precision_name("bf16", stack) != "bf16"}
    assert named == {stack for stack in STACKS if "bf16" in STACKS[stack].precisions}


@given(attempts)
def test_names_are_file_safe(attempt: Attempt) -> None:
    assert set(case_name(attempt.case)) <= SAFE
    assert set(attempt_name(attempt)) <= SAFE
    assert not attempt_name(attempt).startswith((".", "-"))


def test_dims_without_a_name_of_their_own_are_in_the_case_s() -> None:
    case = dataclasses.replace(GEMM, size="custom", dims={"batch": 2, "seq": 64})
    assert case.comparison_name.startswith("gemm-custom-batch=2,seq=64-train")
    turned = dataclasses.replace(case, dims={"seq": 64, "batch": 2})
    assert case_name(turned) == case_name(case), "a stored plan has its dims in another order"
    long = dataclasses.replace(case, dims={f"dim{i}": 10**9 for i in range(40)})
    assert len(attempt_name(dataclasses.replace(ATTEMPT, case=long))) < 200


def test_a_retry_is_read_from_the_name_that_it_made() -> None:
    for retry in (1, 7, 12):
        assert retry_of(attempt_name(dataclasses.replace(ATTEMPT, retry=retry))) == retry


def test_attempt_names_differ_wherever_keys_do() -> None:
    others = [
        {"block": 2},
        {"replicate": 2},
        {"purpose": Purpose.PRIME},
        {"retry": 2},
        {"case": dataclasses.replace(GEMM, dims={"n": 65})},
        {"case": dataclasses.replace(GEMM, threads=1)},
    ]
    changed = [ATTEMPT, *(dataclasses.replace(ATTEMPT, **other) for other in others)]
    assert len({attempt.key for attempt in changed}) == len(changed)
    assert len({attempt_name(attempt) for attempt in changed}) == len(changed)


def test_attempt_names_sort_by_block_and_order() -> None:
    ran = [dataclasses.replace(ATTEMPT, block=b, position=o) for b in (1, 2, 10) for o in (1, 9, 10, 100)]
    assert sorted(attempt_name(attempt) for attempt in ran) == [attempt_name(attempt) for attempt in ran]
