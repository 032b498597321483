"""Matches the weights of a port with the first model's, by names, shapes and order; never by values. What two ways fit
equally well is left to the file's WEIGHTS."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import lru_cache
from heapq import nlargest
from itertools import combinations, starmap
from math import prod

from suite.errors import UserError
from suite.workloads.questions.ports.expressions import FORMS, leaves_in, shape_of, unknown_leaf
from suite.workloads.questions.ports.layers import MATRICES, Layer, Leaf, layers
from suite.workloads.questions.ports.layouts import between

APART = frozenset("qkv")  # the words of queries, keys and values
Described = tuple[Leaf, str, Layer]  # with its role, and the layer that it is of
Words = tuple[frozenset[str], frozenset[str]]  # of a layer's name in each model
Pair = tuple[Layer, Layer]  # of each model


@dataclass(frozen=True, slots=True)
class Unmatched:
    """A leaf of the first model, or of the port, without a partner; and the likeliest three in the other model."""

    leaf: str
    of_port: bool
    partners: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Matched:
    """An expression in the first model's leaves for each leaf of the port, and what is left over."""

    weights: dict[str, str]
    unmatched: list[Unmatched]


def match(first: Sequence[Leaf], port: Sequence[Leaf], written: Mapping[str, str] | None = None) -> Matched:
    """Returns the port's leaves in terms of the first model's. Both are in order of definition, or of execution.
    `written` are expressions that a person has given. Raises UserError for one of these that isn't an expression of its
    leaf's shape."""
    weights = checked(written or {}, first, port)
    shapes = {leaf.name: leaf.shape for leaf in first}
    given = [(each, name) for name, expression in weights.items() for each in leaves_in(expression, shapes)]
    ours_left, theirs_left = list(first), list(port)
    # What isn't matched as one layer, may be as queries, keys and values apart; or a convolution as a linear layer.
    for fused, loose in ((True, False), (False, False), (False, True)):
        ours, theirs = (layers(left, fused=fused) for left in (ours_left, theirs_left))
        pairs = list(paired(ours, theirs, given, fused=fused, loose=loose))
        found = {name: texts for pair in pairs for name, texts in between(*pair).items() if len(texts) == 1}
        weights = {name: min(texts) for name, texts in found.items()} | weights
        done = [{leaf.name for pair in pairs for _, leaf in pair[side].leaves} for side in (0, 1)]
        ours_left = [leaf for leaf in ours_left if leaf.name not in done[0]]
        theirs_left = [leaf for leaf in theirs_left if leaf.name not in done[1]]
    weights = tied(first, ours_left, theirs_left) | weights
    used = {each for expression in weights.values() for each in leaves_in(expression, shapes)}
    our, their = described(first), described(port)
    left = [Unmatched(it, of_port=False, partners=partners(our[it], their)) for it in our if it not in used]
    left += [Unmatched(it, of_port=True, partners=partners(their[it], our)) for it in their if it not in weights]
    return Matched({leaf.name: weights[leaf.name] for leaf in port if leaf.name in weights}, left)


def checked(written: Mapping[str, str], first: Sequence[Leaf], port: Sequence[Leaf]) -> dict[str, str]:
    shapes = {leaf.name: leaf.shape for leaf in port}
    for name, expression in written.items():
        if name not in shapes:
            raise unknown_leaf(name, name, shapes, "the port")
        shape = shape_of(expression, {leaf.name: leaf.shape for leaf in first})
        if shape != shapes[name]:
            fitting = alone(expression, first, name, port)
            raise UserError(
                f"WEIGHTS: {name} is {shapes[name]} in the port, but `{expression}` is {shape}. "
                + (f"This fits: {fitting}" if fitting else f"The forms of an expression are {FORMS}.")
            )
    return dict(written)


def alone(one: str, first: Sequence[Leaf], other: str, port: Sequence[Leaf]) -> str:
    """Returns the expression of a leaf of the port in one of the first model; empty if there is none, or several."""
    ours, theirs = described(first), described(port)
    if one not in ours:
        return ""
    role = theirs[other][1]
    pair = [Layer((((role, "", ""), of[name][0]),), frozenset()) for of, name in ((ours, one), (theirs, other))]
    fitting = between(pair[0], pair[1])[other]
    return min(fitting) if len(fitting) == 1 else ""


def paired(
    first: Sequence[Layer], port: Sequence[Layer], given: Sequence[tuple[str, str]], *, fused: bool, loose: bool
) -> Iterator[Pair]:
    """Yields the layers of two models that belong together; first those of `given` pairs of leaves. With `fused`, one
    that is called queries, keys and values has a partner that is, too. `loose`: see `fits`."""
    of_first, of_port = ({leaf.name: layer for layer in model for _, leaf in layer.leaves} for model in (first, port))
    known = [(of_first[one], of_port[other]) for one, other in given if one in of_first and other in of_port]
    fixed = {theirs: ours for ours, theirs in known if fits(form(ours), form(theirs), loose=True)}
    yield from ((ours, theirs) for theirs, ours in fixed.items())
    rest = [layer for layer in first if layer not in fixed.values()]
    forms = [form(layer) for layer in rest]
    theirs = [layer for layer in port if layer not in fixed]
    groups: list[tuple[set[int], set[int]]] = []  # places of layers that may belong together, by kinds and shapes
    for place, layer in enumerate(theirs):
        like = form(layer)
        near = [at for at, other in enumerate(forms) if not (fused and "qkv" in other.words ^ like.words)]
        group = ({at for at in near if fits(forms[at], like, loose=loose)}, {place})
        for other in [each for each in groups if each[0] & group[0]]:
            groups.remove(other)
            group = (group[0] | other[0], group[1] | other[1])
        groups.append(group)
    words = {(one.words, other.words) for other, one in fixed.items()}
    for our, its in groups:
        yield from decided([rest[at] for at in sorted(our)], [theirs[at] for at in sorted(its)], words, loose=loose)


def form(layer: Layer) -> Layer:
    """Returns what there is of a layer without its name: it fits what others of its form fit."""
    leaves = ((place, leaf, f"{each}.{leaf.name.split('.')[-1]}") for each, (place, leaf) in enumerate(layer.leaves))
    return Layer(
        tuple((place, replace(leaf, name=name)) for place, leaf, name in leaves), layer.words & {*APART, "qkv"}
    )


@lru_cache(maxsize=4096)
def fits(first: Layer, port: Layer, *, loose: bool = False) -> bool:
    """Whether a port's layer may be the first model's, by kinds and shapes; of both, the forms. If `loose`, a linear
    layer may be a convolution over one element."""
    kinds = {"linear" if loose and layer.is_pointwise else layer.kind for layer in (first, port)} - {"other"}
    if (first.main, first.size) != (port.main, port.size) or (len(kinds) > 1 and not kinds <= {*MATRICES}):
        return False
    if (first.words >= APART) != (port.words >= APART):
        return False  # `query_key_value`: in most models these alternate by heads
    apart = ["q" in layer.parts("weight").get("", ()) for layer in (first, port)]
    if apart[0] != apart[1] and "qkv" not in first.words & port.words:
        return False
    found, roles = between(first, port), {role for (role, _, _), _ in first.leaves}
    return all(found[leaf.name] for (role, _, _), leaf in port.leaves if role in roles)


def decided(first: Sequence[Layer], port: Sequence[Layer], known: Collection[Words], *, loose: bool) -> Iterator[Pair]:
    """Yields which of the layers that fit one another belong together. Layers whose names have the same words are
    alike, but for their number; so they are matched in order, once it is seen which words mean the same."""
    ours, theirs = (
        {it.words: [its for its in model if its.words == it.words] for it in model} for model in (first, port)
    )
    common = [frozenset.intersection(*groups) if groups else frozenset() for groups in (ours, theirs)]
    several = min(len(ours), len(theirs)) > 1
    for one, other in [(one, other) for one in ours for other in theirs]:
        same = several and one - common[0] == other - common[1]
        if (same or (one, other) in known) and one in ours and other in theirs and len(ours[one]) == len(theirs[other]):
            yield from in_order(ours.pop(one), theirs.pop(other), loose=loose)
    if sum(map(len, ours.values())) != sum(map(len, theirs.values())):  # one model has more: order alone can't tell
        near = {one: [other for other in theirs if alike(one, other) > 0.5] for one in ours}
        for one, others in near.items():
            if len(others) == 1 and sum(others[0] in each for each in near.values()) == 1:
                yield from in_order(ours.pop(one), theirs.pop(others[0]), loose=loose)
    left = [it for it in first if it.words in ours], [it for it in port if it.words in theirs]
    yield from in_order(*left, loose=loose)


def in_order(first: Sequence[Layer], port: Sequence[Layer], *, loose: bool) -> list[Pair]:
    """Returns the i-th with the i-th: none if they aren't as many, or one doesn't fit, or names say otherwise, since
    then their order may be wrong for all."""
    pairs = list(zip(first, port, strict=False)) if len(first) == len(port) else []
    fit = all(fits(*map(form, pair), loose=loose) for pair in pairs)
    return pairs if fit and not any(starmap(disagree, combinations(pairs, 2))) else []


def disagree(one: Pair, other: Pair) -> bool:
    """Whether names contradict the order of two pairs: they should be the other way round, or numbers go down."""
    (ours, theirs), (our, their) = one, other
    exchanged = likeness(ours, their) + likeness(our, theirs)
    down = any(a.words == b.words and a.numbers > b.numbers for a, b in zip(one, other, strict=True))
    same = ours.numbers == theirs.numbers and our.numbers == their.numbers
    return (down and not same) or exchanged > likeness(*one) + likeness(*other) + 1e-9


def likeness(one: Layer, other: Layer) -> float:
    return alike(one.words, other.words) + (one.numbers == other.numbers)


def alike(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other) if one | other else 1.0


def tied(first: Sequence[Leaf], left: Sequence[Leaf], port: Sequence[Leaf]) -> dict[str, str]:
    """Returns the expressions of what the port has twice and the first model once: its only embedding of that shape,
    where nothing else in the first model is left for it."""
    found: dict[str, str] = {}
    embeddings = [layer for layer in layers(first, fused=False) if layer.kind == "embedding"]
    rest = [layer for layer in layers(left, fused=False) if layer.kind != "embedding"]
    for layer in layers(port, fused=False):
        leaf = layer.parts("weight").get("", {}).get("")
        if leaf is None or leaf.kind not in ("embedding", *MATRICES) or any(fits(form(it), form(layer)) for it in rest):
            continue
        texts = [text for it in embeddings for text in between(it, layer)[leaf.name]]
        if len(texts) == 1 and len({*leaf.shape}) > 1:  # a square one may be any layer that only the port has
            found[leaf.name] = texts[0]
    return found


def described(model: Sequence[Leaf]) -> dict[str, Described]:
    """Returns each leaf of a model, by name, with its role and its layer."""
    return {leaf.name: (leaf, place[0], layer) for layer in layers(model, fused=False) for place, leaf in layer.leaves}


def partners(described: Described, others: Mapping[str, Described]) -> tuple[str, ...]:
    """Returns the likeliest three of the other model's leaves."""
    leaf, role, layer = described

    def likely(name: str) -> float:
        other, its, where = others[name]
        same = [role == its, leaf.trained == other.trained, leaf.kind == other.kind]
        same += [sorted(leaf.shape) == sorted(other.shape), prod(leaf.shape) == prod(other.shape)] * 2
        return sum(same) + likeness(layer, where) + SequenceMatcher(None, leaf.name, name).ratio()

    return tuple(nlargest(3, others, key=likely))
