"""A plan's shares: together the whole, and what is compared on one machine."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suite.case import Attempt, Purpose
from suite.errors import UserError
from suite.plan import layout
from suite.plan.shards import Shard, digest, share, units
from suite.sets.plan import Plan
from tests.pipeline import make_plan

SCENES = ("calm", "slow", "drift", "raise", "hang")


def plan(**changes: object) -> Plan:
    """Five scenes, cold and warm, on a stack and its variant: ten comparisons."""
    return make_plan(SCENES, ("fake", "fake@slow"), twin=True, caches=("cold", "warm"), blocks=3, **changes)


def by(key: Callable[[Attempt], str], plans: list[Plan]) -> dict[str, set[str]]:
    """On which machines each lies, by what `key` says."""
    found: dict[str, set[str]] = {}
    for each in plans:
        for attempt in layout.attempts(each):
            found.setdefault(key(attempt), set()).add(each.shard)
    return found


@given(st.integers(1, 10))
def test_a_comparison_stays_on_one_machine_with_all_its_blocks(machines: int) -> None:
    whole = plan()
    shares = [share(whole, Shard(index, machines)) for index in range(1, machines + 1)]
    assert all(len(where) == 1 for where in by(lambda attempt: attempt.case.comparison_id, shares).values())
    attempts = [(a.case.case_id, a.block, a.replicate, a.purpose) for each in shares for a in layout.attempts(each)]
    assert len(attempts) == len(set(attempts))
    assert set(attempts) == {(a.case.case_id, a.block, a.replicate, a.purpose) for a in layout.attempts(whole)}
    sizes = [len({p.case.comparison_id for p in each.cases}) for each in shares]
    assert max(sizes) - min(sizes) <= 1, "nobody has two more than another"


def test_the_order_in_which_a_question_is_typed_changes_no_share() -> None:
    turned = make_plan(SCENES[::-1], ("fake@slow", "fake"), twin=True, caches=("warm", "cold"), blocks=3)
    turned = dataclasses.replace(turned, baseline="fake")
    assert digest(turned) == digest(plan())
    for index in (1, 2, 3):
        mine, others = (share(each, Shard(index, 3)).cases for each in (plan(), turned))
        assert {each.case.case_id for each in mine} == {each.case.case_id for each in others}


def test_shares_of_one_plan_are_known_by_it() -> None:
    first, second = (share(plan(set_id=name), Shard(index, 2)) for index, name in enumerate("ab", 1))
    assert first.whole == second.whole == digest(plan()) and first.shard == "1/2"
    assert share(make_plan(SCENES[:4], blocks=3), Shard(1, 2)).whole != first.whole
    assert share(plan(samples_min=21), Shard(1, 2)).whole != first.whole


def test_memory_processes_that_tell_of_each_other_stay_together() -> None:
    """Those of one curve: a smaller case's failure is a larger one's, and under a lower limit a higher one's."""
    timed = plan(limit=1 << 30)
    assert len(units(timed)) == 10
    assert len(units(dataclasses.replace(timed, purpose=Purpose.MEMORY))) == 2, "cold, warm"


def test_a_share_that_nobody_can_have_is_refused() -> None:
    for text in ("3/2", "0/2", "1", "a/b", "1/0", "-1/2", "1/2/3"):
        with pytest.raises(UserError, match="--shard="):
            Shard.parse(text)
    with pytest.raises(UserError, match="among 10 machine"):
        share(plan(), Shard(1, 11))
