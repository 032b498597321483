"""Question files on real stacks: right ones pass, planted mistakes are wrong, and what can't be traced says so."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from suite.page.report import report
from suite.page.sections.timed.comparisons import ComparisonsSection
from suite.page.sections.whole_set.asked import AskedSection
from suite.page.tables import markdown
from suite.results import load
from tests.page.parts import found, part
from tests.runs import EXPORTED, STACKWARS, TOGETHER, Asked

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

def jax_wide(x, k):
    return {"sum": jnp.cumsum(x.astype(jnp.float64)).astype("float32"), "k": k + 1, "z": jnp.fft.fft(x)}

def torch_records(x, k):
    return {"sum": torch.cumsum(x * torch.ones(1, requires_grad=True), 0), "k": k + 1, "z": torch.fft.fft(x)}

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
    "wide": ("error", "Explicitly requested dtype float64"),
    "records": ("error", "write @torch.no_grad() above it"),
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
UNDEFINED = '''"""Logarithms of numbers of which half are negative."""
import jax.numpy as jnp
import torch
from suite.ask import normal

def inputs(n=1000):
    return {"x": normal(n)}

def torch_log(x):
    return torch.log(x)

def jax_log(x):
    return jnp.log(x)
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
SWEPT = '''"""Is a sum as fast as a product?

This isn't part of the question: ``` and <b>.
"""
from suite.ask import normal

def inputs(n=8):
    return {"x": normal(n, n)}

def numpy_sum(x):
    return x.sum(0)

def numpy_product(x):
    return x.T @ (x[:, 0] * 0 + 1)
'''

# One function for every framework, one that is compiled in two ways, and what Numba refuses.
FORMS = """\"\"\"Forms of one softmax, side by side.\"\"\"
import jax
import keras
import numba
import numpy as np
import torch
from suite.ask import normal


def inputs(rows=64, columns=32):
    return {"x": normal(rows, columns)}


def reference(x):
    y = np.exp(x - x.max(-1, keepdims=True))
    return y / y.sum(-1, keepdims=True)


def xp_softmax(xp, x):
    y = xp.exp(x - xp.max(x, axis=-1, keepdims=True))
    return y / xp.sum(y, axis=-1, keepdims=True)


def numba_softmax(x):
    y = np.empty_like(x)
    for row in numba.prange(x.shape[0]):
        e = np.exp(x[row] - x[row].max())
        y[row] = e / e.sum()
    return y


def plain(x):
    return x


def numba_calls(x):
    return plain(x)


def numba_lacks(x):
    return np.fft.rfft(x)


def numba_yields(x):
    with open("x") as file:
        return x


def numba_wide(x):
    return np.exp(x.astype(np.float64))


def numba_serial(x):
    total = np.float32(0)
    for value in x.ravel():
        total = total * np.float32(0.5) + value
    return total


def keras_softmax(x):
    return keras.ops.softmax(x)


def keras_twice(x):
    return keras.ops.softmax(2 * x)


def jax_softmax(x):
    return jax.nn.softmax(x)


def torch_softmax(x):
    return torch.softmax(x, -1)
"""
OF_FORMS = ("numpy", "numba", "jax_jit", "torch_eager", "torch_inductor", "keras_jax", "keras_torch", "keras_tf")

# The same results in four dialects: a product, a spectrum, squares of whole numbers; how to cast, and to eight bits.
DIALECTS = {
    "numpy": ("x @ w", "np.fft.fft(x)", "k.astype(np.int32) * k", "{}.astype({!r})", "{}.astype(np.int8)"),
    "jax": ("x @ w", "jnp.fft.fft(x)", "k * k", "{}.astype({!r})", "{}.astype('int8')"),
    "torch": ("x @ w", "torch.fft.fft(x)", "k * k", "{}.to(getattr(torch, {!r}))", "{}.to(torch.int8)"),
    "tf": (
        "tf.matmul(x, w)", "tf.signal.fft(tf.cast(x, 'complex64'))", "k * k", "tf.cast({}, {!r})",
        "tf.cast({}, 'int8')",
    ),
}  # fmt: skip
CONJUGATE = {"numpy": "np.conj", "jax": "jnp.conj", "torch": "torch.conj", "tf": "tf.math.conj"}
TRANSPOSED = {"numpy": "({}).T", "jax": "({}).T", "torch": "({}).T", "tf": "tf.transpose({})"}


def mutants() -> str:
    """A question with a right function and six mutants in each dialect."""
    text = """import numpy as np
import jax.numpy as jnp
import tensorflow as tf
import torch
from suite.ask import integers, normal

def inputs(n=16):
    return {"x": normal(n, n), "w": normal(n, n), "k": integers(n, low=100, high=200)}

def reference(x, w, k):
    return {"a": x @ w, "b": x.T @ w, "z": np.fft.fft(x), "k": k * k}

"""
    for dialect, (product, spectrum, squares, cast, narrow) in DIALECTS.items():
        a, z, k = f"({product})", f"({spectrum})", f"({squares})"
        b = a.replace("x", TRANSPOSED[dialect].format("x"), 1) if dialect != "tf" else "tf.matmul(tf.transpose(x), w)"
        right = {"a": a, "b": b, "z": z, "k": k}
        wide = cast.format("{}", "int32")
        changed = {
            "right": {},
            "conjugate": {"z": f"{CONJUGATE[dialect]}({z})"},
            "transposed": {"a": TRANSPOSED[dialect].format(a)},
            "swapped": {"a": b, "b": a},
            "dropped": {"a": f"{a}[:-1]"},
            "overflow": {"k": wide.format(f"({narrow.format('k')} * {narrow.format('k')})")},
            "half": {"a": cast.format(a, "float16")},
        }
        for name, change in changed.items():
            body = ", ".join(f'"{leaf}": {value}' for leaf, value in (right | change).items())
            text += f"def {dialect}_{name}(x, w, k):\n    return {{{body}}}\n\n"
    return text


# A module as somebody has it: tied weights, a buffer, a batch norm, dropout in every form, and a record of results that
# holds flags and an object.
MODEL = """
import dataclasses
from typing import Any

import torch
from suite.ask import integers
from torch import nn

VOCABULARY = 50
UNUSED = nn.Linear(2, 2)


class Cache:
    def __init__(self, keys):
        self.keys, self.is_full = keys, True


@dataclasses.dataclass
class Output:
    logits: torch.Tensor
    cache: Any
    hidden: tuple
    loss: None = None


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding, self.head = nn.Embedding(VOCABULARY, 16), nn.Linear(16, VOCABULARY, bias=False)
        self.head.weight = self.embedding.weight
        self.attention = nn.MultiheadAttention(16, 2, dropout=0.2, batch_first=True)
        self.conv, self.norm, self.dropout = nn.Conv1d(16, 16, 3, padding=1), nn.BatchNorm1d(16), nn.Dropout(0.5)
        self.register_buffer("mask", torch.triu(torch.ones(8, 8, dtype=torch.bool), 1), persistent=False)

    def forward(self, ids, scale=None):
        x = self.embedding(ids)
        attended, _ = self.attention(x, x, x, attn_mask=self.mask, need_weights=False)
        x = self.dropout(x + attended)
        x = self.norm(self.conv(x.transpose(1, 2))).transpose(1, 2)
        return Output(self.head(x), Cache(x), (x.mean(), None))


def inputs(batch=3):
    return {"ids": integers(batch, 8, high=VOCABULARY)}


def torch_model():
    return Net()
"""
TRAINED = """import torch
from torch import nn

from suite.ask import integers, normal


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.norm, self.b = nn.Linear(8, 32), nn.BatchNorm1d(32), nn.Linear(32, 10)
        self.drop, self.frozen = nn.Dropout(0.5), nn.Parameter(torch.ones(32), requires_grad=False)

    def forward(self, image, **further):
        assert not further, "the label is the loss's"
        return self.b(self.drop(torch.relu(self.norm(self.a(image))) * self.frozen))


def inputs(batch=16):
    return {"image": normal(batch, 8), "label": integers(batch, high=10)}


def torch_model():
    return Net()


def loss(outputs, label):
    return nn.functional.cross_entropy(outputs, label)


def torch_optimizer(parameters):
    first, *rest = parameters
    return torch.optim.AdamW([{"params": [first], "lr": 1e-2}, {"params": rest, "weight_decay": 0.0}], 1e-3)
"""
PORTS = """# /// script
# dependencies = ["flax"]
# ///
import jax
import optax
import torch
from flax import nnx
from torch import nn

from suite.ask import integers, normal

LAYOUT = {"torch": {"image": "NHWC->NCHW"}}


def inputs(batch=4):
    return {"image": normal(batch, 6, 5, 3), "label": integers(batch, high=10)}


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.norm = nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8)
        self.fc1, self.ln, self.fc2 = nn.Linear(8, 8), nn.LayerNorm(8), nn.Linear(8, 10)

    def forward(self, image):
        x = torch.relu(self.norm(self.conv(image))).mean((2, 3))
        return self.fc2(nn.functional.gelu(self.ln(self.fc1(x))))


class Port(nnx.Module):
    def __init__(self, rngs):
        self.conv, self.bn = nnx.Conv(3, 8, (3, 3), rngs=rngs), nnx.BatchNorm(8, momentum=0.9, rngs=rngs)
        self.dense, self.norm = nnx.Linear(8, 8, rngs=rngs), nnx.LayerNorm(8, epsilon=1e-5, rngs=rngs)
        self.head, self.drop = nnx.Linear(8, 10, rngs=rngs), nnx.Dropout(0.5, rngs=rngs)

    def __call__(self, image):
        x = jax.nn.relu(self.bn(self.conv(image))).mean((1, 2))
        return self.head(self.drop(jax.nn.gelu(self.norm(self.dense(x)), approximate=False)))


def torch_model():
    return Net()


def jax_model():
    return Port(nnx.Rngs(0))


def torch_loss(outputs, label):
    return nn.functional.cross_entropy(outputs, label.long())


def jax_loss(outputs, label):
    return optax.softmax_cross_entropy_with_integer_labels(outputs, label).mean()


def torch_optimizer(parameters):
    return torch.optim.AdamW(parameters, 1e-3, weight_decay=1e-4)


def jax_optimizer():
    return optax.adamw(1e-3)
"""
# What a port may have done otherwise: what the reason says then.
FAULTS = {
    "epsilon": (", epsilon=1e-5", "", "ln and norm differ by"),
    "gelu": (", approximate=False", "", "jax_model has gelu (tanh approximation)"),
    "decay": (", weight_decay=1e-4", "", "the optimizers differ"),
    "schedule": ("adamw(1e-3)", "adamw(optax.piecewise_constant_schedule(1e-3, {3: 0.1}))", "later steps differ"),
    "bias": ("nnx.Linear(8, 10, rngs", "nnx.Linear(8, 10, use_bias=False, rngs", "does not add the bias fc2.bias"),
}
# A port whose parts are called for one element of the batch, with another epsilon.
EQUINOX_PORT = """# /// script
# dependencies = ["equinox"]
# ///
import equinox as eqx
import jax
from torch import nn

from suite.ask import normal


def inputs(batch=4):
    return {"x": normal(batch, 12)}


class Port(eqx.Module):
    up: eqx.nn.Linear
    norm: eqx.nn.LayerNorm
    down: eqx.nn.Linear

    def __call__(self, x):
        return jax.vmap(lambda x: self.down(jax.nn.relu(self.norm(self.up(x)))))(x)


def torch_model():
    return nn.Sequential(nn.Linear(12, 24), nn.LayerNorm(24), nn.ReLU(), nn.Linear(24, 5))


def jax_model():
    k1, k2 = jax.random.split(jax.random.key(0))
    return Port(eqx.nn.Linear(12, 24, key=k1), eqx.nn.LayerNorm(24, eps=1e-3), eqx.nn.Linear(24, 5, key=k2))
"""
# An optimizer that stops, after the steps that the reference takes too.
LAZY = (
    TRAINED.partition("def torch_optimizer")[0]
    + """class Lazy(torch.optim.SGD):
    steps = 0

    def step(self):
        self.steps += 1
        if self.steps <= 3:
            super().step()


def torch_optimizer(parameters):
    return Lazy(parameters, 1e-2, momentum=0.9)
"""
)
# One that in float32 goes on with another rate than in float64.
BENT = LAZY.replace("""        if self.steps <= 3:
            super().step()
""", """        narrow = self.param_groups[0]["params"][0].dtype == torch.float32
        self.param_groups[0]["lr"] = 0.1 if narrow and self.steps > 3 else 1e-2
        super().step()
""")  # fmt: skip
# Dropout that isn't a module, and is on.
DRAWING = TRAINED.replace("self.drop(", "nn.functional.dropout(")
# float64 doesn't get through it.
SINGLE = TRAINED.replace("return self.b(", "image = image.float()\n        return self.b(")
NNX = '''# /// script
# dependencies = ["equinox", "flax"]
# ///
"""An nnx module with a batch norm and dropout?"""
from flax import nnx
import jax
from suite.ask import integers


class Net(nnx.Module):
    def __init__(self, rngs):
        self.embedding = nnx.Embed(50, 16, rngs=rngs)
        self.attention = nnx.MultiHeadAttention(2, 16, dropout_rate=0.2, decode=False, rngs=rngs)
        self.blocks = nnx.List([nnx.Linear(16, 16, rngs=rngs) for _ in range(2)])
        self.norm, self.dropout = nnx.BatchNorm(16, rngs=rngs), nnx.Dropout(0.5, rngs=rngs)

    def __call__(self, ids, scale=None):
        x = self.norm(self.embedding(ids))
        x = self.dropout(x + self.attention(x))
        for block in self.blocks:
            x = jax.nn.gelu(block(x))
        return {"logits": self.embedding.attend(x), "hidden": [x.mean(), None, True]}


def inputs(batch=3):
    return {"ids": integers(batch, 8, high=50)}


def jax_model():
    return Net(nnx.Rngs(0))
'''
EQUINOX = '''# /// script
# dependencies = ["equinox", "flax"]
# ///
"""An Equinox module with a batch norm and dropout?"""
import equinox as eqx
import jax
from suite.ask import normal


class Net(eqx.Module):
    convolution: eqx.nn.Conv1d
    norm: eqx.nn.BatchNorm
    dropout: eqx.nn.Dropout
    head: eqx.nn.Linear

    def __init__(self, key):
        one, two = jax.random.split(key)
        self.convolution = eqx.nn.Conv1d(4, 8, 3, padding=1, key=one)
        self.norm, self.dropout = eqx.nn.BatchNorm(8, "batch", mode="ema"), eqx.nn.Dropout(0.5)
        self.head = eqx.nn.Linear(8, 5, key=two)

    def one(self, signal, state, key):
        x, state = self.norm(self.convolution(signal), state)
        return self.head(self.dropout(jax.nn.relu(x), key=key).mean(1)), state

    def __call__(self, signal, state, key=None):
        return jax.vmap(self.one, axis_name="batch", in_axes=(0, None, None), out_axes=(0, None))(signal, state, key)


def inputs(batch=16):
    return {"signal": normal(batch, 4, 12)}


def jax_model():
    return eqx.nn.make_with_state(Net)(jax.random.key(0))
'''
# Parameters and a function: right op by op and not under jit, and one that counts its calls.
FUNCTIONS = {
    "compiled": "1.01 if isinstance(x, jax.core.Tracer) else 1.0",
    "counting": "COUNTED.append(1) or 1 + 0.01 * len(COUNTED)",
}
FUNCTION = """
import jax
import jax.numpy as jnp
from suite.ask import normal

COUNTED = []


def inputs(rows=8):
    return {{"x": normal(rows, 4)}}


def apply(params, x):
    return (x @ params["w"]) * ({})


def jax_model():
    return {{"w": jnp.ones((4, 3))}}, apply
"""
# Steps of the file's own, with a state that only its own dialect knows.
STEPS = """import jax
import optax
import torch

from suite.ask import normal

CARRIED = ("w",)


def inputs(batch=8):
    w = {"up": normal(4, 16), "out.weight": normal(16, 3)}
    return {"w": w, "x": normal(batch, 4), "y": normal(batch, 3)}


def jax_setup(w, **_):
    return {"state": optax.adamw(1e-3, weight_decay=0.01).init(w)}


def jax_step(w, state, x, y):
    def loss(w):
        return ((net(jax.numpy.tanh, w, x) - y) ** 2).mean()

    value, gradients = jax.value_and_grad(loss)(w)
    updates, state = optax.adamw(1e-3, weight_decay=0.01).update(gradients, state, w)
    return value, {"w": optax.apply_updates(w, updates), "state": state}


def net(tanh, w, x):
    return tanh(x @ w["up"]) @ w["out.weight"]


def torch_setup(w, **_):
    return {"adam": torch.optim.AdamW([each.requires_grad_() for each in w.values()], lr=1e-3)}


def torch_step(w, adam, x, y):
    adam.zero_grad()
    loss = ((net(torch.tanh, w, x) - y) ** 2).mean()
    loss.backward()
    adam.step()
    return loss
"""
KERAS_HEADS = """
\"\"\"Two inputs, and a head that the loss leaves out?\"\"\"
import keras
from keras import layers, ops
from suite.ask import normal

def inputs(batch=8):
    return {"a": normal(batch, 6), "b": normal(batch, 6), "wanted": normal(batch, 1)}

def keras_model():
    a, b = keras.Input((6,), name="a"), keras.Input((6,), name="b")
    x = layers.Dense(16, activation="tanh")(layers.Concatenate()([a, b]))
    return keras.Model({"a": a, "b": b}, {"value": layers.Dense(1)(x), "extra": layers.Dense(3)(x)})

def loss(outputs, wanted):
    return ops.mean((outputs["value"] - wanted) ** 2)

def keras_optimizer():
    return keras.optimizers.Adam(1e-3)
"""
STEPPING = ("torch_eager", "torch_inductor", "torch_xla", "torchax_jit", "jax_eager", "jax_jit")
MODULES = ("torch_eager", "torch_inductor", "torch_xla", "torchax_jit", "onnxruntime")
EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))
KERAS_WORDS = EXAMPLES[0].parent / "models" / "keras_words.py"
STACKS = ("--stack=numpy", "--stack=torch_eager", "--stack=jax_jit", "--stack=tf_graph")


def written(text: str, name: str):  # type: ignore[no-untyped-def]
    """What writes a question file into a run's folder."""

    def write(folder: Path) -> list[str]:
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
        return [f"{name}.py"]

    return write


def all_written(texts: dict[str, str]):  # type: ignore[no-untyped-def]
    """What writes several question files: one run asks them, with one process a stack."""
    return lambda folder: [name for kind, text in texts.items() for name in written(text, kind)(folder)]


QUESTIONS = {"planted": FILE, "disagree": DIFFER, "undefined": UNDEFINED}
TRAINING = {"lazy": LAZY, "bent": BENT, "drawing": DRAWING}
RUNS = {
    "questions": Asked(2, ("--pass=forward", *STACKS), workloads=all_written(QUESTIONS), module=TOGETHER),
    "gradients": Asked(1, ("--pass=gradient", *STACKS), workloads=written(GRADIENT, "gradients"), module=TOGETHER),
    "training": Asked(2, ("--pass=train", "--stack=torch_eager"), workloads=all_written(TRAINING), module=TOGETHER),
}
RUNS["forms"] = Asked(
    3, ("--pass=forward", *(f"--stack={stack}" for stack in OF_FORMS)), workloads=written(FORMS, "forms"), release=True
)
RUNS["swept"] = Asked(
    1, ("--pass=forward", "--stack=numpy", "--dims=n=16", "--dims=n=256"), workloads=written(SWEPT, "swept")
)
RUNS["models"] = Asked(
    3,
    ("--pass=forward,gradient", *(f"--stack={name}" for name in MODULES)),
    workloads=written(MODEL, "model"),
    release=True,
)
RUNS["steps"] = Asked(3, [f"--stack={name}" for name in STEPPING], workloads=written(STEPS, "steps"), release=True)
RUNS["other steps"] = Asked(
    2,
    ("--stack=torch_eager", "--stack=jax_jit"),
    workloads=written(STEPS.replace("init(w)}", 'init(w), "w": {**w, "up": w["up"] * 1.01}}'), "steps"),
)
RUNS["trained"] = Asked(
    3, ("--pass=train", "--stack=torch_eager", "--stack=torchax_jit"), workloads=written(TRAINED, "trained")
)
RUNS["single"] = Asked(
    3,
    ("--pass=train", *(f"--stack={stack}" for stack in MODULES[:4])),
    workloads=written(SINGLE, "single"),
    release=True,
)
RUNS["ports"] = Asked(
    3, ("--pass=forward,train", "--stack=torch_eager", "--stack=jax_jit"), workloads=written(PORTS, "ports")
)
RUNS["equinox port"] = Asked(
    3,
    ("--pass=forward", "--stack=torch_eager", "--stack=jax_jit"),
    workloads=written(EQUINOX_PORT, "port"),
    release=True,
)
RUNS["other ports"] = Asked(
    4,
    ("--pass=train", "--stack=torch_eager", "--stack=jax_jit"),
    workloads=all_written({kind: PORTS.replace(old, new) for kind, (old, new, _) in FAULTS.items()}),
    release=True,
)
RUNS["models of Keras"] = Asked(
    2,
    ("--pass=train", "--stack=keras_*", f"--workload-path={KERAS_WORDS}", "--workload=keras_words"),
    workloads=written(KERAS_HEADS.strip(), "heads"),
)
RUNS["models of JAX"] = Asked(
    4,
    ("--pass=forward,gradient", "--stack=jax_eager", "--stack=jax_jit"),
    workloads=all_written({"nnx": NNX, "eqx": EQUINOX}),
    release=True,
)
RUNS["wrong models of JAX"] = Asked(
    1,
    ("--pass=forward", "--stack=jax_eager", "--stack=jax_jit"),
    workloads=all_written({kind: FUNCTION.format(factor) for kind, factor in FUNCTIONS.items()}),
)
RUNS["mutants of questions"] = Asked(
    6, ("--pass=forward",), workloads=written(mutants(), "mutants"), module=TOGETHER, release=True
)
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


def stackwars(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*STACKWARS, *words], capture_output=True, text=True, check=False)


def of(run, workload: str):  # type: ignore[no-untyped-def]
    """The rows of one of a run's question files."""
    frame = load(run.folder).frame
    return frame.filter(frame["workload"] == workload)


@pytest.mark.runs("questions")
def test_each_planted_mistake_is_found_and_each_right_function_passes(runs) -> None:  # type: ignore[no-untyped-def]
    frame = of(runs["questions"], "planted")
    assert {*frame["implementation"]} == {*EXPECTED}
    for row in frame.iter_rows(named=True):
        outcome, words = EXPECTED[row["implementation"]]
        assert row["outcome"] == outcome and words in str(row["reason"]), row


@pytest.mark.runs("forms")
def test_every_form_runs_where_it_should_and_numba_s_refusals_have_its_words(runs) -> None:  # type: ignore[no-untyped-def]
    frame = load(runs["forms"].folder).frame
    found = {f"{row['stack']}:{row['implementation']}": row for row in frame.iter_rows(named=True)}
    right = {f"{stack}:xp_softmax" for stack in OF_FORMS[:1] + OF_FORMS[2:5]}
    right |= {f"{stack}:softmax" for stack in OF_FORMS[1:]} | {"numba:softmax.parallel"}
    for name in right:
        assert found[name]["outcome"] == "ok" and found[name]["relative_error"] < 1e-6, found[name]["reason"]
    ended = {
        "calls": ("error", "Untyped global name 'plain'"),
        "lacks": ("unsupported", "Numba lacks this"),
        "yields": ("unsupported", "Numba lacks this"),
        "wide": ("wrong", "float64"),
        "serial": ("wrong", "shape"),
        "serial.parallel": ("unsupported", "no transformation for parallel execution was possible"),
    }
    for name, (outcome, words) in ended.items():
        row = found[f"numba:{name}"]
        assert row["outcome"] == outcome and words in row["reason"], (name, row["outcome"], row["reason"])
    line = FORMS.splitlines().index("    return plain(x)") + 1
    assert f"forms.py:{line}" in found["numba:calls"]["reason"] and "/forms.py:" in found["numba:yields"]["reason"]
    assert all(found[f"{stack}:twice"]["outcome"] == "wrong" for stack in OF_FORMS[5:])
    assert found["numba:softmax"]["compiles_first"] == 1 and found["numba:softmax"]["compile_seconds"] > 0


@pytest.mark.runs("questions")
def test_without_a_majority_both_differ_and_have_times(runs) -> None:  # type: ignore[no-untyped-def]
    results = load(runs["questions"].folder)
    accepted = [row for row in results.analysis().counted if row["workload"] == "disagree"]
    assert {row["outcome"] for row in accepted} == {"differ"}
    assert all(row["flops"] > 64 * 64 for row in accepted if row["stack"] == "jax_jit")
    assert all(len(row["synced_seconds"]) for row in accepted)
    assert not any("disagree" in question for question in results.ratios()["question"])


@pytest.mark.runs("gradients")
def test_three_frameworks_gradients_agree(runs) -> None:  # type: ignore[no-untyped-def]
    frame = load(runs["gradients"].folder).frame
    assert {*frame["outcome"]} == {"ok"} and {*frame["pass"]} == {"gradient"} and len(frame) == 3
    assert not any("unverified" in json.dumps(list(flags)) for flags in frame["flags"])


@pytest.mark.runs("trained")
def test_a_model_trains_by_its_own_loss_and_optimizer(runs) -> None:  # type: ignore[no-untyped-def]
    frame = load(runs["trained"].folder).frame
    assert {*frame["outcome"]} == {"ok"} and len(frame) == 2, frame["reason"].to_list()
    assert frame["relative_error"].max() < 1e-5 and not any("no_float64" in flags for flags in frame["flags"])


@pytest.mark.runs("models of Keras")
def test_a_keras_model_trains_alike_on_two_backends_and_an_embedding_otherwise_on_tensorflow(runs) -> None:  # type: ignore[no-untyped-def]
    every = [*load(runs["models of Keras"].folder).frame.iter_rows(named=True)]
    heads = [row for row in every if row["workload"] == "heads"]
    assert {row["outcome"] for row in heads} == {"ok"} and len(heads) == 3, [row["reason"] for row in heads]
    rows = {row["stack"]: row for row in every if row["workload"] == "keras_words"}
    assert {stack: row["outcome"] for stack, row in rows.items()} == {
        "keras_jax": "ok",
        "keras_torch": "ok",
        "keras_tf": "wrong",  # docs/findings/reports/keras-adam-slices.md
    }
    assert max(rows[stack]["relative_error"] for stack in ("keras_jax", "keras_torch")) < 1e-5
    assert "loss of step 1" not in rows["keras_tf"]["reason"] and "loss of step 2" in rows["keras_tf"]["reason"]


@pytest.mark.runs("training")
def test_an_optimizer_that_stops_is_wrong(runs) -> None:  # type: ignore[no-untyped-def]
    (row,) = of(runs["training"], "lazy").iter_rows(named=True)
    assert row["outcome"] == "wrong" and "a.weight in timed step" in row["reason"]


@pytest.mark.runs("training")
def test_a_stack_whose_later_steps_leave_the_curve_is_wrong(runs) -> None:  # type: ignore[no-untyped-def]
    (row,) = of(runs["training"], "bent").iter_rows(named=True)
    assert row["outcome"] == "wrong" and "loss of step 5" in row["reason"] and "loss of step 4" not in row["reason"]


@pytest.mark.runs("steps")
def test_steps_of_the_file_s_own_are_measured_and_what_they_carry_agrees(runs) -> None:  # type: ignore[no-untyped-def]
    frame = load(runs["steps"].folder).frame
    ended = dict(frame.select("stack", "outcome").iter_rows())
    assert ended.pop("torchax_jit") == "unsupported" and {*ended.values()} == {"ok"}, frame["reason"].to_list()


@pytest.mark.runs("other steps")
def test_steps_that_begin_with_other_weights_differ(runs) -> None:  # type: ignore[no-untyped-def]
    frame = load(runs["other steps"].folder).frame
    assert {*frame["outcome"]} == {"differ"} and all("loss" in reason for reason in frame["reason"])


@pytest.mark.runs("training")
def test_a_model_that_draws_random_numbers_isn_t_called_wrong(runs) -> None:  # type: ignore[no-untyped-def]
    (row,) = of(runs["training"], "drawing").iter_rows(named=True)
    assert row["outcome"] == "unsupported" and "two calls with the same inputs" in row["reason"]


@pytest.mark.runs("single")
def test_a_model_without_float64_is_judged_by_the_majority_of_its_stacks(runs) -> None:  # type: ignore[no-untyped-def]
    frame = load(runs["single"].folder).frame
    assert {*frame["outcome"]} == {"ok"} and len(frame) == 4, frame["reason"].to_list()
    assert all("no_float64" in flags and "unverified" not in flags for flags in frame["flags"])


@pytest.mark.runs("ports")
def test_a_port_has_the_first_model_s_weights_and_computes_the_same(runs) -> None:  # type: ignore[no-untyped-def]
    frame = load(runs["ports"].folder).frame
    assert {*frame["outcome"]} == {"ok"} and len(frame) == 4, frame["reason"].to_list()
    assert frame["relative_error"].max() < 1e-5 and not any("unverified" in flags for flags in frame["flags"])
    written = json.loads(next(runs["ports"].folder.glob("ports/*/weights.json")).read_text(encoding="utf-8"))
    assert written["weights"]["conv.kernel"] == "conv.weight.transpose(2, 3, 1, 0)" and len(written["weights"]) == 12


@pytest.mark.runs("other ports")
def test_where_a_port_isn_t_the_first_model_it_is_wrong_and_the_reason_says_why(runs) -> None:  # type: ignore[no-untyped-def]
    frame = load(runs["other ports"].folder).frame
    for row in frame.iter_rows(named=True):
        *_, words = FAULTS[row["workload"]]
        is_first = row["stack"] == "torch_eager"
        assert row["outcome"] == ("ok" if is_first else "wrong") and (is_first or words in row["reason"]), row["reason"]


@pytest.mark.runs("equinox port")
def test_parts_of_an_equinox_model_are_told_though_each_is_called_in_vmap(runs) -> None:  # type: ignore[no-untyped-def]
    ended = {row["stack"]: row for row in load(runs["equinox port"].folder).frame.iter_rows(named=True)}
    assert ended["torch_eager"]["outcome"] == "ok" and ended["jax_jit"]["outcome"] == "wrong"
    assert "the outputs of 1 and norm differ" in ended["jax_jit"]["reason"] and "epsilon" in ended["jax_jit"]["reason"]


@pytest.mark.runs("questions")
def test_results_that_are_nan_are_told_without_a_reference(runs) -> None:  # type: ignore[no-untyped-def]
    frame = of(runs["questions"], "undefined")
    assert {*frame["outcome"]} == {"ok"}
    assert all("not_finite" in flags for flags in frame["flags"])


@pytest.mark.runs("examples")
def test_the_examples_are_right_where_they_should_be(runs) -> None:  # type: ignore[no-untyped-def]
    frame = load(runs["examples"].folder).frame
    assert {*frame["workload"]} == {path.stem for path in EXAMPLES}
    wrong = {
        (row["workload"], row["stack"], row["implementation"]) for row in frame.to_dicts() if row["outcome"] != "ok"
    }
    assert wrong == {("gelu", "jax_jit", "tanh")}


@pytest.mark.runs("models")
def test_a_module_runs_unchanged_on_five_stacks_and_agrees_with_itself_in_float64(runs) -> None:  # type: ignore[no-untyped-def]
    frame = load(runs["models"].folder).frame
    found = {(row["stack"], row["pass"]): row for row in frame.iter_rows(named=True)}
    forward_only = ("onnxruntime", "gradient")
    assert found.keys() == {(stack, pass_) for stack in MODULES for pass_ in ("forward", "gradient")}
    for at, row in found.items():
        assert row["outcome"] == ("unsupported" if at == forward_only else "ok"), row["reason"]
        if at != forward_only:
            assert 0 < row["relative_error"] < 1e-4 and "unverified" not in row["flags"]
            leaves = {"logits", "cache/keys", "hidden/0"}
            assert {*json.loads(row["result_types"])} == (leaves if at[1] == "forward" else {""})
            assert row["parameters"] == 50 * 16 + 16 * 3 * 16 + 48 + 16 * 16 + 16 + 16 * 16 * 3 + 16 + 32, "tied once"
    assert len({row["weights_sha256"] for row in found.values() if row["weights_sha256"]}) == 1


@pytest.mark.runs("models of JAX")
def test_modules_of_flax_and_equinox_run_unchanged_and_agree_with_themselves_in_float64(runs) -> None:  # type: ignore[no-untyped-def]
    frame = load(runs["models of JAX"].folder).frame
    assert len(frame) == 2 * 2 * 2 and {*frame["outcome"]} == {"ok"}, [*frame["reason"]]
    assert all(0 < error < 1e-5 for error in frame["relative_error"])
    assert not any("unverified" in flags for flags in frame["flags"])
    counts = {"nnx": 50 * 16 + 4 * (16 * 16 + 16) + 2 * (16 * 16 + 16) + 32, "eqx": 8 * 4 * 3 + 8 + 16 + 8 * 5 + 5}
    assert {(row["workload"], row["parameters"]) for row in frame.iter_rows(named=True)} == {*counts.items()}


@pytest.mark.runs("wrong models of JAX")
def test_a_model_that_is_another_one_under_jit_is_wrong_and_one_that_counts_its_calls_isn_t_measured(runs) -> None:  # type: ignore[no-untyped-def]
    frame = load(runs["wrong models of JAX"].folder).frame
    ended = {(row["workload"], row["stack"]): row["outcome"] for row in frame.iter_rows(named=True)}
    assert ended["compiled", "jax_eager"] == "ok" and ended["compiled", "jax_jit"] == "wrong"
    assert ended["counting", "jax_eager"] == "unsupported" and ended["counting", "jax_jit"] == "wrong"


@pytest.mark.runs("swept")
def test_a_sweep_is_one_table_and_a_chart_and_the_page_has_the_file(runs) -> None:  # type: ignore[no-untyped-def]
    folder = runs["swept"].folder
    made = report(load(folder))
    answer, (file,) = found(made, "sweeps"), part(made, AskedSection).files
    ((name, chart),) = answer.charts.items()
    assert "over n" in name and {*chart.names} == {"numpy:sum", "numpy:product"}
    assert sorted(answer.table.select("size", "stack").iter_rows()) == [
        (size, f"numpy:{function}") for size in (16, 256) for function in ("product", "sum")
    ]
    assert not part(made, ComparisonsSection).console() and not part(made, ComparisonsSection).tables()
    assert answer.table["relative_error"].is_between(0, 1e-5, closed="left").all()
    assert file.heading == "Is a sum as fast as a product?" and file.text == SWEPT
    (table,) = part(made, AskedSection).tables()
    assert f"````python\n{SWEPT.strip()}\n````" in markdown(table)
    page = (folder / "report.html").read_text(encoding="utf-8")
    for name in ("sum", "product"):
        assert f'id="code-swept-numpy_{name}"' in page and f'href="#code-swept-numpy_{name}"' in page
    assert "and &lt;b&gt;." in page and "and <b>." not in page


@pytest.mark.runs("questions")
def test_xla_counts_a_question_s_operations_and_what_is_moved_is_known(runs) -> None:  # type: ignore[no-untyped-def]
    counted = load(runs["questions"].folder).analysis().counted
    rows = {(row["stack"], row["implementation"]): row for row in counted if row["workload"] == "planted"}
    assert rows["jax_jit", "right"]["flops"] is None, "XLA counts up to three times the operations of a transform"
    assert rows["numpy", "right"]["flops"] is None and rows["torch_eager", "right"]["flops"] is None
    # x and k go in; their sums, k + 1 and complex values come out.
    assert rows["torch_eager", "right"]["bytes_floor"] == 1000 * (4 + 4 + 4 + 4 + 8)
    assert json.loads(rows["torch_eager", "right"]["result_types"]) == {
        "sum": "float32",
        "k": "int32",
        "z": "complex64",
    }
    assert rows["torch_eager", "right"]["tolerance"] == 1e-5


@pytest.mark.runs("mutants of questions")
def test_each_planted_mistake_is_wrong_on_every_stack(runs) -> None:  # type: ignore[no-untyped-def]
    frame = load(runs["mutants of questions"].folder).frame
    assert len(frame) == 7 * 11
    found = {tuple(pair): outcome for *pair, outcome in frame.select("stack", "implementation", "outcome").iter_rows()}
    expected = {pair: "ok" if pair[1] == "right" else "wrong" for pair in found}
    # The question has complex numbers, which ONNX doesn't run.
    expected |= {pair: "unsupported" for pair in found if pair[0] in EXPORTED}
    assert found == expected


def test_a_question_called_like_a_probe_is_asked_reported_resumed_and_compared(tmp_path: Path) -> None:
    (tmp_path / "in_place.py").write_text(SWEPT, encoding="utf-8")
    checked = ("--check", "--stack=numpy", "--engine=local", f"--results={tmp_path}")
    assert stackwars("ask", str(tmp_path / "in_place.py"), *checked).returncode == 0
    (folder,) = tmp_path.glob("*-check-*")
    results = load(folder)
    assert {*results.frame["workload"]} == {"in_place.py"} and {*results.frame["outcome"]} == {"ok"}
    (file,) = part(report(results), AskedSection).files
    assert (file.workload, file.text) == ("in_place.py", SWEPT)
    (folder / "manifest.json").unlink()
    (folder / "results.parquet").unlink()
    assert stackwars("run", f"--resume={folder}").returncode == 0
    assert len(load(folder).frame) == 2
    assert stackwars("ask", str(tmp_path / "in_place.py"), *checked).returncode == 0
    compared = stackwars("compare", *map(str, sorted(tmp_path.glob("*-check-*"))))
    assert compared.returncode == 0 and "in_place.py-asked-forward" in compared.stdout, compared.stderr


PACKAGED = """# /// script
# dependencies = ["einops"]
# ///
'Heads by einops?'
from einops import rearrange
from mine.shapes import HEADS

from suite.ask import normal


def inputs(n=4):
    return {"x": normal(n, 8)}


numpy_einops = lambda x: rearrange(x, "b (h d) -> h b d", h=HEADS)


def numpy_hand(x):
    return x.reshape(len(x), HEADS, -1).swapaxes(0, 1).copy()
"""


def test_a_question_brings_its_packages_and_the_modules_beside_it(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "shapes.py").write_text("HEADS = 2\n")
    (tmp_path / "heads.py").write_text(PACKAGED, encoding="utf-8")
    checked = ("--check", "--stack=numpy", "--engine=local", f"--results={tmp_path}")
    asked = stackwars("ask", str(tmp_path / "heads.py"), *checked)
    assert asked.returncode == 0, asked.stderr
    (folder,) = tmp_path.glob("*-check-*")
    results = load(folder)
    assert {*results.frame["outcome"]} == {"ok"} and results.plan_file
    assert all("einops" in json.loads(versions) for versions in results.frame["versions"])
    assert "einops==" in (folder / "inputs" / "numpy.lock.txt").read_text(encoding="utf-8")
    assert (folder / "inputs" / "workloads" / "mine" / "shapes.py").read_text() == "HEADS = 2\n"
    assert results.plan_file.code["heads"].keys() == {"asked", "numpy_einops", "numpy_hand"}
    (folder / "manifest.json").unlink()
    assert stackwars("run", f"--resume={folder}").returncode == 0, "with the lock that was made for it"
    copied = f"--workload-path={folder / 'inputs' / 'workloads' / 'heads.py'}"
    refused = stackwars("reproduce", f"--set={folder}", copied, f"--results={tmp_path / 'again'}")
    assert (refused.returncode, "einops none → " in refused.stdout) == (6, True), refused.stdout
    again = stackwars("reproduce", f"--set={folder}", copied, "--trust", f"--results={tmp_path / 'again'}")
    assert again.returncode in (0, 5) and "2 " in again.stdout, again.stderr


ODD = """'Results of other forms?'
from dataclasses import dataclass

import numpy as np
from suite.ask import normal


@dataclass
class Out:
    more: object
    twice: object


def inputs(n=50):
    return {"x": normal(n, 2 * n)}


def numpy_fields(x):
    return Out(x + 1, {"x": 2 * x})


def numpy_tree(x):
    return {"more": x + 1, "twice": {"x": 2 * x}}


def numpy_draws(x):
    return Out(x + np.random.default_rng().random(x.shape, "float32"), {"x": 2 * x})
"""


def test_dataclasses_are_trees_and_random_numbers_are_no_wrong_result(tmp_path: Path) -> None:
    (tmp_path / "odd.py").write_text(ODD, encoding="utf-8")
    asked = stackwars(
        "ask", str(tmp_path / "odd.py"), "--check", "--stack=numpy", "--engine=local", f"--results={tmp_path}"
    )
    assert asked.returncode == 0, asked.stderr
    (folder,) = tmp_path.glob("*-check-*")
    ended = {row["implementation"]: row for row in load(folder).frame.iter_rows(named=True)}
    assert {name: row["outcome"] for name, row in ended.items()} == {
        "fields": "ok",
        "tree": "ok",
        "draws": "unsupported",
    }
    assert ended["draws"]["reason"].startswith("two calls with the same inputs give different results")


def test_a_notebook_gets_the_tables_and_the_rows(tmp_path: Path) -> None:
    import stackwars

    (tmp_path / "swept.py").write_text(SWEPT, encoding="utf-8")
    options = {"force": True, "engine": "local", "results": str(tmp_path), "stack": "numpy", "repeats": 1}
    answer = stackwars.ask(tmp_path / "swept.py", **options)
    assert sorted(answer["stack"]) == ["numpy:product", "numpy:sum"] and {*answer["outcome"]} == {"ok"}
    assert all(seconds > 0 for seconds in answer["median_seconds"])
    assert repr(answer).startswith("Is a sum as fast as a product?") and "peak memory" in repr(answer)
    assert answer.to_polars()["stack"].to_list() == answer.to_pandas()["stack"].tolist() == answer["stack"]
    assert "numpy:product</td>" in answer._repr_html_() and answer.page.name == "report.html"
