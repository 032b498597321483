"""The layers of a model, found by the names of its leaves: which belong together, what each is there, and by which
words and numbers a layer is called."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

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
FUSED = re.compile(r"c_attn|[Ww]?qkv(?:_proj)?")
MATRICES = ("linear", "attention", "lstm", "gru", "oi", "io")  # the last two: of no known kind, but seen which way
WORDS = {
    word: means
    for means, words in {
        "": "fc dense linear lin conv norm ln bn gn embed embeddings embedding emb module model net to c",
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

    @property
    def is_pointwise(self) -> bool:
        """Whether it is a convolution over one element, which is a linear layer."""
        return self.kind == "conv" and all(
            len(leaf.shape) == 2 + leaf.shape.count(1) for (role, _, _), leaf in self.leaves if role == "weight"
        )

    def parts(self, role: str) -> dict[str, dict[str, Leaf]]:
        """Returns the leaves of a role: by sides, by parts."""
        found: dict[str, dict[str, Leaf]] = {}
        for (its, side, part), leaf in self.leaves:
            if its == role:
                found.setdefault(side, {})[part] = leaf
        return found


def layers(leaves: Sequence[Leaf], *, fused: bool) -> list[Layer]:
    """Returns a model's layers in its order; with `fused`, queries, keys and values of an attention are one layer."""
    cells = Counter(gate["path"] for leaf in leaves if (gate := CELLS[1].fullmatch(leaf.name)))
    found: dict[str, dict[Place, Leaf]] = {}
    for leaf in leaves:
        key, place = placed(leaf, cells)
        if place in found.get(key, {}):
            key, place = leaf.name, ("weight", "", "")  # such as `kernel` beside `weight`
        found.setdefault(key, {})[place] = leaf
    if fused:
        found = with_heads(found)
    known, made = oriented(found.values()), []
    for key, own in found.items():
        tokens = [token.lower() for token in TOKEN.findall(NORM.sub(".norm.", key))]
        words = frozenset(WORDS.get(token, token) for token in tokens if not token.isdigit()) - {""}
        numbers = tuple(int(token) for token in tokens if token.isdigit())
        made.append(Layer(tuple((place, known.get(leaf.name, leaf)) for place, leaf in own.items()), words, numbers))
    return ranked(made)


def ranked(layers: Sequence[Layer]) -> list[Layer]:
    """Returns layers whose numbers count from zero without gaps, whatever a framework begins with, or skips."""
    named = [[((it.words, it.kind, len(it.numbers), at), n) for at, n in enumerate(it.numbers)] for it in layers]
    ranks: dict[Any, dict[int, int]] = {}
    for place, number in sorted({each for its in named for each in its}, key=lambda each: each[1]):
        ranks.setdefault(place, {})[number] = len(ranks.get(place, ()))
    return [
        replace(layer, numbers=tuple(ranks[place][number] for place, number in its))
        for layer, its in zip(layers, named, strict=True)
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
    whole = {fused for fused, count in Counter(fused for fused, _ in {*named.values()}).items() if count == 3}
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
