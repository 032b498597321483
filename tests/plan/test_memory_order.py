"""Which memory processes needn't be run, and in which order the others are."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suite.case import GROWING, Case, Planned
from suite.errors import UserError
from suite.plan.memory import check_limits, in_order, needs_no_less, too_tight
from suite.stacks.catalog import STACKS
from tests.results.rows import attempt_of

GIB = 2**30
BASE = dataclasses.replace(
    attempt_of("jax_jit").case, dims={"batch": 2, "seq": 64, "heads": 4}, limit_memory_bytes=6 * GIB
)


def of(**changes: object) -> Case:
    return dataclasses.replace(BASE, **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("case", "certain"),
    [
        (of(), True),
        (of(dims={"batch": 4, "seq": 64, "heads": 4}), True),
        (of(dims={"batch": 4, "seq": 128, "heads": 4}, limit_memory_bytes=4 * GIB), True),
        (of(limit_memory_bytes=8 * GIB), False),
        (of(limit_memory_bytes=None), False),
        (of(dims={"batch": 4, "seq": 32, "heads": 4}), False),
        (of(dims={"batch": 1, "seq": 64, "heads": 4}), False),
        (of(dims={"batch": 4, "seq": 64, "heads": 8}), False),  # more heads needn't take more
        (of(stack="torch_eager"), False),
        (of(precision="bf16"), False),
        (of(pass_="train"), False),
        (of(allocator="system"), False),
    ],
)
def test_only_what_is_larger_in_all_that_grows_is_certain_to_fail(case: Case, certain: bool) -> None:
    assert needs_no_less(case, BASE, GROWING) is certain


def test_nothing_is_certain_of_dims_that_nobody_says_grow_and_no_limit_is_the_largest() -> None:
    assert needs_no_less(BASE, of(limit_memory_bytes=None), GROWING) and needs_no_less(BASE, BASE, frozenset())
    assert not needs_no_less(of(dims={"batch": 4, "seq": 64, "heads": 4}), BASE, frozenset({"seq"}))


@given(st.lists(st.tuples(st.integers(1, 64), st.integers(1, 64), st.sampled_from([None, GIB, 6 * GIB])), unique=True))
def test_what_a_failure_spares_comes_after_it(asked: list[tuple[int, int, int | None]]) -> None:
    cases = [Planned(of(dims={"batch": b, "seq": s, "heads": 4}, limit_memory_bytes=limit)) for b, s, limit in asked]
    ordered = [planned.case for planned in in_order(cases)]
    assert sorted(map(repr, ordered)) == sorted(repr(planned.case) for planned in cases)
    for k, case in enumerate(ordered):
        assert not any(needs_no_less(case, later, GROWING) for later in ordered[k + 1 :])


def test_a_limit_beyond_the_machine_is_refused() -> None:
    check_limits([Planned(BASE)], {"ram_bytes": 8 * GIB})
    check_limits([Planned(BASE)], {})
    check_limits([Planned(of(limit_memory_bytes=None))], {"ram_bytes": GIB})
    with pytest.raises(UserError, match=r"--limit-memory=6GiB is more than this machine's 4.00 GiB"):
        check_limits([Planned(BASE)], {"ram_bytes": 4 * GIB})
    with pytest.raises(UserError, match=r"more than the 2.00 GiB that this program may use"):
        check_limits([Planned(BASE)], {"ram_bytes": 8 * GIB, "memory_limit_bytes": 2 * GIB})


def test_a_limit_under_the_framework_s_own_need_is_said() -> None:
    tight = [Planned(of(stack=name, limit_memory_bytes=2**20)) for name in ("torch_xla", "tf_graph")]
    assert [said.split()[0] for said in too_tight([*tight, Planned(BASE)])] == ["torch_xla", "tf_graph"]
    assert "under 1MiB it can only run out of memory" in too_tight(tight)[0]
    assert not too_tight([Planned(of(limit_memory_bytes=2**20), unsupported="no such stack")])


def test_every_real_stack_has_a_need_of_its_own() -> None:
    assert all(stack.base_bytes > 2**24 for stack in STACKS.values())
