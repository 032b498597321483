"""A few of benchmarks/mutants.py: wrong stacks on real frameworks, where whole tensors and where digests are expected.

The program runs all of them; these are the ones that an earlier gate let through.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

import pytest

from benchmarks.mutants import QUICK, Trial, adapter_trials, digest_trials, run, stressed_trials, word_for
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
    "onnxruntime: a constant input, tiny": "other values",
    "torch: step's gradients in bf16, GPT-2, tiny": "step after the clocks",
}
# On a busy machine disturbed samples are replaced, and a mutant's error grows with every step: after a hundred steps
# other findings come first, and a row names only some.
FEW_STEPS = dataclasses.replace(QUICK, samples_max=20, pipelined_calls_max=4, replaced_seconds_max=0.0)
RIGHT = ["torch: step without decay, small", "bf16, torch: step without decay, tiny"]
FEW = {"torch: step without decay, small", "torch: no update, small", "gpt2: log_of_softmax, tiny"}  # a check each


def tried(names: Iterable[str]) -> list[Any]:
    """Parameters; all but a few are for a release."""
    return [pytest.param(name, marks=[pytest.mark.release] * (name not in FEW)) for name in names]


@pytest.mark.parametrize("name", tried(CHOSEN))
def test_a_wrong_stack_is_caught_by_the_check_made_for_it(name: str) -> None:
    result = run(TRIALS[name], FEW_STEPS)
    assert word_for(TRIALS[name], result) == "caught", result
    assert CHOSEN[name] in result.checks, result


@pytest.mark.parametrize("name", tried(RIGHT))
def test_the_right_code_of_their_cases_passes(name: str) -> None:
    right = Trial("right", "control", "", TRIALS[name].case, {})
    result = run(right)
    assert word_for(right, result) == "right", result


def test_what_is_known_to_be_missed_is_a_mutant_in_another_precision_than_f32() -> None:
    assert all(MUTANTS[name].precision != "f32" and reason for name, reason in MISSED.items())
