"""The vocabulary: identities are stable."""

from __future__ import annotations

import dataclasses
import json
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
)
from suite.stacks.names import attempt_name, case_name
from tests.results import rows

GEMM = dataclasses.replace(rows.GEMM, pass_="train")
ATTEMPT = Attempt(set_id="a-set", case=GEMM, block=1, position=3, replicate=1, purpose=Purpose.TIMED, retry=1, seed=0)

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
    position=st.integers(1, 999),
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
    assert case_name(GEMM) == "gemm-tiny-train-f32-cpu-numpy"


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
    assert (again.key, attempt_name(again)) == (attempt.key, attempt_name(attempt))
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
        "differ",
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
