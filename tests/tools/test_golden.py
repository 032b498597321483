"""Golden files made again: what counts as the same, and what the other implementation's failure looks like."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path

import numpy as np
import pytest

from suite.errors import UserError
from suite.reference.digests import digest
from suite.reference.expected import ReferenceAnswer
from suite.workloads.catalog import find
from tools import golden

VALUE = np.linspace(-1.0, 1.0, 12, dtype=np.float32).reshape(3, 4)
STORED = ReferenceAnswer(
    {"output": VALUE}, [2.0, 1.5, 1.0], {"w": VALUE, "b": digest(VALUE, "b")}, {"w": VALUE}, {"w": 3e-5}
)


def test_rounding_is_no_difference_and_a_changed_tensor_is() -> None:
    rounded = dataclasses.replace(
        STORED, outputs={"output": VALUE * np.float32(1 + 1e-7)}, losses=[2.0, 1.5, 1.0 + 1e-9]
    )
    assert golden.compare(STORED, rounded) == []
    for changed, said in (
        ({"outputs": {"output": VALUE * np.float32(1.001)}}, ["outputs: output"]),
        ({"outputs": {"output": VALUE.T}}, ["outputs: output"]),
        ({"losses": [2.0, 1.5, 1.01]}, ["losses"]),
        ({"gradients": STORED.gradients | {"b": digest(1.001 * VALUE, "b")}}, ["gradients: b"]),
        ({"moved": {}}, ["moved: w"]),
        ({"shrunk": {"w": 2e-5}}, ["shrunk: w"]),
    ):
        assert golden.compare(STORED, dataclasses.replace(STORED, **changed)) == said


def test_a_model_in_keras_has_a_file_more_where_keras_has_an_optimizer_of_its_own() -> None:
    assert [*golden.paths_of(find()["gpt2"], "tiny")] == ["adamw", "keras_adamw"]
    assert [*golden.paths_of(find()["resnet50"], "tiny")] == ["sgd"]
    assert [*golden.paths_of(find()["llama"], "tiny")] == ["adamw"], "it isn't written in Keras"


def test_a_workload_without_an_oracle_has_its_reference_in_its_spec(tmp_path: Path) -> None:
    oracle = golden.GoldenMaker(Path(sys.executable), {})
    with pytest.raises(UserError, match=r"'gemm' has no oracle\.py"):
        oracle.make(find()["gemm"], "tiny", "adamw", tmp_path / "new.npz")


def test_an_oracle_that_fails_is_told_by_its_last_words(tmp_path: Path) -> None:
    oracle = golden.GoldenMaker(Path(sys.executable), {"PYTHONPATH": "."})  # an interpreter without torch
    with pytest.raises(UserError, match="No module named 'torch'"):
        oracle.make(find()["gpt2"], "tiny", "adamw", tmp_path / "new.npz")
    assert not (tmp_path / "new.npz").exists()
