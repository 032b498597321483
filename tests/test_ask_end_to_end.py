"""Question files on real stacks: right ones pass, planted mistakes are wrong, and what can't be traced says so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from suite.results import load
from tests.runs import TOGETHER, Asked

FILE = '''"""Planted mistakes."""
import jax.numpy as jnp
import numpy as np
import tensorflow as tf
import torch
from suite.ask import integers, normal

def inputs(n=1000):
    return {"x": normal(n), "k": integers(n, high=7)}

def numpy_right(x, k):
    return {"sum": np.cumsum(x), "k": k + 1, "z": np.fft.fft(x)}

def torch_right(x, k):
    return {"sum": torch.cumsum(x, 0), "k": k + 1, "z": torch.fft.fft(x)}

def torch_conjugate(x, k):
    return {"sum": torch.cumsum(x, 0), "k": k + 1, "z": torch.fft.fft(x).conj()}

def torch_in_place(x, k):
    x += 1
    return {"sum": torch.cumsum(x - 1, 0), "k": k + 1, "z": torch.fft.fft(x - 1)}

def jax_right(x, k):
    return {"sum": jnp.cumsum(x), "k": k + 1, "z": jnp.fft.fft(x)}

def jax_branch(x, k):
    return jax_right(x, k) if x[0] > 0 else jax_right(x * 1, k)

def jax_raises(x, k):
    raise ValueError("mine")

def jax_drops(x, k):
    return {"sum": jnp.cumsum(x)[:-1], "k": k + 1, "z": jnp.fft.fft(x)}

def jax_half(x, k):
    return {"sum": jnp.cumsum(x).astype("float16"), "k": k + 1, "z": jnp.fft.fft(x)}

def jax_swapped(x, k):
    return {"sum": jnp.cumsum(x), "k": k + 2, "z": jnp.fft.fft(x)}

def tf_right(x, k):
    return {"sum": tf.cumsum(x), "k": k + 1, "z": tf.signal.fft(tf.cast(x, tf.complex64))}
'''
EXPECTED = {
    "right": ("ok", ""),
    "conjugate": ("wrong", "output/z"),
    "in_place": ("wrong", "input x was changed in place"),
    "branch": ("unsupported", "TracerBoolConversionError"),
    "raises": ("error", "mine"),
    "drops": ("wrong", "shape (999,)"),
    "half": ("wrong", "type float16"),
    "swapped": ("wrong", "output/k: not equal"),
}
DIFFER = '''"""Two that disagree, and nothing says which is right."""
import jax.numpy as jnp
import torch
from suite.ask import normal

def inputs(n=64):
    return {"x": normal(n, n)}

def torch_biased(x):
    return x.std(0, unbiased=False)

def jax_unbiased(x):
    return jnp.std(x, 0, ddof=1)
'''
GRADIENT = '''"""Gradients by three frameworks."""
import jax, jax.numpy as jnp
import tensorflow as tf
import torch
from suite.ask import normal

def inputs(n=64):
    low = normal(16, dtype="bfloat16")
    return {"x": normal(n, 16), "w": {"scale": normal(16), "low": low}, "limit": normal(1)}

def torch_norm(x, w, limit):  # the limit is reached by no gradient
    y = torch.nn.functional.layer_norm(x, (16,)) * w["scale"] + w["low"].float()
    return torch.where(y > limit, y, 0.1 * y)

def jax_norm(x, w, limit):
    y = jax.nn.standardize(x, axis=-1, epsilon=1e-5) * w["scale"] + w["low"].astype("float32")
    return jnp.where(y > limit, y, 0.1 * y)

def tf_norm(x, w, limit):
    mean, variance = tf.nn.moments(x, -1, keepdims=True)
    y = (x - mean) * tf.math.rsqrt(variance + 1e-5) * w["scale"] + tf.cast(w["low"], "float32")
    return tf.where(y > limit, y, 0.1 * y)
'''
EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))
STACKS = ("--stack=numpy", "--stack=torch_eager", "--stack=jax_jit", "--stack=tf_graph")


def written(text: str, name: str):  # type: ignore[no-untyped-def]
    """What writes a question file into a run's folder."""

    def write(folder: Path) -> list[str]:
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
        return [f"{name}.py"]

    return write


RUNS = {
    name: Asked(1, (f"--pass={pass_}", *STACKS), workloads=written(text, name))
    for name, text, pass_ in (
        ("planted", FILE, "forward"),
        ("disagree", DIFFER, "forward"),
        ("gradients", GRADIENT, "gradient"),
    )
}
RUNS["examples"] = Asked(
    5,
    (
        "--pass=forward",
        *STACKS,
        *(f"--workload-path={path}" for path in EXAMPLES),
        *(f"--workload={path.stem}" for path in EXAMPLES),
    ),
    module=TOGETHER,
    release=True,
)
pytestmark = pytest.mark.stacks


@pytest.mark.runs("planted")
def test_each_planted_mistake_is_found_and_each_right_function_passes(runs) -> None:  # type: ignore[no-untyped-def]
    frame = load(runs["planted"].folder).frame
    assert {*frame["implementation"]} == {*EXPECTED}
    for row in frame.itertuples():
        outcome, words = EXPECTED[row.implementation]
        assert row.outcome == outcome and words in str(row.reason), (row.stack, row.implementation, row.reason)


@pytest.mark.runs("disagree")
def test_without_a_majority_both_differ_and_have_times(runs) -> None:  # type: ignore[no-untyped-def]
    results = load(runs["disagree"].folder)
    accepted = results.analysis().counted
    assert {row["outcome"] for row in accepted} == {"differ"}
    assert all(len(row["synced_seconds"]) for row in accepted) and results.ratios().empty


@pytest.mark.runs("gradients")
def test_three_frameworks_gradients_agree(runs) -> None:  # type: ignore[no-untyped-def]
    frame = load(runs["gradients"].folder).frame
    assert {*frame["outcome"]} == {"ok"} and {*frame["pass"]} == {"gradient"} and len(frame) == 3
    assert not any("unverified" in json.dumps(list(flags)) for flags in frame["flags"])


@pytest.mark.runs("examples")
def test_the_examples_are_right_where_they_should_be(runs) -> None:  # type: ignore[no-untyped-def]
    frame = load(runs["examples"].folder).frame
    assert {*frame["workload"]} == {path.stem for path in EXAMPLES}
    wrong = {(row.workload, row.stack, row.implementation) for row in frame.itertuples() if row.outcome != "ok"}
    assert wrong == {("gelu", "jax_jit", "tanh")}
