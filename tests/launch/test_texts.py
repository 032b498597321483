"""What a framework says that it lacks makes a case `unsupported`, in its words; anything else is an `error`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from suite.environments import venv
from suite.launch import events
from suite.launch.outcome import judge
from suite.launch.texts import LACKING
from suite.stacks.catalog import STACKS
from tests.launch.test_outcome import OK, dataclasses
from tests.worker.processes import attempt_of, case_of, of, request, run_worker

pytestmark = pytest.mark.stacks

QUESTION = """import jax, jax.numpy as jnp
import numpy as np
import tensorflow as tf
import torch

from suite.ask import integers, normal


def inputs():
    return {{"x": {x}}}


def {dialect}_it(x):
    {body}
"""
HALF, BRAIN = 'normal(3, 3, dtype="float16")', 'normal(3, 3, dtype="bfloat16")'
SEGMENTS = 'torch.segment_reduce(a, "sum", lengths=torch.tensor([2, 1]))'
POOLED = 'jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (3, 3), (2, 2), "SAME")'
COUNTS = "tf.raw_ops.DenseBincount(input=tf.constant([1, 2]), size=3, weights=x[0][:2])"
ASKED = {
    "Detected unsupported": ("tf_xla", "normal(3, 3)", "return tf.linalg.lstsq(x, x, fast=False)"),
    "has no lowering": ("torchax_jit", "normal(3)", "return torch.special.airy_ai(x)"),
    "No ONNX function": ("onnxruntime", "normal(3)", "return torch.special.airy_ai(x)"),
    "does not accept dtype": ("jax_jit", "normal(3, 3)", "return jax.lax.bitwise_and(x, x)"),
    "Unsupported dtype": ("jax_jit", HALF, "return jnp.linalg.qr(x)[0]"),
    "NOT_IMPLEMENTED": ("onnxruntime", BRAIN, "return x @ x"),
    "of input parameter": ("onnxruntime", 'integers(4, 4, high=9, dtype="int8")', "return x @ x"),
    "gradient registry": ("tf_eager", "normal(3, 3)", f"return {COUNTS}", "gradient"),
    "allowed values": ("tf_eager", BRAIN, "return tf.linalg.cholesky(x)"),
    '" not implemented for': ("torch_eager", HALF, "return torch.linalg.qr(x)[0]"),
    "the derivative for": ("torch_eager", "normal(3)", "return torch.special.gammainc(x.abs(), x.abs())", "gradient"),
    "forward AD": ("torch_eager", "normal(3)", f"return torch.func.jacfwd(lambda a: {SEGMENTS})(x)"),
    "Could not run": ("torch_xla", "normal(3, 3)", "return x.to_sparse().to_dense()"),
    "Use of unsupported NumPy": ("numba", "normal(3, 3)", "return np.einsum('ij->i', x)"),
    "Unknown attribute": ("numba", "normal(3)", "return np.fft.rfft(x)"),
    "Unsupported(Bytecode": ("numba", "normal(3)", "with open('x') as file:\n        return x"),
    "no transformation for parallel": ("numba", "normal(3)", "return x[0]", "forward", "it.parallel"),
    "No conversion rule": ("openvino", "normal(3)", "return torch.special.airy_ai(x)"),
    "call_target_name": ("iree", "normal(3, 3)", "return jnp.linalg.cholesky(x @ x.T)"),
    "?!custom_call": ("iree", "normal(8, 8)", f"return {POOLED}", "gradient"),
    "Differentiation rule": ("jax_jit", "normal(3, 3)", "return jax.scipy.linalg.schur(x)[0]", "gradient"),
}


def ended(
    folder: Path, stack: str, x: str, body: str, pass_: str = "forward", implementation: str = "it"
) -> tuple[Any, list[dict[str, Any]]]:
    """How a question ends on a stack, and its events."""
    dialect, file = STACKS[stack].dialect, folder / "question.py"
    file.write_text(QUESTION.format(x=x, body=body, dialect=dialect), encoding="utf-8")
    case = case_of(stack=stack, workload="question", dims={}, size="asked", pass_=pass_, implementation=implementation)
    told = run_worker(request(attempt_of(case), file, folder), venv.ensure(STACKS[stack].environment).python)[1]
    return judge(dataclasses.replace(OK, exit_code=1), events.read(folder / "events.jsonl"), "cpu", ""), told


def for_release(asked: list[str], few: int) -> list[Any]:
    """Parameters; all but a few are for a release, or for who has made a stack's environment on request."""
    of = [STACKS[ASKED[each][0]] for each in asked]
    marks = [
        [pytest.mark.environments(stack.environment)] if stack.on_request else [pytest.mark.release] * (place >= few)
        for place, stack in enumerate(of)
    ]
    return [pytest.param(each, marks=marked) for each, marked in zip(asked, marks, strict=True)]


@pytest.mark.parametrize("words", for_release([*ASKED], 4))
def test_what_a_framework_says_that_it_lacks_is_unsupported(words: str, tmp_path: Path) -> None:
    (lacking,) = [each for each in LACKING if words in each.pattern]
    found, told = ended(tmp_path, *ASKED[words])
    assert found.outcome == "unsupported" and found.reason.startswith(f"{lacking.framework} lacks this: "), found.reason
    (versions,) = [event["columns"]["versions"] for event in of(told, "facts") if "versions" in event["columns"]]
    seen = {version for each in LACKING if each.framework == lacking.framework for version in each.seen}
    assert {version.split("+")[0] for version in versions.values()} & seen, versions


def test_every_text_is_tried() -> None:
    assert all(sum(words in text.pattern for words in ASKED) == 1 for text in LACKING)


@pytest.mark.parametrize(
    ("stack", "body"),
    [
        ("onnxruntime", 'raise ValueError("mine")'),
        pytest.param("torch_eager", 'raise NotImplementedError("mine")', marks=pytest.mark.release),
    ],
)
def test_what_the_user_s_own_line_raises_is_an_error(stack: str, body: str, tmp_path: Path) -> None:
    found, _ = ended(tmp_path, stack, "normal(3)", body)
    assert found.outcome == "error" and "mine" in found.reason and "question.py:14" in found.reason


def test_an_error_inside_a_framework_names_it_and_its_line(tmp_path: Path) -> None:
    found, _ = ended(tmp_path, "torch_eager", "normal(3)", "return torch.nn.functional.pad(x, (1, 1), 'odd')")
    assert "question.py:14, inside torch at torch/nn/functional.py:" in found.reason
