"""Prints, for a model of each of JAX's libraries, how far the question's form of it is from the library's own use of
it. It runs in an environment that has flax and Equinox."""

from __future__ import annotations

import json

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import linen, nnx

from suite.stacks import base
from suite.workloads.questions.dialects import model_jax
from suite.workloads.tensors import Tensor

DRAWN = np.random.default_rng(0)
X = jnp.asarray(DRAWN.normal(size=(6, 4)), jnp.float32)


class Nnx(nnx.Module):
    def __init__(self, rate: float, rngs: nnx.Rngs) -> None:
        self.layers = nnx.List([nnx.Linear(4, 6, rngs=rngs)])
        self.norm, self.dropout = nnx.BatchNorm(6, rngs=rngs), nnx.Dropout(rate, rngs=rngs)
        self.attention = nnx.MultiHeadAttention(2, 6, dropout_rate=rate, decode=False, rngs=rngs)
        self.embedding = nnx.Embed(3, 6, rngs=rngs)  # which keeps the type that it is made with

    def __call__(self, x):
        y = self.attention(self.dropout(self.norm(self.layers[0](x)))[:, None])
        return {"logits": self.embedding.attend(y), "more": (y.mean(), None, "a word")}


class Linen(linen.Module):
    rate: float = 0.5
    dtype: type | None = None

    @linen.compact
    def __call__(self, x, train: bool):
        x = linen.BatchNorm(use_running_average=not train)(linen.Dense(6, dtype=self.dtype)(x))
        x = linen.Dropout(self.rate, deterministic=not train)(x)[:, None]
        return linen.MultiHeadDotProductAttention(2, dropout_rate=self.rate, deterministic=not train)(x)


class Row(nnx.Sequential):
    """Hands on to each layer those arguments that it takes."""

    def __init__(self, rngs: nnx.Rngs) -> None:
        super().__init__(lambda **given: given["x"], nnx.Linear(4, 6, rngs=rngs), nnx.Linear(6, 2, rngs=rngs))


class Equinox(eqx.Module):
    linear: eqx.nn.Linear
    norms: list
    convolution: eqx.nn.Conv1d
    dropout: eqx.nn.Dropout
    steps: jax.Array  # whole numbers, which aren't trained

    def __init__(self, rate: float) -> None:
        one, two = jax.random.split(jax.random.key(0))
        self.linear, self.convolution = eqx.nn.Linear(4, 6, key=one), eqx.nn.Conv1d(6, 5, 3, padding=1, key=two)
        self.norms = [eqx.nn.BatchNorm(6, "batch", mode=mode) for mode in ("ema", "batch")]
        self.dropout, self.steps = eqx.nn.Dropout(rate), jnp.arange(6)

    def one(self, x, state, key):
        x = self.linear(x)
        for norm in self.norms:
            x, state = norm(x, state)
        return self.convolution(self.dropout(x + self.steps, key=key)[:, None]), state

    def __call__(self, x, state, key=None):
        return jax.vmap(self.one, axis_name="batch", in_axes=(0, None, None), out_axes=(0, None))(x, state, key)


def affine(params, x):
    return x @ params["layers"][0] + params["layers"][1]


def plain_nnx(values, train):
    model = Nnx(0.0, nnx.Rngs(0))
    for name, value in values.items():
        at(model, name)[...] = value
    model.train() if train else model.eval()
    if not train:
        return model(X)
    total, gradients = nnx.value_and_grad(lambda model: loss(model(X)))(model)
    return (
        total,
        {name: at(gradients, name)[...] for name in values if name not in ("norm.mean", "norm.var")},
        {name: at(model, name)[...] for name in ("norm.mean", "norm.var")},
    )


def plain_linen(values, train):
    model, nested = Linen(0.0), base.nested(values)
    stats = {"BatchNorm_0": {name: nested["BatchNorm_0"].pop(name) for name in ("mean", "var")}}

    def of(params):
        return model.apply({"params": params, "batch_stats": stats}, X, train=train, mutable=["batch_stats"])

    if not train:
        return of(nested)[0]

    def scalar(params):
        outputs, updated = of(params)
        return loss(outputs), updated["batch_stats"]

    (total, after), gradients = jax.value_and_grad(scalar, has_aux=True)(nested)
    return total, base.flat(gradients), base.flat(after)


def plain_equinox(values, train):
    model, state = eqx.nn.make_with_state(Equinox)(0.0)
    indices = {"norms.0.ema_state_index": model.norms[0].ema_state_index}
    indices["norms.1.batch_state_index"] = model.norms[1].batch_state_index
    state = state.set(model.norms[0].ema_first_time_index, jnp.zeros((), bool))
    for name, index in indices.items():
        state = state.set(index, (values[f"{name}.0"], values[f"{name}.1"]))
    names = [name for name in values if "_index" not in name]
    model = eqx.tree_at(lambda m: [at(m, name) for name in names], model, [values[name] for name in names])
    if not train:
        return eqx.nn.inference_mode(model)(X, state)[0]

    def scalar(model):
        outputs, after = model(X, state)
        return loss(outputs), after

    (total, after), gradients = eqx.filter_value_and_grad(scalar, has_aux=True)(model)
    buffers = {f"{name}.{k}": value for name, index in indices.items() for k, value in enumerate(after.get(index))}
    return total, {name: at(gradients, name) for name in names}, buffers


def plain_function(values, train):
    def of(values):
        return affine({"layers": [values["layers.0"], values["layers.1"]]}, X)

    return (*jax.value_and_grad(lambda values: loss(of(values)))(values), {}) if train else of(values)


def at(tree, name):
    for part in name.split("."):
        tree = tree[int(part)] if part.isdigit() else tree[part] if isinstance(tree, nnx.State) else getattr(tree, part)
    return tree


def loss(outputs, arguments=None, mean_cube=model_jax.mean_cube):
    return sum(mean_cube(leaf) for leaf in jax.tree.leaves(outputs) if isinstance(leaf, jax.Array))


def apart(one, other):
    """The largest relative error of two trees' arrays; those that are zero up to rounding have none."""
    pairs = [
        (np.asarray(a, np.float64), np.asarray(b, np.float64))
        for a, b in zip(
            *([x for x in jax.tree.leaves(tree) if hasattr(x, "shape")] for tree in (one, other)), strict=True
        )
    ]
    largest = max((np.linalg.norm(b) for _, b in pairs), default=0.0)
    return max((float(np.linalg.norm(a - b) / max(np.linalg.norm(b), 1e-2 * largest)) for a, b in pairs), default=0.0)


def named(leaves):
    """Returns what is said of the parameters, and of the buffers, by name."""
    return tuple({name: of for name, trained, *of in leaves if trained is kind} for kind in (True, False))


def compared(make, plain):
    leaves = parameters, buffers = named(model_jax.leaves(make, {"x": Tensor(X.shape)}, ()))
    values = {name: jnp.asarray(DRAWN.normal(0, 0.3, shape), t) for name, (shape, t, *_) in parameters.items()}
    statistics = {name: jnp.asarray(DRAWN.uniform(0.5, 1.5, shape), t) for name, (shape, t, *_) in buffers.items()}
    code = model_jax.code(make, dict, loss, None, ())
    state = (base.nested(values), base.nested(statistics)) if buffers else (base.nested(values),)
    outputs, wanted = code.forward({}, *state, x=X), plain(values | statistics, train=False)
    total, gradients, after = plain(values | statistics, train=True)
    found = jax.jit(jax.value_and_grad(lambda p, *b: code.loss({}, p, *b, x=X), has_aux=bool(buffers)))(*state)
    found_total, found_after = found[0] if buffers else (found[0], {})
    exact = model_jax.exact(
        make, dict, loss, lambda: optax.sgd(0.5), (),
        {name: np.asarray(value, np.float64) for name, value in (values | statistics).items()}, {"x": np.float64(X)},
    )  # fmt: skip
    exact_outputs = exact.output()
    exact_loss, exact_gradients = exact.step()
    by_name = {name: gradients[name] for name in sorted(gradients)}
    updated = {name: values[name] - 0.5 * gradients[name] for name in values} | after
    held = exact.values()
    return {
        "leaves": leaves,
        "forward": apart(outputs, wanted),
        "results": sorted(base.flat({"of": outputs})),
        "loss": apart(found_total, total),
        "gradients": apart([base.flat(found[1])[name] for name in by_name], list(by_name.values())),
        "buffers": apart([base.flat(found_after)[name] for name in after], list(after.values())),
        "updated": sorted(name for name in after if apart(after[name], statistics[name]) > 1e-3),
        "exact": apart(exact_outputs, wanted),
        "exact gradients": apart([exact_gradients[name] for name in by_name], list(by_name.values())),
        "exact loss": apart(np.float64(exact_loss), total),
        "exact step": apart([held[name] for name in updated], list(updated.values())),
        "types": sorted({str(value.dtype) for value in (*jax.tree.leaves(exact_outputs), *held.values())}),
    }


def refused(make):
    try:
        leaves = named(model_jax.leaves(make, {"x": Tensor(X.shape)}, ()))
        values = {name: np.zeros(shape) for group in leaves for name, (shape, *_) in group.items()}
        model_jax.exact(make, dict, loss, None, (), values, {"x": np.float64(X)}).output()
    except (NotImplementedError, TypeError) as words:
        return f"{type(words).__name__}: {words}"
    return ""


def called(make):
    """Returns the paths of the recorded calls, in evaluation and in training."""
    leaves = named(model_jax.leaves(make, {"x": Tensor(X.shape)}, ()))
    values = {name: np.ones(shape) for group in leaves for name, (shape, *_) in group.items()}
    exact = model_jax.exact(make, dict, loss, None, (), values, {"x": np.float64(X)})
    return [[path for path, *_ in exact.calls(training)] for training in (False, True)]


def in_bfloat16(params, x):
    return affine(params, x).astype("bfloat16")


AFFINE = {"layers": [jnp.ones((4, 6)), jnp.ones(6)]}
print(
    json.dumps(
        {
            "nnx": compared(lambda: Nnx(0.5, nnx.Rngs(0)), plain_nnx),
            "linen": compared(Linen, plain_linen),
            "linen in float32": compared(lambda: Linen(dtype=jnp.float32), plain_linen),
            "equinox": compared(lambda: eqx.nn.make_with_state(Equinox)(0.5), plain_equinox),
            "equinox without its state": compared(lambda: Equinox(0.5), plain_equinox),
            "function": compared(lambda: (AFFINE, affine), plain_function),
            "called": called(lambda: Row(nnx.Rngs(0))),
            "refused": [refused(lambda: (AFFINE, in_bfloat16)), refused(lambda: 3)],
        }
    )
)
