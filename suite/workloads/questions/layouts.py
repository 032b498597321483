"""The layers of a model, found by the names of its leaves; and how a leaf of one model is written in those of another,
by the order that each framework gives to the axes of such a layer."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, product
from math import prod
from typing import Any

from suite.workloads.questions.expressions import is_number

Place = tuple[str, str, str]  # role, side of a recurrent cell (i: input, h: hidden state), and part of a fused leaf
ROLES = {
    **dict.fromkeys(("weight", "kernel", "w", "scale", "gamma", "embedding"), "weight"),
    **dict.fromkeys(("bias", "beta", "offset", "b"), "bias"),
    **dict.fromkeys(("running_mean", "moving_mean", "mean"), "mean"),
    **dict.fromkeys(("running_var", "moving_variance", "variance", "var"), "var"),
}
ROLE = re.compile(rf"(?:(?P<rest>.*?)_)??(?P<role>{'|'.join(ROLES)})")
PATH = r"(?:(?P<path>.*)\.)?"
CELLS = (  # PyTorch and Equinox; Flax, a leaf for each gate; Flax nnx, all gates in one
    re.compile(PATH + r"(?P<role>weight|bias)_(?P<side>[ih])h(?P<layer>(?:_l\d+)?(?:_reverse)?)(?P<part>)"),
    re.compile(PATH + r"(?P<side>[ih])(?P<part>[ifgorzn])_?\.(?P<role>kernel|bias)(?P<layer>)"),
    re.compile(PATH + r"dense_(?P<side>[ih])\.(?P<role>kernel|bias)(?P<layer>)(?P<part>)"),
)
PARTS = "qkvifgorzn"  # in the order in which they are fused
HEADS = re.compile(r"(?<![A-Za-z])[Ww]?(q|k|v|query|key|value)(?![A-Za-z])(?:_proj)?")
FUSED = re.compile(r"in_proj|c_attn|[Ww]?qkv(?:_proj)?")
MATRICES = ("linear", "attention", "lstm", "gru", "oi", "io")
WORDS = {
    word: means
    for means, words in {
        "": "fc dense linear lin conv norm ln bn gn embed embeddings embedding emb module params stats model net to c",
        "q": "query", "k": "key", "v": "value", "attn": "attention mha", "out": "output o wo", "token": "tok word wte",
        "pos": "position positional positions wpe", "block": "layer layers blocks h", "mlp": "feedforward ffn ff",
        "proj": "projection downsample shortcut", "head": "classifier logits",
    }.items()
    for word in words.split()
}  # fmt: skip
NORM = re.compile(r"(?i)(layer|batch|group|instance|rms)_?norm(alization)?|(?<=[a-z])[123]d(?![a-z])")
TOKEN = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


@dataclass(frozen=True, slots=True)
class Leaf:
    """A parameter or, not `trained`, a buffer of a model. `kind` is of the module that owns it: linear, conv,
    conv_transpose, embedding, layer_norm, batch_norm, group_norm, lstm, gru, attention, other."""

    name: str
    shape: tuple[int, ...]
    kind: str
    trained: bool = True


@dataclass(frozen=True, slots=True)
class Layer:
    """Leaves that belong together: weight and bias of a layer; of a recurrent cell, or of queries, keys and values, all
    of them, whether fused or not. Of its name it has the words and the numbers."""

    leaves: tuple[tuple[Place, Leaf], ...]
    words: frozenset[str]
    numbers: tuple[int, ...] = ()

    @property
    def main(self) -> str:
        """The role by which it is known."""
        return min((role for (role, _, _), _ in self.leaves), key=("i", "weight", "h", "bias", "mean", "var").index)

    @property
    def size(self) -> int:
        return sum(prod(leaf.shape) for (role, _, _), leaf in self.leaves if role == self.main)

    @property
    def kind(self) -> str:
        return self.leaves[0][1].kind

    def parts(self, role: str) -> dict[str, dict[str, Leaf]]:
        """Returns the leaves of a role: by sides, by parts."""
        found: dict[str, dict[str, Leaf]] = {}
        for (its, side, part), leaf in self.leaves:
            if its == role:
                found.setdefault(side, {})[part] = leaf
        return found


def layers(leaves: Iterable[Leaf], *, fused: bool) -> list[Layer]:
    """Returns a model's layers in its order; with `fused`, queries, keys and values of an attention are one layer."""
    leaves = list(leaves)
    cells = Counter(gate["path"] for leaf in leaves if (gate := CELLS[1].fullmatch(leaf.name)))
    found: dict[str, dict[Place, Leaf]] = {}
    for leaf in leaves:
        key, place = placed(leaf, cells)
        found.setdefault(key, {})[place] = leaf
    if fused:
        found = with_heads(found)
    known, made = oriented(found.values()), []
    for key, own in found.items():
        tokens = [token.lower() for token in TOKEN.findall(NORM.sub(".norm.", key))]
        words = {WORDS.get(token, token) for token in tokens if not token.isdigit()} - {""}
        numbers = tuple(int(token) for token in tokens if token.isdigit())
        made.append(
            Layer(tuple((place, known.get(it.name, it)) for place, it in own.items()), frozenset(words), numbers)
        )
    return ranked(made)


def ranked(layers: Sequence[Layer]) -> list[Layer]:
    """Returns layers whose numbers count from zero without gaps, whatever a framework begins with, or skips."""
    seen: dict[Any, set[int]] = {}
    keys = [[(it.words, it.kind, len(it.numbers), place) for place in range(len(it.numbers))] for it in layers]
    for layer, places in zip(layers, keys, strict=True):
        for place, number in zip(places, layer.numbers, strict=True):
            seen.setdefault(place, set()).add(number)
    ranks = {place: {number: rank for rank, number in enumerate(sorted(numbers))} for place, numbers in seen.items()}
    return [
        replace(layer, numbers=tuple(ranks[place][number] for place, number in zip(places, layer.numbers, strict=True)))
        for layer, places in zip(layers, keys, strict=True)
    ]


def placed(leaf: Leaf, cells: Mapping[str | None, int]) -> tuple[str, Place]:
    """Returns the name of a leaf's layer, and the leaf's place in it. `cells` says how many leaves are named like
    Flax's gates in a module: a cell has at least six."""
    for pattern in CELLS:
        if (found := pattern.fullmatch(leaf.name)) and (not found["part"] or cells[found["path"]] >= 6):
            side, role = found["side"], "bias" if found["role"] == "bias" else found["side"]
            return f"{found['path'] or ''}{found['layer']}", (role, side if role == "bias" else "", found["part"])
    path, _, last = re.sub(r"^(params|batch_stats)\.", "", leaf.name).rpartition(".")
    named = ROLE.fullmatch(last)
    rest, role = (named["rest"], ROLES[named["role"]]) if named else (last, "weight")
    if leaf.kind == "attention" and rest == "in_proj":
        rest = "qkv"  # of nn.MultiheadAttention; other layers are called so too
    return FUSED.sub("qkv", ".".join(filter(None, (path, rest)))), (role, "", "")


def with_heads(found: Mapping[str, dict[Place, Leaf]]) -> dict[str, dict[Place, Leaf]]:
    """Returns layers in which queries, keys and values that stand side by side are one."""
    named: dict[str, tuple[str, str]] = {}
    for key in found:
        path, dot, last = key.rpartition(".")
        if len(parts := HEADS.findall(last)) == 1:
            named[key] = path + dot + HEADS.sub("qkv", last), parts[0][0]
    whole = {fused for fused, count in Counter(fused for fused, _ in named.values()).items() if count == 3}
    joined: dict[str, dict[Place, Leaf]] = {}
    for key, leaves in found.items():
        fused, part = named.get(key, (key, ""))
        if fused not in whole:
            fused, part = key, ""
        joined.setdefault(fused, {}).update(
            {(role, side, each or part): leaf for (role, side, each), leaf in leaves.items()}
        )
    return joined


def oriented(layers: Iterable[Mapping[Place, Leaf]]) -> dict[str, Leaf]:
    """Returns the matrices of layers of no known kind whose bias tells which axis is the outputs, with that in place of
    the kind. A square one is like the model's others, if these are all alike."""
    known: dict[str, Leaf] = {}
    square: list[Leaf] = []
    for leaves in layers:
        for (role, side, part), leaf in leaves.items():
            bias = leaves.get(("bias", side, part))
            if leaf.kind != "other" or role != "weight" or len(leaf.shape) != 2 or bias is None:
                continue
            rows, columns = leaf.shape
            if rows == columns:
                square.append(leaf)
            elif bias.shape in ((rows,), (columns,)):
                known[leaf.name] = replace(leaf, kind="oi" if bias.shape == (rows,) else "io")
    kinds = {leaf.kind for leaf in known.values()}
    return known | {leaf.name: replace(leaf, kind=kind) for leaf in square for kind in kinds if len(kinds) == 1}


@dataclass(frozen=True, slots=True)
class Reading:
    """A way to read a leaf: the sizes of its axes (o: outputs, i: inputs, x, y, z: space), of which those that a
    framework splits by heads are one; and whether its space is upside down, in comparison with PyTorch's."""

    axes: dict[str, int]
    flipped: bool = False

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.axes.values())


def readings(leaf: Leaf, role: str, *, fused: bool) -> list[Reading]:
    """Returns all ways to read a leaf: which is right may be seen from the other model's. `fused` are queries, keys and
    values in one, which a framework may let alternate by heads: (inputs, heads, 3 · size) isn't read."""
    shape, count, kind = leaf.shape, len(leaf.shape), leaf.kind
    kernel = re.split(r"[._]", leaf.name)[-1] in ("kernel", "w")
    space = "xyz"[: count - 2] if count > 2 else ""

    def read(axes: str, *sizes: int, flipped: bool = False) -> Reading:
        return Reading(dict(zip(axes, sizes or shape, strict=True)), flipped)

    if role in ("bias", "mean", "var"):
        by_heads = count == 3 and shape[0] == 3 != shape[1]
        return [] if fused and count > 1 and not by_heads else [read("o", prod(shape))]
    if kind in ("oi", "io"):
        return [read(kind)]
    if kernel and count > 1 and (kind in MATRICES or role in ("i", "h")):
        by_heads = count == 4 and shape[1] == 3 != shape[2]
        splits = range(1, count) if not fused or count == 2 else range(1, 1 + by_heads)
        return [read("io", prod(shape[:split]), prod(shape[split:])) for split in splits]
    if kind == "conv_transpose":  # of PyTorch, or Equinox; of Flax without, or with transpose_kernel
        axes, turned = (space + "oi", space + "io") if kernel else ("io" + space, "oi" + space)
        return [read(axes), read(turned, flipped=True)]
    matrix = kind == "other" and count > 1 and (kernel or leaf.name.endswith("weight"))
    if matrix or kind in ("conv", "embedding", *MATRICES):
        first, last = read(("oi" + space)[:count]), read((space + "io")[-count:])
        return [first, last] if matrix else [last if kernel and kind == "conv" else first]
    sizes = [size for size in shape if size != 1]
    return [read("i" if len(sizes) == 1 < count else "oixyzuvw"[: len(sizes)], *sizes)] if sizes else [Reading({})]


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
    ways = product(*(readings(leaf, role, fused="" in sources and "qkv" in first.words) for leaf in chosen))
    wanted = readings(target, role, fused=not part and "qkv" in port.words)
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
