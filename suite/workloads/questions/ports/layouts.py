"""How a leaf of one model is written in those of another, by the order that each framework gives to the axes of such a
layer."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, product
from math import prod
from string import ascii_uppercase

from suite.workloads.questions.ports.expressions import is_number
from suite.workloads.questions.ports.layers import MATRICES, PARTS, Layer, Leaf

AXES = "xyz" + ascii_uppercase


@dataclass(frozen=True, slots=True)
class Reading:
    """A way to read a leaf: the sizes of its axes (o: outputs, i: inputs, x, y, z: space), of which those that a
    framework splits by heads are one; and whether its space is upside down, in comparison with PyTorch's."""

    axes: dict[str, int]
    flipped: bool = False

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.axes.values())


def readings(leaf: Leaf, role: str, *, fused: bool, flat: bool = False) -> list[Reading]:
    """Returns all ways to read a leaf: which is right may be seen from the other model's. `fused` are queries, keys and
    values in one, which a framework may let alternate by heads: (inputs, heads, 3 · size) isn't read. `flat`: the other
    model has a linear layer for this convolution over one element."""
    shape, count, kind = leaf.shape, len(leaf.shape), leaf.kind
    kernel = re.split(r"[._]", leaf.name)[-1] in ("kernel", "w")
    space = AXES[: max(count - 2, 0)]

    def read(axes: str, *sizes: int, flipped: bool = False) -> Reading:
        return Reading(dict(zip(axes, sizes or shape, strict=True)), flipped)

    if role in ("bias", "mean", "var"):
        by_heads = count == 3 and shape[0] == 3 != shape[1]
        return [] if fused and count > 1 and not by_heads else [read("o", prod(shape))]
    if kind in ("oi", "io"):
        return [read(kind)]
    channels = shape[-2:] if kernel else shape[:2]
    if flat and kind == "conv" and len(channels) == 2 and prod(channels) == prod(shape):
        return [read("io" if kernel else "oi", *channels)]
    if kernel and count > 1 and (kind in MATRICES or role in ("i", "h")):
        by_heads = count == 4 and shape[1] == 3 != shape[2]
        splits = range(1, count) if not fused or count == 2 else range(1, 1 + by_heads)
        return [read("io", prod(shape[:split]), prod(shape[split:])) for split in splits]
    if kind == "conv_transpose" and 2 < count < 6:  # of PyTorch, or Equinox; of Flax without, or with transpose_kernel
        axes, turned = (space + "oi", space + "io") if kernel else ("io" + space, "oi" + space)
        return [read(axes), read(turned, flipped=True)]
    matrix = kind == "other" and (kernel or leaf.name.endswith("weight"))
    if 1 < count < 6 and (matrix or kind in ("conv", "embedding", *MATRICES)):
        first, last = read("oi" + space), read(space + "io")
        return [first, last] if matrix else [last if kernel and kind == "conv" else first]
    sizes = [size for size in shape if size != 1]
    return [Reading(dict(zip("i" if len(sizes) == 1 < count else "oi" + AXES, sizes, strict=False)))]


def between(first: Layer, port: Layer) -> dict[str, set[str]]:
    """Returns the expressions that each leaf of a port's layer may have in the leaves of a layer of the first model:
    none where shapes don't fit, several where these don't tell."""
    found: dict[str, set[str]] = {}
    for (role, side, part), leaf in port.leaves:
        sources, targets = first.parts(role), port.parts(role)
        # Terms of a sum that the port doesn't have apart belong to its last one. A term that only it has is zero.
        has = [each for each, parts in targets.items() if part in parts]
        terms = [each for each in sources if each == side or (each not in has and side == has[-1])]
        if "gru" in (first.kind, port.kind) and part in ("", "n") and len(terms) != 1:
            sources = {}  # its new gate keeps its two biases apart
        parts = {each: it for its in targets.values() for each, it in its.items()} | {part: leaf}
        sums = product(*(texts(sources[each], parts, part, role, first, port) for each in terms or sources if sources))
        found[leaf.name] = {("" if terms else "0 * ") + " + ".join(each) for each in sums if each}
    return found


def texts(
    sources: Mapping[str, Leaf], parts: Mapping[str, Leaf], part: str, role: str, first: Layer, port: Layer
) -> set[str]:
    """Returns the expressions of one of the `parts` that the port has of a leaf, in the first's."""
    window, target = (0, 0), parts[part]
    order = sorted(parts, key=PARTS.find)
    if part in sources:
        chosen = [sources[part]]
    elif "" in sources:
        ends = [0, *accumulate(prod(parts[each].shape) for each in order)]
        chosen, window = [sources[""]], (ends[order.index(part)], ends[order.index(part) + 1])
        if ends[-1] != prod(sources[""].shape):
            return set()
    else:
        chosen = [sources[each] for each in sorted(sources, key=PARTS.find)] if not part else []
    if not chosen or any(leaf.trained != target.trained for leaf in chosen):
        return set()
    flat = any(leaf.kind in MATRICES for leaf in (*chosen, target))
    fused = "" in sources and "qkv" in first.words
    ways = product(*(readings(leaf, role, fused=fused, flat=flat) for leaf in chosen))
    wanted = readings(target, role, fused=not part and "qkv" in port.words, flat=flat)
    return {text(chosen, way, window, target, each) for way, each in product(ways, wanted)} - {""}


def text(
    chosen: Sequence[Leaf], read: Sequence[Reading], window: tuple[int, int], target: Leaf, wanted: Reading
) -> str:
    """Returns the expression of a leaf, read as `wanted`: of `chosen` leaves side by side, or of a `window` of one, in
    elements; empty where that doesn't fit."""
    axes, flipped = dict(read[0].axes), read[0].flipped
    order, outputs = list(axes), [*axes].index("o") if "o" in axes else 0
    names = [repr(leaf.name) if is_number(leaf.name) else leaf.name for leaf in chosen]
    same = (order, flipped) == (list(wanted.axes), wanted.flipped) and len(names) == 1 and window == (0, 0)
    if same and axes == wanted.axes:
        return names[0] + reshaped(chosen[0].shape, target.shape)
    if any([*each.axes] != order or each.axes | {"o": 0} != axes | {"o": 0} for each in read):
        return ""
    names = [name + reshaped(leaf.shape, each.shape) for name, leaf, each in zip(names, chosen, read, strict=True)]
    found = names[0]
    if len(names) > 1:
        axes["o"] = sum(each.axes["o"] for each in read)
        found = f"concatenate({', '.join(names)}{f', axis={outputs}' if outputs else ''})"
    if window[1]:
        start, stop = (end * axes["o"] // prod(axes.values()) for end in window)
        axes["o"] = stop - start
        found += f"[{':, ' * outputs}{start}:{stop}]"
    if axes != wanted.axes:
        return ""
    if flipped != wanted.flipped and any(axes[axis] > 1 for axis in order if axis in "xyz"):
        found += f"[{', '.join('::-1' if axis in 'xyz' else ':' for axis in order)}]"
    turned = [order.index(axis) for axis in wanted.axes]
    if turned != sorted(turned):
        found += ".T" if len(turned) == 2 else f".transpose({', '.join(map(str, turned))})"
    return found + reshaped(wanted.shape, target.shape)


def reshaped(shape: tuple[int, ...], to: tuple[int, ...]) -> str:
    return "" if shape == to else f".reshape({', '.join(map(str, to))})"
