"""The vocabulary: identities are stable, and names are safe for files."""

from __future__ import annotations

import dataclasses
import json
import string
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suite.case import (
    ALLOCATORS,
    CACHES,
    DIM_MAX,
    NAME,
    PASSES,
    PRECISIONS,
    TARGETS,
    TRACKS,
    Attempt,
    Case,
    Outcome,
    Purpose,
    canonical_json,
    precision_name,
)
from suite.stacks.catalog import REAL_STACKS, STACKS

GEMM = Case(
    workload="gemm",
    size="tiny",
    dims={"n": 64},
    pass_="train",
    precision="f32",
    track="default",
    stack="numpy",
    variant="",
    target="cpu",
    device="cpu",
    cache="cold",
    threads=2,
)
ATTEMPT = Attempt(set_id="a-set", case=GEMM, block=1, order=3, replicate=1, purpose=Purpose.TIMED, retry=1, seed=0)
SAFE = set(string.ascii_letters + string.digits + "_.@-" + "=,")

word = st.from_regex(NAME, fullmatch=True)
cases = st.builds(
    Case,
    workload=word,
    size=word,
    dims=st.dictionaries(word, st.integers(1, DIM_MAX), max_size=4),
    pass_=st.sampled_from(PASSES),
    precision=st.sampled_from(PRECISIONS),
    track=st.sampled_from(TRACKS),
    stack=word,
    variant=st.just("") | word,
    target=st.sampled_from(TARGETS),
    device=word,
    cache=st.sampled_from(CACHES),
    threads=st.integers(1, 256),
    limit_memory_bytes=st.none() | st.integers(1, 2**50),
    allocator=st.sampled_from(ALLOCATORS),
)
attempts = st.builds(
    Attempt,
    set_id=st.text(max_size=12),
    case=cases,
    block=st.integers(1, 99),
    order=st.integers(1, 999),
    replicate=st.integers(1, 2),
    purpose=st.sampled_from(list(Purpose)),
    retry=st.integers(1, 9),
    seed=st.integers(0, 2**32),
)


def test_case_id_is_stable() -> None:
    """Golden: results of years ago are compared by it. A change here is a change of the format."""
    before = dataclasses.replace(GEMM, allocator="system")  # as every case was before there was a choice
    assert before.case_id == "0f39b77f4a6fcc09c09f2a13cdff174320e4349789746469e00d097c17be736c"
    assert before.comparison_id == "af0319d820d49897329a5b7aba576f85f757d65e07c904e305d2c38529208066"
    assert GEMM.case_id == "a283dbfc447d6130f75eb9b82f396438233bd52d8016f89ae240e04c0bb2b21a"
    assert GEMM.comparison_id != before.comparison_id
    assert GEMM.case_name == "gemm-tiny-train-f32-cpu-numpy"


def test_case_id_ignores_the_order_of_dims() -> None:
    one = dataclasses.replace(GEMM, dims={"a": 1, "b": 2})
    other = dataclasses.replace(GEMM, dims={"b": 2, "a": 1})
    assert one.case_id == other.case_id


@given(cases)
def test_case_round_trip(case: Case) -> None:
    text = json.dumps(case.to_json())
    again = Case.from_json(json.loads(text))
    assert again == case
    assert again.case_id == case.case_id
    assert "pass" in case.to_json() and "pass_" not in case.to_json()


@given(attempts)
def test_attempt_round_trip(attempt: Attempt) -> None:
    again = Attempt.from_json(json.loads(json.dumps(attempt.to_json())))
    assert again == attempt
    assert (again.key, again.name) == (attempt.key, attempt.name)
    assert isinstance(again.purpose, Purpose)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("workload", "ffn"),
        ("size", "full"),
        ("dims", {"n": 65}),
        ("pass_", "forward"),
        ("precision", "bf16"),
        ("track", "tuned"),
        ("target", "cuda"),
        ("device", "h100"),
        ("cache", "warm"),
        ("threads", 4),
        ("limit_memory_bytes", 2**30),
    ],
)
def test_every_part_of_the_question_is_in_both_identities(field: str, value: Any) -> None:
    other = dataclasses.replace(GEMM, **{field: value})
    assert other.case_id != GEMM.case_id
    assert other.comparison_id != GEMM.comparison_id


@pytest.mark.parametrize(("field", "value"), [("stack", "jax_jit"), ("variant", "nightly")])
def test_comparison_ignores_stack_and_variant_only(field: str, value: str) -> None:
    other = dataclasses.replace(GEMM, **{field: value})
    assert other.case_id != GEMM.case_id
    assert other.comparison_id == GEMM.comparison_id


def test_names_tell_what_differs() -> None:
    named = dataclasses.replace(
        GEMM, stack="jax_jit", variant="nightly", device="h100", target="cuda", track="tuned", cache="warm"
    )
    assert named.stack_name == "jax_jit@nightly"
    assert named.case_name == "gemm-tiny-train-f32-cuda-h100-tuned-warm-jax_jit@nightly"


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
    assert case.case_name == f"gemm-tiny-train-bf16_{own}-cpu-{stack}"
    assert case.comparison_name == "gemm-tiny-train-bf16-cpu", "one question, whatever each makes of it"
    assert case.to_json()["precision"] == "bf16"
    assert dataclasses.replace(case, precision="tf32").case_name == f"gemm-tiny-train-tf32-cpu-{stack}"


def test_every_stack_that_has_bf16_has_a_name_for_its_own() -> None:
    named = {stack for stack in REAL_STACKS if precision_name("bf16", stack) != "bf16"}
    assert named == {stack for stack in REAL_STACKS if "bf16" in STACKS[stack].precisions}


@given(attempts)
def test_names_are_file_safe(attempt: Attempt) -> None:
    assert set(attempt.case.case_name) <= SAFE
    assert set(attempt.name) <= SAFE
    assert not attempt.name.startswith((".", "-"))


def test_dims_without_a_name_of_their_own_are_in_the_case_s() -> None:
    case = dataclasses.replace(GEMM, size="custom", dims={"batch": 2, "seq": 64})
    assert case.comparison_name.startswith("gemm-custom-batch=2,seq=64-train")
    turned = dataclasses.replace(case, dims={"seq": 64, "batch": 2})
    assert turned.case_name == case.case_name, "a stored plan has its dims in another order"
    long = dataclasses.replace(case, dims={f"dim{i}": 10**9 for i in range(40)})
    assert len(dataclasses.replace(ATTEMPT, case=long).name) < 200


def test_a_retry_is_read_from_the_name_that_it_made() -> None:
    for retry in (1, 7, 12):
        assert Attempt.retry_of(dataclasses.replace(ATTEMPT, retry=retry).name) == retry


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
    assert len({attempt.name for attempt in changed}) == len(changed)


def test_attempt_names_sort_by_block_and_order() -> None:
    ran = [dataclasses.replace(ATTEMPT, block=b, order=o) for b in (1, 2, 10) for o in (1, 9, 10, 100)]
    assert sorted(attempt.name for attempt in ran) == [attempt.name for attempt in ran]


@pytest.mark.parametrize("change", [{"colour": "red"}, {"pass": ...}])
def test_unknown_or_missing_fields_are_refused(change: dict[str, Any]) -> None:
    fields = {name: v for name, v in (GEMM.to_json() | change).items() if v is not ...}
    with pytest.raises(TypeError):
        Case.from_json(fields)


def test_canonical_json_is_one_text() -> None:
    assert canonical_json({"b": [1, 2.5, None], "a": "µ"}) == '{"a":"µ","b":[1,2.5,null]}'


def test_outcome_words() -> None:
    assert [str(outcome) for outcome in Outcome] == [
        "ok",
        "oom_host",
        "oom_device",
        "oom_compile",
        "timeout",
        "unsupported",
        "wrong",
        "error",
        "crashed",
    ]


def test_case_and_protocol_need_only_the_standard_library() -> None:
    code = (
        "import sys; import suite.case, suite.protocol, suite.stats, suite.stacks.catalog, suite.worker.__main__\n"
        "print(sorted({'numpy', 'scipy', 'pandas', 'pyarrow'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
