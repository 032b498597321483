"""How far a right result may be off where the right one itself jumps."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from suite.reference.digests import difference
from suite.reference.expected import ReferenceAnswer
from suite.reference.findings import GateFindings
from suite.reference.tolerances import Tolerance
from suite.worker.equivalence.comparison import DRAWS, Comparison
from suite.worker.equivalence.gate import Gate
from suite.worker.equivalence.steps import of_first

RIGHT, JUMP = 2.0, 1e-3  # a loss, and by which part of itself it jumps where parameters are off by a rounding
CHAOS = 0.15  # of the loss that follows some steps


def held(times_of: list[float]) -> Comparison:
    """What is compared with a model whose second loss jumps in proportion to how much its parameters are shaken."""

    def shaken(draw: int, times: float, further: bool) -> ReferenceAnswer:
        times_of.append(times)
        curve = [RIGHT * (1 + CHAOS * times)] if further else []
        return ReferenceAnswer({}, [RIGHT, RIGHT * (1 + JUMP * times)], curve=curve)

    found = cast("Any", Comparison.__new__(Comparison))
    found.data = SimpleNamespace(spec=SimpleNamespace(exact=None), shaken=shaken)
    found.expected, found.shaken = ReferenceAnswer({}, [RIGHT, RIGHT], curve=[RIGHT]), []
    return cast("Comparison", found)


@pytest.mark.parametrize(("off", "is_right"), [(5e-5, True), (3e-3, True), (5e-3, False), (0.05, False)])
def test_a_loss_may_be_off_by_four_times_its_jump_however_much_is_shaken(off: float, is_right: bool) -> None:
    times_of: list[float] = []
    actual = np.asarray(RIGHT * (1 + off))
    limit = held(times_of).with_jumps("losses", 1, actual, Tolerance(1e-4))
    assert bool(limit.broken(difference(actual, np.asarray(RIGHT), "loss"))) != is_right
    assert len(times_of) == (0 if off < 1e-4 else 1 if is_right else DRAWS)
    assert times_of == sorted(times_of) and max(times_of, default=1.0) <= 4.0


@pytest.mark.parametrize(("off", "is_right"), [(0.5, True), (0.7, False)])
def test_a_later_loss_may_jump_further(off: float, is_right: bool) -> None:
    """And the answers of draws that were made for a loss are made again with the curve."""
    compared, actual = held([]), np.asarray(RIGHT * (1 + off))
    compared.with_jumps("losses", 1, actual, Tolerance(1e-4))
    limit = compared.with_jumps("curve", 0, actual, Tolerance(1e-2))
    assert bool(limit.broken(difference(actual, np.asarray(RIGHT), "loss"))) != is_right
    assert len(compared.shaken) == DRAWS


def test_what_does_not_jump_has_its_own_limit() -> None:
    actual, limit = np.asarray(RIGHT * 1.001), Tolerance(1e-4)
    assert held([]).with_jumps("losses", 0, actual, limit).error == limit.error


@pytest.mark.parametrize(("off", "is_right"), [(1.9e-4, True), (2.1e-4, False)])
def test_a_loss_that_has_fallen_may_be_as_far_off_as_the_first_one(off: float, is_right: bool) -> None:
    compared, right = held([]), RIGHT / 100
    assert compared.expected is not None
    compared.expected.losses[1] = right
    limit = of_first(compared, Tolerance(1e-4), right)
    assert bool(limit.broken(difference(np.asarray(right + off), np.asarray(right), "loss"))) != is_right
    assert of_first(compared, Tolerance(1e-4), 2 * RIGHT).error == 1e-4  # one that has risen


@pytest.mark.parametrize(
    ("noise", "of_a_file", "is_right"),
    [(5e-6, False, True), (1.6e-5, False, False), (1.6e-5, True, True), (5e-4, True, False)],
)
def test_a_gradient_that_cancels_may_keep_more_noise_in_a_model_of_a_file(
    noise: float, of_a_file: bool, is_right: bool
) -> None:
    """As parts of the largest gradient: Inductor left 1.6e-5 of a bias before a batch norm."""
    gate = cast("Any", Gate.__new__(Gate))
    gate.data = SimpleNamespace(spec=SimpleNamespace(**{"exact": None} if of_a_file else {}))
    gate.tolerances = SimpleNamespace(precision="f32")
    gate.findings = GateFindings(gate.tolerances, compared=True)
    gate.expected = ReferenceAnswer({}, [RIGHT], {"weight": np.full(4, 2.0), "bias": np.zeros(4)})
    gate.check_gradient("bias", np.full(4, 2.0 * noise), is_noise=False)
    assert (gate.findings.reasons == []) == is_right
