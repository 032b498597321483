"""What two layers that differ have computed, found by computing it again in each of the forms that are in use."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import permutations, product

import numpy as np

from suite.workloads.questions.ports.pairing import TOLERANCE, Array, equal
from suite.workloads.questions.ports.suspicions import Evidence, Found, along, explained, is_shift, share, softmax


def axes(e: Evidence) -> Iterator[Found]:
    """The same numbers in another order: axes exchanged, flattened in another order, heads split otherwise."""
    if e.first.size != e.port.size or not math.isclose(
        *(np.vdot(it, it) for it in (e.first, e.port)), rel_tol=TOLERANCE
    ):
        return
    width = e.first.shape[-1]
    shapes = [it.shape for it in e.sources.values() if it.size == e.first.size and it.ndim < 6]
    shapes += [(*e.first.shape[:-1], heads, width // heads) for heads in divisors(width)[1:-1] if e.first.ndim < 4]
    for shape in dict.fromkeys([e.first.shape, *shapes]):
        for order, side in product([*permutations(range(len(shape)))][1:], (1, 0)):
            one, other = (e.first, e.port)[:: 1 if side else -1]
            moved = one.reshape(shape).transpose(order)
            if np.allclose(moved.flat[:64], other.flat[:64]) and equal(moved.reshape(other.shape), other):
                yield "order of axes", f"{e.names[side]} has the axes {shape} of it in the order {order}"


def divisors(number: int) -> list[int]:
    return [it for it in range(1, number + 1) if number % it == 0]


def transposed(e: Evidence) -> Iterator[Found]:
    """A square matrix in place of its transpose."""
    for name, matrix in e.leaves.items():
        if e.x is not None and matrix.ndim == 2 and len({*matrix.shape, e.x.shape[-1]}) == 1:
            changed = e.x @ (matrix.T - matrix)
            if any(equal(changed * sign, e.port - e.first) for sign in (1, -1)):
                yield "transposed weights", f"{e.names[1]} uses {name} as its transpose"


def norms(e: Evidence) -> Iterator[Found]:
    """The statistics that two norms divide by, and their epsilons."""
    ways = [e.x is not None and e.x.shape == it.shape and norm_of(e.x, e.leaves, it) for it in (e.first, e.port)]
    if ways[0] and ways[1]:
        (one, small), (other, port_small) = ways[0], ways[1]
        if one == other:
            yield "epsilon", e.both(f"has the epsilon {small:.3g}", f"{port_small:.3g}")
        else:
            yield "batch statistics" if RUNNING in (one, other) else "norm", e.both(f"norms by {one}", f"by {other}")


RUNNING = "the running statistics"


def norm_of(x: Array, leaves: Mapping[str, Array], target: Array) -> tuple[str, float] | None:
    """Returns the statistics and the epsilon by which a norm with these leaves makes `target`; None if none does."""
    size = max((it.size for it in leaves.values()), default=x.shape[-1])
    for axis in [axis for axis in (-1, 1) if x.ndim > 1 and x.shape[axis] == size]:
        held = {name: along(it, axis, x.ndim) for name, it in leaves.items() if it.size == size}
        shift = next((it for name, it in held.items() if is_shift(name)), 0)
        scale = next((it for name, it in held.items() if not is_shift(name) and not is_running(name)), 1)
        for (words, mean, variance), factor in product(statistics(x, axis, held), (scale, 1 + scale)):
            squares = ((target - shift) / factor) ** 2  # (x - mean)² = (variance + epsilon) · squares
            epsilon = share(squares, (x - mean) ** 2 - variance * squares)
            if equal((x - mean) / np.sqrt(variance + epsilon) * factor + shift, target):
                return words + " and 1 + scale" * (factor is not scale), epsilon
    return None


def is_running(name: str) -> bool:
    return any(word in name.rpartition(".")[2] for word in ("mean", "var"))


def statistics(x: Array, axis: int, held: Mapping[str, Array]) -> Iterator[tuple[str, Array, Array]]:
    """Yields what norms take for mean and variance; `axis` is that of the channels."""
    running = [
        next((it for name, it in held.items() if word in name.rpartition(".")[2]), None) for word in ("mean", "var")
    ]
    if running[0] is not None and running[1] is not None:
        yield RUNNING, running[0], running[1]
    others = tuple(each for each in range(x.ndim) if each != axis % x.ndim)
    for words, over in (("each position's statistics", axis), ("the batch's own statistics", others)):
        yield words, x.mean(over, keepdims=True), x.var(over, keepdims=True)
    yield "the root mean square", np.zeros(1), (x**2).mean(axis, keepdims=True)
    first = np.moveaxis(x, axis, 1)
    for groups in divisors(first.shape[1]):
        parts = first.reshape(len(x), groups, -1)
        both = [np.broadcast_to(it(-1, keepdims=True), parts.shape) for it in (parts.mean, parts.var)]
        mean, variance = (np.moveaxis(it.reshape(first.shape), 1, axis) for it in both)
        yield f"the statistics of {groups} groups", mean, variance


def momentum(x: Array, before: Array, after: Array) -> str:
    """Returns how a batch norm has moved a running statistic; empty if it is none of the usual ways."""
    for axis in [axis for axis in (1, -1) if x.shape[axis] == before.size]:
        over = tuple(each for each in range(x.ndim) if each != axis % x.ndim)
        ways = {"mean": x.mean(over), "variance": x.var(over), "variance by n - 1": x.var(over, ddof=1)}
        for words, batch in ways.items():
            step = share(batch - before, after - before)
            if equal(after, before + step * (batch - before)):
                return f"takes {step:.3g} of the batch's {words}"
    return ""


SCALES: dict[str, Callable[[int, int], float]] = {
    "1/sqrt(d)": lambda d, width: d**-0.5,
    "1": lambda d, width: 1.0,
    "1/sqrt(d) twice": lambda d, width: 1 / d,
    "1/sqrt(heads · d)": lambda d, width: width**-0.5,
}
SPLITS = ("(heads, d)", "(d, heads)", "(heads, positions, d)", "(heads, d), but joined as (heads, positions, d)")
SOFTMAX = {"keys": -1, "queries": -2, "heads": 1}
MASKS = ("no mask", "a causal mask")
HEADS_MAX = 64
Form = tuple[str, str, str, str, str, int]
FORMS = ("{}", "scores times {}", "a softmax over {}", "features split as {}", "q, k, v from {}", "{} heads")
FAULTS = ("mask", "factor", "softmax", "order of axes", "order of axes", "heads")


def attention(e: Evidence) -> Iterator[Found]:
    """How two models attend, from the same queries, keys and values: of shape (batch, position, feature), or (position,
    batch, feature)."""
    if e.first.ndim < 3 or e.kind not in ("linear", "attention", "other") or (e.x is not None and e.x.ndim != 3):
        return
    for order in ((0, 1, 2), (1, 0, 2)):
        flat = [it.reshape(*it.shape[:2], -1).transpose(order) for it in (e.first, e.port)]
        sources = {words: it for words, it in e.sources.items() if it.ndim > 2 and words.startswith("the output")}
        sources = {words: it.reshape(*it.shape[:2], -1).transpose(order) for words, it in sources.items()}
        it = replace(e, first=flat[0], port=flat[1], sources=sources, x=None if e.x is None else e.x.transpose(order))
        inputs = dict(projections(it))
        few = replace(it, first=it.first[:1], port=it.port[:1])
        tried = ((form, attend(inputs[form[4]][:, :1], form, e.leaves)) for form in forms(inputs, it.first.shape[-1]))
        for ways in explained(few, tried):
            if all(equal(attend(inputs[form[4]], form, e.leaves), each) for form, each in zip(ways, flat, strict=True)):
                place = next(place for place, _ in enumerate(FORMS) if ways[0][place] != ways[1][place])
                one, other = (FORMS[place].format(form[place]) for form in ways)
                yield FAULTS[place], e.both(f"attends with {one}", f"with {other}")


def projections(e: Evidence) -> Iterator[tuple[str, Array]]:
    """Yields queries, keys and values as one array of three, by what they are taken from."""
    width = e.first.shape[-1]
    joined = [it for it in e.sources.values() if it.shape[-1] == 3 * width][:1]
    if e.x is not None:
        joined = [linear(e.x, e.leaves, "in_proj_")] if any("in_proj_weight" in name for name in e.leaves) else []
    for it in joined:
        yield "thirds", np.stack(np.split(it, 3, axis=-1))
        for heads in divisors(width)[1:]:
            apart = np.moveaxis(it.reshape(*it.shape[:2], heads, 3, -1), 3, 0)
            yield f"thirds of each of {heads} heads", apart.reshape(3, *it.shape[:2], width)
    three = [it for it in e.sources.values() if it.shape == e.first.shape][2::-1]  # the oldest first
    if e.x is None and len(three) == 3:
        yield "three layers", np.stack(three)


def linear(x: Array, leaves: Mapping[str, Array], name: str) -> Array:
    """Returns what the linear layer of that name gives; x if there is none."""
    found = {leaf.rpartition(name)[2]: it for leaf, it in leaves.items() if name in leaf}
    return np.asarray(x @ found["weight"].T + found.get("bias", 0)) if found else x


def forms(inputs: Mapping[str, Array], width: int) -> Iterator[Form]:
    """Yields the usual ways to attend, and those that depart from them in one respect."""
    for origin, heads, mask in product(inputs, [it for it in divisors(width) if it <= HEADS_MAX], MASKS):
        yield from ((mask, scale, "keys", SPLITS[0], origin, heads) for scale in SCALES)
        yield from ((mask, "1/sqrt(d)", over, SPLITS[0], origin, heads) for over in [*SOFTMAX][1:])
        yield from ((mask, "1/sqrt(d)", "keys", split, origin, heads) for split in SPLITS[1:])


def attend(qkv: Array, form: Form, leaves: Mapping[str, Array]) -> Array:
    """Returns what attention gives, projected where that is a part of the module."""
    mask, scale, over, split, _, heads = form
    three, batch, length, width = qkv.shape
    d = width // heads
    if split == SPLITS[2]:
        q, k, v = qkv.reshape(three, batch, heads, length, d)
    elif split == SPLITS[1]:
        q, k, v = np.moveaxis(qkv.reshape(three, batch, length, d, heads), -1, 2)
    else:
        q, k, v = np.moveaxis(qkv.reshape(three, batch, length, heads, d), -2, 2)
    seen = np.tri(length) > MASKS.index(mask) - 1  # all, or those that aren't later
    scores = np.where(seen, q @ k.swapaxes(-1, -2) * SCALES[scale](d, width), -np.inf)
    result = softmax(scores, SOFTMAX[over]) @ v
    result = result if split == SPLITS[3] else result.swapaxes(1, 2)
    return linear(result.reshape(batch, length, width), leaves, "out_proj.")


RECOMPUTED = (axes, transposed, norms, attention)
