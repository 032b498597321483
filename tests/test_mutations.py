"""The mutants of benchmarks/mutants.py fit the source that they change, and are as many and as mixed as promised."""

from __future__ import annotations

import pytest

from benchmarks.mutants import (
    ROOT,
    adapter_trials,
    check_of,
    digest_trials,
    judged,
    mixed_trials,
    source_trials,
    stressed_trials,
)
from suite.stacks.catalog import STACKS
from suite.stacks.names import case_name

TRIALS = [*source_trials(), *digest_trials(), *stressed_trials(), *mixed_trials(), *adapter_trials()]


@pytest.mark.parametrize("trial", TRIALS, ids=lambda trial: f"{trial.name}, {case_name(trial.case)}")
def test_a_mutant_changes_what_is_there_into_another_program(trial) -> None:
    for file, changes in trial.changes.items():
        original = text = (ROOT / "suite" / file).read_text(encoding="utf-8")
        for old, new in changes:
            assert old in text, f"{old!r} isn't in {file} any more"
            text = text.replace(old, new)
        assert text != original
        compile(text, file, "exec")


def test_they_are_of_every_kind_in_every_dialect_and_at_both_kinds_of_size() -> None:
    assert len({trial.name for trial in TRIALS}) > 120
    kinds = {"op", "model", "optimizer", "buffer", "precision", "stack", "late", "stressed"}
    assert {trial.kind for trial in TRIALS} == kinds
    assert {STACKS[trial.case.stack].dialect for trial in TRIALS} == {"numpy", "jax", "torch", "tf", "keras"}
    for dialect in ("jax", "torch", "tf"):
        assert {trial.kind for trial in TRIALS if STACKS[trial.case.stack].dialect == dialect} == kinds, dialect
    assert {trial.case.size for trial in TRIALS} == {"tiny", "small", "custom"}


def test_a_row_s_words_name_their_check() -> None:
    assert check_of("movement of w in 3 steps: relative error 1 over the tolerance 1e-03") == "movement"
    assert check_of("in float32: movement of w in 3 steps: relative error 1") == "the checks in float32"
    assert check_of("w after 3 timed steps: relative error 1 over the tolerance 1e-03") == "timed state"
    assert check_of("loss of timed step 2: relative error 1") == "timed results"
    assert check_of("loss of timed step 12 is 0.5, but its parameters give 0.4") == "step after the clocks"
    assert check_of("m of w in timed step 80: relative error 1 over the tolerance 1e-02") == "step after the clocks"
    assert check_of("w shrank by 0 of itself in 3 steps, the reference by 3e-05 (weight decay takes 3e-05)") == "decay"
    assert check_of("parameters in timed step 80 shrank by 1e-05 of themselves") == "decay after the clocks"
    assert check_of("output of other values, read: relative error 1") == "other values"
    assert check_of("loss with stressed weights: relative error inf") == "stressed weights"
    wrong = [{"event": "wrong", "reason": "loss of step 2: relative error 1; movement of w: relative error 1"}]
    assert judged(wrong, 0, 1.0).checks == "loss, movement"
    assert judged([], 0, 1.0).outcome == "ok"
    assert judged([], 1, 1.0).outcome == "error"
