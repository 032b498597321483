"""What the difference between two arrays looks like. A test makes the one from the other, or both from what the two
models agree on, as a fault would have done; what isn't equal within 1e-9 then is no suspicion."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations, permutations, product
from typing import Any

import numpy as np

from suite.workloads.questions.ports.pairing import TOLERANCE, Array, equal

Found = tuple[str, str]  # the fault in a word, and in words
RECENT = 12  # arrays before the difference that a test is made with


@dataclass(frozen=True, slots=True)
class Evidence:
    """Two arrays that differ, of the first model and its port, in the first's layout. `x` is the input of the module
    that they are outputs of, and `leaves` its own; between modules x is None, and `leaves` are those of no module. In
    both cases the first model's come first.
    `sources` are arrays before them on which the models agree, by what they are, newest first. `of_port` is what the
    port's modules have returned before, in which a norm is called one that the first model only calls later."""

    names: tuple[str, str]
    kind: str
    first: Array
    port: Array
    x: Array | None
    leaves: Mapping[str, Array]
    sources: Mapping[str, Array] = field(default_factory=dict)
    of_port: Mapping[str, Array] = field(default_factory=dict)

    def both(self, one: str, other: str) -> str:
        return f"{self.names[0]} {one}, {self.names[1]} {other}"


def share(a: Array, b: Array) -> float:
    """Returns how many times a is in b, by least squares."""
    return float(np.vdot(a, b) / np.vdot(a, a))


def multiple(e: Evidence) -> Iterator[Found]:
    """A factor, like a scale that is applied twice."""
    factor = share(e.first, e.port)
    if factor and equal(e.port, factor * e.first):
        root = max(factor, 1 / factor)
        d = round(root**2) if math.isclose(root**2, round(root**2), rel_tol=TOLERANCE) else 0
        known = f" ({'1/' * (factor < 1)}sqrt({d}))" if d > 1 and e.first.shape[-1] % d == 0 else ""
        yield "factor", f"{e.names[1]} has {factor:.6g}{known} times what {e.names[0]} has"


def order_of_norms(e: Evidence) -> Iterator[Found]:
    """The norm before a block against the norm after it."""
    for words, it in e.of_port.items() if e.x is None else ():
        if words.startswith("the norm") and equal(e.port, it):
            yield "order of norms", e.both("normalises later", f"takes {words} here")
        if e.kind.endswith("_norm") and equal(e.port - e.first, it):
            yield "order of norms", e.both("normalises before", f"after it adds {words}")


def addend(e: Evidence) -> Iterator[Found]:
    """A bias, residual or other array that one model adds and the other doesn't, or adds twice."""
    arrays = [(f"bias {name}" if is_shift(name) else name, it) for name, it in e.leaves.items()]
    arrays += [(words, it) for words, x in e.sources.items() for it in (x, *dict(pooled(x, e.first.shape)).values())]
    for words, each in arrays:
        for added in spread(each, e.first.shape):
            times = share(added, e.port - e.first)
            if times and equal(e.port - e.first, times * added):
                how = {1.0: "once more adds", -1.0: "does not add"}.get(
                    round(times, 6), f"adds {times:+.6g} times more often"
                )
                fault = "bias" if words.startswith("bias") else "residual"
                yield fault, f"unlike {e.names[0]}, {e.names[1]} {how} the {words.removeprefix('the ')}"


def spread(value: Array, shape: tuple[int, ...]) -> Iterator[Array]:
    """Yields the ways in which an array can be added to one of a shape; if it has one axis, along any."""
    if len(shape) < value.ndim:
        return
    if value.ndim == 1:
        axes = [axis for axis, size in enumerate(shape) if size == value.size]
        yield from (np.broadcast_to(along(value, axis, len(shape)), shape) for axis in axes)
    for moved in (value.transpose(order) for order in permutations(range(value.ndim)) if value.ndim > 1):
        if all(a in (1, b) for a, b in zip(moved.shape[::-1], shape[::-1], strict=False)):
            yield np.broadcast_to(moved, shape)


def along(value: Array, axis: int, ndim: int) -> Array:
    return value.reshape([-1 if place == axis % ndim else 1 for place in range(ndim)])


def is_shift(name: str) -> bool:
    return any(word in name.rpartition(".")[2] for word in ("bias", "beta", "offset", "shift"))


def dropout(e: Evidence) -> Iterator[Found]:
    """Some elements are zero, and the others 1 / (1 - p) times as large: of the whole, or of what is added to it."""
    bases = [it for x in e.sources.values() for _, it in pooled(x, e.first.shape)]
    for base, side in product((np.zeros(()), *bases), (1, 0)):
        plain, dropped = (e.first - base, e.port - base)[:: 1 if side else -1]
        kept = np.abs(dropped) > TOLERANCE * np.abs(plain).max()
        factor = share(plain[kept], dropped[kept])
        lost = np.sum(~kept & (plain != 0)) / np.sum(plain != 0)
        likely = lost and factor > 1 and abs(lost - (1 - 1 / factor)) < 3 / kept.size**0.5
        if likely and equal(dropped, np.where(kept, factor * plain, 0)):
            yield "dropout", f"{e.names[side]} has dropout on, with p = {1 - 1 / factor:.2g}"


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def softmax(x: Array, axis: int = -1, *, logarithm: bool = False) -> Array:
    powers = np.exp(x - x.max(axis, keepdims=True))
    shares = np.asarray(powers / powers.sum(axis, keepdims=True))
    return np.log(shares) if logarithm else shares


ACTIVATIONS: dict[str, Callable[[Array], Array]] = {
    "no activation": lambda x: x,
    "relu": lambda x: np.maximum(x, 0),
    "gelu (erf)": lambda x: x * (1 + np.vectorize(math.erf, [float])(x / 2**0.5)) / 2,
    "gelu (tanh approximation)": lambda x: x * (1 + np.tanh((2 / np.pi) ** 0.5 * (x + 0.044715 * x**3))) / 2,
    "gelu (quick)": lambda x: x * sigmoid(1.702 * x),
    "silu": lambda x: x * sigmoid(x),
    "tanh": np.tanh,
    "sigmoid": sigmoid,
    "hard sigmoid": lambda x: np.clip(x / 6 + 0.5, 0, 1),
    "hard swish": lambda x: x * np.clip(x / 6 + 0.5, 0, 1),
    "elu": lambda x: np.where(x > 0, x, np.expm1(x)),
    "leaky relu (0.01)": lambda x: np.where(x > 0, x, 0.01 * x),
    "relu6": lambda x: np.clip(x, 0, 6),
    "mish": lambda x: x * np.tanh(np.logaddexp(x, 0)),
}


def activation(e: Evidence) -> Iterator[Found]:
    """Another activation, a gate's among them; a softmax over another axis; a residual or pooling beside these."""
    for sources in [e.sources] if e.x is None else [{"it": e.first}, {"it": e.port}]:
        for one, other in explained(e, made_of(likely(e, sources), e.first.shape)):
            place = next(place for place, _ in enumerate(one) if one[place] != other[place])
            fault = ("source", "residual", "pooling", "activation")[place]
            said = [
                f"has {f'{name} of ' * (name != 'no activation')}{words}{more}{pool}"
                for words, more, pool, name in (one, other)
            ]
            yield "softmax" if all("softmax" in it for it in said) else fault, e.both(said[0], said[1])


def likely(e: Evidence, sources: Mapping[str, Array]) -> dict[str, Array]:
    """Returns the recent sources, of many elements only those that explain a sample of them, or may be pooled."""
    recent, every = [*sources.items()][:RECENT], 1 + e.first.size // 4000
    few = {words: x.reshape(-1)[::every] for words, x in recent if x.size == e.first.size}
    sample = replace(e, first=e.first.reshape(-1)[::every], port=e.port.reshape(-1)[::every])
    found = str([*explained(sample, made_of(few, sample.first.shape))])
    newest = [words for words, _ in recent[:2]]
    return {words: x for words, x in recent if words not in few or words in newest or words in found}


def explained(e: Evidence, forms: Iterable[tuple[Any, Array]]) -> Iterator[tuple[Any, Any]]:
    """Yields the forms of the first's array and of the port's, once both are among those that are tried."""
    found: list[Any] = [None, None]
    for form, value in forms:
        for side, target in enumerate((e.first, e.port)):
            if found[side] is None and equal(value, target):
                found[side] = form
                if None not in found:
                    yield found[0], found[1]
                    return


def made_of(sources: Mapping[str, Array], shape: tuple[int, ...]) -> Iterator[tuple[tuple[str, ...], Array]]:
    """Yields what activations make of arrays, of sums and of gates, pooled where that gives `shape`."""
    newest = [words for words in sources if words.startswith("the output")][:2]
    for words, x in sources.items():
        functions = dict(ACTIVATIONS)
        for axis in range(x.ndim):
            functions[f"softmax over axis {axis}"] = partial(softmax, axis=axis)
            functions[f"log softmax over axis {axis}"] = partial(softmax, axis=axis, logarithm=True)
        for name, f in functions.items():
            yield from (((words, "", pool, name), it) for pool, it in pooled(f(x), shape))
    for one, (other, y), (name, f) in product(newest, sources.items(), ACTIVATIONS.items()):
        x = sources[one]
        if one != other and x.shape == y.shape and any(True for _ in pooled(x, shape)):
            made = (" plus", f(x + y)), (" plus twice", f(x + 2 * y)), (", plus", f(x) + y), (", times", f(x) * y)
            for more, value in made:
                yield from (((one, f"{more} {other}", pool, name), it) for pool, it in pooled(value, shape))


def pooled(x: Array, shape: tuple[int, ...]) -> Iterator[tuple[str, Array]]:
    """Yields the arrays of a shape that models make of a larger one: its mean, greatest, first or last over axes."""
    if x.size == math.prod(shape):
        yield "", x.reshape(shape)
    for over in (axes for count in (1, 2) for axes in combinations(range(x.ndim), count)):
        if x.size > math.prod(shape) and shape == tuple(size for i, size in enumerate(x.shape) if i not in over):
            yield from ((f", mean over {over}", x.mean(over)), (f", maximum over {over}", x.max(over)))
            yield from ((f", element {i} of {over}", np.take(x, i, over[0])) for i in (0, -1) if len(over) == 1)


SUSPICIONS = (multiple, addend, order_of_norms, dropout, activation)
