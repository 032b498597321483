"""What the difference between two arrays looks like. A test makes the one from the other, or both from what the two
models agree on, as a fault would have done; what isn't equal within 1e-9 then is no suspicion."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations, permutations, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Found = tuple[str, str]  # the fault in a word, and in words
TOLERANCE = 1e-9  # relative Frobenius error
RECENT = 12  # arrays before the difference that a test is made with


@dataclass(frozen=True, slots=True)
class Evidence:
    """Two arrays that differ, of the first model and its port, in the first's layout. `x` is the input of the module
    that they are outputs of, and `leaves` its own; between modules x is None, and `leaves` are those of no module.
    `sources` are arrays before them on which the models agree, by what they are, newest first; `of_port` is what the
    port's modules have returned before, `port_norms` those of norms among it."""

    names: tuple[str, str]
    first: Array
    port: Array
    x: Array | None
    leaves: Mapping[str, Array]
    sources: Mapping[str, Array] = field(default_factory=dict)
    of_port: Mapping[str, Array] = field(default_factory=dict)
    port_norms: Sequence[str] = ()
    is_norm: bool = False

    def both(self, one: str, other: str) -> str:
        return f"{self.names[0]} {one}, {self.names[1]} {other}"


Test = Callable[[Evidence], Iterator[Found]]


def error(a: Array, b: Array) -> float:
    """Returns the relative Frobenius error of b; places where both are NaN, or the same infinity, count as equal."""
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    off = np.linalg.norm(np.where(same, 0.0, np.where(same, 0.0, b) - np.where(same, 0.0, a)))
    size = max(np.linalg.norm(np.where(np.isfinite(it), it, 0.0)) for it in (a, b))
    return float(off / size) if 0 < off < np.inf else np.inf if off else 0.0  # it is NaN where only one of both is


def equal(a: Array, b: Array) -> bool:
    few = slice(None, None, 1 + a.size // 1000)
    near = np.allclose(a.reshape(-1)[few], b.reshape(-1)[few], 1e-6, 1e-6 * np.abs(b).max(), equal_nan=True)
    return near and error(a, b) <= TOLERANCE


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
    for words, it in e.of_port.items():
        if e.x is None and not e.is_norm and words in e.port_norms and equal(e.port, it):
            yield "order of norms", e.both("normalises later", f"takes {words} here")
        if e.x is None and e.is_norm and equal(e.port - e.first, it):
            yield "order of norms", e.both("normalises before", f"after it adds {words}")


def addend(e: Evidence) -> Iterator[Found]:
    """A bias, residual or other array that one model adds and the other doesn't, or adds twice."""
    arrays = [(f"bias {name}" if is_shift(name) else name, it) for name, it in e.leaves.items()]
    arrays += [(words, it) for words, x in e.sources.items() for it in (x, *dict(pooled(x, e.first.shape)).values())]
    for words, each in arrays:
        for added in spread(each, e.first.shape):
            times = share(added, e.port - e.first)
            if times and equal(e.port - e.first, times * added):
                once = math.isclose(abs(times), 1, rel_tol=1e-6)
                how = ("adds once more" if times > 0 else "does not add") if once else f"adds {times:+.6g} times more"
                fault = "bias" if words.startswith("bias") else "residual"
                yield fault, f"{e.names[1]} {how} the {words.removeprefix('the ')}"


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


def axes(e: Evidence) -> Iterator[Found]:
    """The same numbers in another order: axes exchanged, flattened in another order, heads split otherwise."""
    width, same = e.first.shape[-1], np.vdot(e.first, e.first) / np.vdot(e.port, e.port)
    shapes = [it.shape for it in e.sources.values() if it.size == e.first.size and it.ndim < 6]
    shapes += [(*e.first.shape[:-1], heads, width // heads) for heads in divisors(width)[1:-1] if e.first.ndim < 4]
    for shape in dict.fromkeys([e.first.shape, *shapes]) if abs(same - 1) < TOLERANCE else ():
        for order, side in product([*permutations(range(len(shape)))][1:], (1, 0)):
            one, other = (e.first, e.port)[:: 1 if side else -1]
            moved = one.reshape(shape).transpose(order)
            if np.allclose(moved.flat[:64], other.flat[:64]) and equal(moved.reshape(other.shape), other):
                yield "order of axes", f"{e.names[side]} has the axes {shape} of it in the order {order}"


def divisors(number: int) -> list[int]:
    return [it for it in range(1, number + 1) if number % it == 0]


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def softmax(x: Array, axis: int = -1) -> Array:
    powers = np.exp(x - x.max(axis, keepdims=True))
    return np.asarray(powers / powers.sum(axis, keepdims=True))


ACTIVATIONS: dict[str, Callable[[Array], Array]] = {
    "no activation": lambda x: x,
    "relu": lambda x: np.maximum(x, 0),
    "gelu (erf)": lambda x: x * (1 + np.vectorize(math.erf, [float])(x / 2**0.5)) / 2,
    "gelu (tanh approximation)": lambda x: x * (1 + np.tanh((2 / np.pi) ** 0.5 * (x + 0.044715 * x**3))) / 2,
    "gelu (quick)": lambda x: x * sigmoid(1.702 * x),
    "silu": lambda x: x * sigmoid(x),
    "tanh": np.tanh,
    "sigmoid": sigmoid,
    "elu": lambda x: np.where(x > 0, x, np.expm1(x)),
    "leaky relu (0.01)": lambda x: np.where(x > 0, x, 0.01 * x),
    "leaky relu (0.2)": lambda x: np.where(x > 0, x, 0.2 * x),
    "relu6": lambda x: np.clip(x, 0, 6),
    "relu squared": lambda x: np.maximum(x, 0) ** 2,
    "softplus": lambda x: np.logaddexp(x, 0),
    "mish": lambda x: x * np.tanh(np.logaddexp(x, 0)),
}


def activation(e: Evidence) -> Iterator[Found]:
    """Another activation, a gate's among them; a softmax over another axis; a residual or pooling beside these."""
    for sources in [e.sources] if e.x is None else [{"it": e.first}, {"it": e.port}]:
        for one, other in explained(e, made_of(dict([*sources.items()][:RECENT]), e.first.shape)):
            place = next(place for place, _ in enumerate(one) if one[place] != other[place])
            fault = ("source", "residual", "pooling", "activation")[place]
            said = [f"has {name} of {words}{more}{pool}" for words, more, pool, name in (one, other)]
            yield "softmax" if all("softmax" in it for it in said) else fault, e.both(said[0], said[1])


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


def log_softmax(x: Array, axis: int) -> Array:
    return np.log(softmax(x, axis))


def made_of(sources: Mapping[str, Array], shape: tuple[int, ...]) -> Iterator[tuple[tuple[str, ...], Array]]:
    """Yields what activations make of arrays, of sums and of gates, pooled where that gives `shape`."""
    newest = [words for words in sources if words.startswith("the output")][:2]
    for words, x in sources.items():
        functions = dict(ACTIVATIONS)
        for axis in range(x.ndim):
            functions[f"softmax over axis {axis}"] = partial(softmax, axis=axis)
            functions[f"log softmax over axis {axis}"] = partial(log_softmax, axis=axis)
        for name, f in functions.items():
            yield from (((words, "", pool, name), it) for pool, it in pooled(f(x), shape))
    for one, (other, y), (name, f) in product(newest, sources.items(), ACTIVATIONS.items()):
        x = sources[one]
        if one != other and x.shape == y.shape and any(True for _ in pooled(x, shape)):
            values = {
                " plus {}": f(x + y),
                " plus twice {}": f(x + 2 * y),
                ", plus {}": f(x) + y,
                ", times {}": f(x) * y,
            }
            for more, value in values.items():
                yield from (((one, more.format(other), pool, name), it) for pool, it in pooled(value, shape))


def pooled(x: Array, shape: tuple[int, ...]) -> Iterator[tuple[str, Array]]:
    """Yields the arrays of a shape that models make of a larger one: its mean, greatest, first or last over axes."""
    if x.size == math.prod(shape):
        yield "", x.reshape(shape)
    for over in (axes for count in (1, 2) for axes in combinations(range(x.ndim), count)):
        if x.size > math.prod(shape) and shape == tuple(size for i, size in enumerate(x.shape) if i not in over):
            yield from ((f", mean over {over}", x.mean(over)), (f", maximum over {over}", x.max(over)))
            yield from ((f", element {i} of {over}", np.take(x, i, over[0])) for i in (0, -1) if len(over) == 1)


SUSPICIONS = (multiple, addend, order_of_norms, dropout, axes, activation)  # the cheapest first
