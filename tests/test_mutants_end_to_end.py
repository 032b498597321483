"""A few of benchmarks/mutants.py: wrong stacks on real frameworks, where whole tensors and where digests are expected.

The program runs all of them; these are the ones that an earlier gate let through.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from benchmarks.mutants import Trial, adapter_trials, digest_trials, run, stressed_trials, word_for
from tests.adapter_mutations import MISSED, MUTANTS

pytestmark = pytest.mark.stacks
TRIALS = {
    f"{trial.name}, {trial.case.size}": trial for trial in (*adapter_trials(), *digest_trials(), *stressed_trials())
}
CHOSEN = {
    "torch: step without decay, small": "decay",
    "torch: no update, small": "timed results",
    "gpt_neo: window_off_by_one, small": "output",
    "torch: timed with frozen statistics, tiny": "timed state",
    "bf16, torch: step without decay, tiny": "the checks in float32",
    "jax: buffers forgotten, tiny": "movement",
    "torch: stops computing, tiny": "step after the clocks",
    "jax: keeps its output, tiny": "other values",
    "gpt2: log_of_softmax, tiny": "stressed weights",
    "torch: step's gradients in bf16, GPT-2, tiny": "step after the clocks",
}
RIGHT = ["torch: step without decay, small", "bf16, torch: step without decay, tiny"]
FEW = {"torch: step without decay, small", "torch: no update, small", "gpt2: log_of_softmax, tiny"}  # a check each


def tried(names: Iterable[str]) -> list[Any]:
    """Parameters; all but a few are for a release."""
    return [pytest.param(name, marks=[pytest.mark.release] * (name not in FEW)) for name in names]


@pytest.mark.parametrize("name", tried(CHOSEN))
def test_a_wrong_stack_is_caught_by_the_check_made_for_it(name: str) -> None:
    result = run(TRIALS[name])
    assert word_for(TRIALS[name], result) == "caught", result
    # In bf16 the last state is off, too, after many timed steps; then the other findings are only counted.
    also = {"step after the clocks"} if name.startswith("bf16") else set[str]()
    assert any(check in result.checks for check in {CHOSEN[name], *also}), result


@pytest.mark.parametrize("name", tried(RIGHT))
def test_the_right_code_of_their_cases_passes(name: str) -> None:
    right = Trial("right", "control", "", TRIALS[name].case, {})
    result = run(right)
    assert word_for(right, result) == "right", result


def test_what_is_known_to_be_missed_is_a_mutant_in_another_precision_than_f32() -> None:
    assert all(MUTANTS[name].precision != "f32" and reason for name, reason in MISSED.items())
