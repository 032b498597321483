"""The calls of two models, ports of one another, that belong together; and whether what they return is the same."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suite.workloads.questions.ports.expressions import leaves_in

Array = NDArray[Any]
Arrays = list[tuple[Array, Array]]  # of the first model and of the port, in the first's layout
Layouts = dict[int, tuple[int, ...]]  # the order of the port's axes in the first's layout, by their number
# Relative Frobenius error, in float64. Libraries have constants in float32: attention's scale in flax.nnx is 6e-8 off.
TOLERANCE = 1e-6
FUSED = ("attention", "lstm", "gru", "rnn")  # modules with leaves that other models have in several


@dataclass(frozen=True, slots=True)
class Call:
    """A submodule's call; that of the model itself has an empty path."""

    path: str
    kind: str
    inputs: Sequence[Array]
    outputs: Mapping[str, Array]


@dataclass(frozen=True, slots=True)
class Trace:
    """A model's run in float64: its calls in the order in which they end, so that its own is the last; its leaves; and
    its running statistics after a step of training, if one was taken."""

    name: str
    calls: Sequence[Call]
    values: Mapping[str, Array]
    parameters: int
    flops: float | None = None
    after: Mapping[str, Array] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Pair:
    """The calls of either model that have the same leaves: one each, or several such as queries, keys and values."""

    paths: tuple[str, str]
    calls: tuple[list[Call], list[Call]]
    inputs: Arrays
    outputs: Arrays


def paired(first: Trace, port: Trace, weights: Mapping[str, str], layouts: Layouts) -> Iterator[Pair]:
    """Yields the calls of submodules that have the same leaves, in the first model's order."""
    groups: list[tuple[set[str], set[str]]] = []  # paths of submodules
    for leaf, expression in weights.items():
        group = ({owner(first, name) for name in leaves_in(expression, first.values)}, {owner(port, leaf)})
        for other in [it for it in groups if it[0] & group[0] or it[1] & group[1]]:
            groups.remove(other)
            group = (group[0] | other[0], group[1] | other[1])
        groups.append(group)
    found: list[tuple[list[Call], list[Call]]] = []
    for group in [it for it in groups if "" not in it[0] | it[1]]:
        ours, theirs = (
            [it for it in trace.calls if it.path in own] for trace, own in zip((first, port), group, strict=True)
        )
        for kind in {call.kind for call in ours} - {"other"}:  # an embedding, whose matrix may be another layer's too
            alike = [[call for call in side if call.kind == kind] for side in (ours, theirs)]
            if [len({call.path for call in side}) for side in alike] == [1, 1]:
                ours, theirs = alike
        counts = [len({call.path for call in side}) for side in (ours, theirs)]
        if counts == [1, 1] and len(ours) == len(theirs) and holds(first, ours[0]) == holds(port, theirs[0]):
            found += [([one], [other]) for one, other in zip(ours, theirs, strict=True)]
        elif max(counts) > 1 and counts == [len(ours), len(theirs)]:
            found.append((ours, theirs))
    place = {id(call): place for place, call in enumerate(first.calls)}
    for ours, theirs in sorted(found, key=lambda calls: place[id(calls[0][-1])]):
        inputs = lined_up(zip(ours[0].inputs, theirs[0].inputs, strict=False), layouts)
        path, its = ("+".join(call.path for call in side) for side in (ours, theirs))
        yield Pair((path, its), (ours, theirs), inputs, results(ours, theirs, layouts))


def owner(trace: Trace, leaf: str) -> str:
    """Returns the path of the submodule that has a leaf; of one that isn't called, as in attention, one around it.
    Empty where there is none but the model."""
    kinds = {call.path: call.kind for call in trace.calls}
    path = leaf.rpartition(".")[0]
    if path in kinds:
        return path
    while path := path.rpartition(".")[0]:
        if kinds.get(path) in FUSED:
            return path
    return ""


def holds(trace: Trace, call: Call) -> bool:
    """Whether a submodule calls others."""
    return any(other.path.startswith(f"{call.path}.") for other in trace.calls)


def results(first: Sequence[Call], port: Sequence[Call], layouts: Layouts) -> Arrays:
    """Returns what the calls of a pair return. Of several it is what the last returns; or, as for queries, keys and
    values that one call gives at once, what all return."""
    if len(first) == len(port) == 1:
        both = partners(first[0].outputs, port[0].outputs)
        return lined_up(both, layouts) or [(a, b) for a, b in both if a.size != b.size]
    sides = [[next(iter(call.outputs.values())) for call in side] for side in (first, port)]
    if sides[0][-1].size == sides[1][-1].size:
        return lined_up([(sides[0][-1], sides[1][-1])], layouts)
    a, b = (np.concatenate([it.reshape(*it.shape[:2], -1) for it in side], -1) for side in sides)
    same = lined_up([(np.sort(a), np.sort(b))], layouts)  # heads may be in another order, as their weights are
    return [(a, a)] if same and not differ(*same[0]) else lined_up([(a, b)], layouts)


def lined_up(arrays: Iterable[tuple[Array, Array]], layouts: Layouts) -> Arrays:
    return [(a, it) for a, b in arrays if (it := aligned(a, b, layouts)) is not None]


def partners(first: Mapping[str, Array], port: Mapping[str, Array]) -> Arrays:
    """Returns outputs by name, or, where no names are the same, in order."""
    if common := [name for name in first if name in port]:
        return [(first[name], port[name]) for name in common]
    return list(zip(first.values(), port.values(), strict=False))


def lacking(first: Mapping[str, Array], port: Mapping[str, Array]) -> list[str]:
    """Returns the first's outputs that the port hasn't."""
    return [name for name in first if name not in port] if {*first} & {*port} else [*first][len(port) :]


def differ(a: Array, b: Array) -> bool:
    return a.shape != b.shape or error(a, b) > TOLERANCE


def aligned(a: Array, b: Array, layouts: Layouts) -> Array | None:
    """Returns b in the layout of a; None if it can't be known. Where shapes allow several orders of axes, that one
    holds which made the first arrays of this rank equal."""
    if a.size != b.size:
        return None
    orders = [it for it in permutations(range(b.ndim)) if a.ndim != b.ndim or b.transpose(it).shape == a.shape]
    if layouts.get(b.ndim) in orders and a.ndim == b.ndim:
        orders = [layouts[b.ndim]]
    for order in orders:
        moved = b.transpose(order).reshape(a.shape)
        if not differ(a, moved):
            if a.ndim == b.ndim:
                layouts.setdefault(b.ndim, order)
            return moved
    if a.ndim == b.ndim and orders:
        return b.transpose(orders[0])
    shared = min(a.ndim, b.ndim) - 1  # else heads and their features may have an axis each
    return b.reshape(a.shape) if a.shape[:shared] == b.shape[:shared] else None


def error(a: Array, b: Array) -> float:
    """Returns the relative Frobenius error of b; places where both are NaN, or the same infinity, count as equal."""
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    off = np.linalg.norm(np.where(same, 0.0, np.where(same, 0.0, b) - np.where(same, 0.0, a)))
    size = max(np.linalg.norm(np.where(np.isfinite(it), it, 0.0)) for it in (a, b))
    return float(off / size) if 0 < off < np.inf else np.inf if off else 0.0  # it is NaN where only one of both is


def equal(a: Array, b: Array) -> bool:
    if a.shape != b.shape:
        return False
    few = slice(None, None, 1 + a.size // 1000)
    near = np.allclose(a.reshape(-1)[few], b.reshape(-1)[few], 1e-6, 1e-6 * np.abs(b).max(), equal_nan=True)
    return near and error(a, b) <= TOLERANCE
