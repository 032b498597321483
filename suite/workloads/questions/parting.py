"""Where two ports of a model part: the first pair of submodules whose results differ, though those before it agree."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import permutations

import numpy as np

from suite.workloads.questions.recomputed import RECOMPUTED, momentum
from suite.workloads.questions.suspicions import RECENT, SUSPICIONS, TOLERANCE, Array, Evidence, Test, axes, error

Arrays = list[tuple[Array, Array]]  # of the first model and of the port, in the first's layout
Layouts = dict[int, tuple[int, ...]]  # the order of the port's axes in the first's layout, by their number
FUSED = ("attention", "lstm", "gru")  # modules with leaves that other models have in several
FEWEST = 8  # elements: whatever is estimated from fewer of them, fits by chance
WORK = 0.02  # a share


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


@dataclass(frozen=True, slots=True)
class Parting:
    """Where two ports part. `fault` is a word for what it looks like, and empty where no test confirms a suspicion."""

    paths: tuple[str, str]
    error: float
    fault: str
    suspicion: str
    sentence: str


def part(first: Trace, port: Trace, weights: Mapping[str, str]) -> Parting | None:
    """Returns where two models part that were run on the same inputs; None if what they return agrees. `weights` are
    the port's leaves as expressions in the first's."""
    ours, theirs = first.calls[-1], port.calls[-1]
    returned = partners(ours.outputs, theirs.outputs)
    layouts: Layouts = {}
    pairs = list(paired(first, port, weights, layouts))
    if not any(differ(*each) for each in returned):
        if lacking := [*ours.outputs][len(returned) :]:
            found = ("output", f"{port.name} does not return {lacking[0]} of {first.name}")
            return said(("", ""), math.inf, "What both models return agrees", found)
        return moved(first, port, weights, pairs)
    agreed: list[Pair] = []
    for pair in [*pairs, Pair((first.name, port.name), ([ours], [theirs]), returned, returned)]:
        if any(differ(*each) for each in pair.outputs):
            return parted(first, port, pair, agreed, layouts)
        agreed += [pair] if pair.outputs else []
    return None


def parted(first: Trace, port: Trace, pair: Pair, agreed: Sequence[Pair], layouts: Layouts) -> Parting:
    """Says how the first pair differs that does, and what that looks like."""
    came = [each for each in pair.inputs if differ(*each)]
    a, b = (came or [each for each in pair.outputs if differ(*each)])[0]
    last, (call, *_) = pair.calls[0][-1], pair.calls[0]
    what = f"{('inputs' if came else 'outputs') if last.path else 'results'} of {' and '.join(pair.paths)}"
    where = f"After {' and '.join(agreed[-1].paths)}, which agree, the {what}" if agreed else f"The {what}"
    owners = {""} if came else {each.path for each in pair.calls[0]}
    before = port.calls[: next(place for place, each in enumerate(port.calls) if each is pair.calls[1][0])][-RECENT:]
    returned = {f"the output of {each.path}": next(iter(each.outputs.values())) for each in before}
    of_port = {words: aligned(a, it, layouts) for words, it in returned.items()}
    evidence = Evidence(
        (first.name, port.name),
        a,
        b,
        x=None if came else next(iter(call.inputs), None),
        leaves={name: it for name, it in first.values.items() if owner(first, name) in owners},
        sources=sources_of(agreed),
        of_port={words: it for words, it in of_port.items() if it is not None},
        port_norms=[f"the output of {each.path}" for each in before if each.kind.endswith("_norm")],
        is_norm=last.kind.endswith("_norm"),
    )
    if a.shape != b.shape:
        return said(pair.paths, math.inf, f"{where} have the shapes {a.shape} and {b.shape}", suspect(evidence, [axes]))
    found = f"{where} differ by {error(a, b):.2g} (relative Frobenius error)"
    return said(pair.paths, error(a, b), found, suspect(evidence, [*SUSPICIONS, *RECOMPUTED]))


def said(paths: tuple[str, str], error: float, where: str, found: tuple[str, str]) -> Parting:
    return Parting(paths, error, *found, f"{where}{': ' * bool(found[1])}{found[1]}.")


def sources_of(agreed: Sequence[Pair]) -> dict[str, Array]:
    """Returns the arrays on which models agree, each once, newest first."""
    found: dict[str, Array] = {}
    for pair in reversed(agreed):
        for what, arrays in (("output", pair.outputs), ("input", pair.inputs)):
            for a, b in arrays[:1]:
                if not differ(a, b) and not any(np.array_equal(a, known) for known in found.values()):
                    found.setdefault(f"the {what} of {pair.paths[0]}", a)
    return found


def suspect(evidence: Evidence, tests: Sequence[Test]) -> tuple[str, str]:
    """Returns the first suspicion that its test confirms, in a word and in words; two empty ones without any."""
    if evidence.first.ndim and evidence.first.size >= FEWEST:
        with np.errstate(all="ignore"):
            for test in tests:
                for found in test(evidence):
                    return found
    return "", ""


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
    for group in groups:
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
    """Returns the path of the submodule that has a leaf; of one that isn't called, as in attention, the one around it.
    Empty where there is none but the model."""
    kinds = {call.path: call.kind for call in trace.calls}
    path = leaf.rpartition(".")[0]
    if path in kinds:
        return path
    around = path.rpartition(".")[0]
    return around if kinds.get(around) in FUSED else ""


def holds(trace: Trace, call: Call) -> bool:
    """Whether a submodule calls others."""
    return any(other.path.startswith(f"{call.path}.") for other in trace.calls)


def leaves_in(expression: str, known: Collection[str]) -> list[str]:
    names = "|".join(re.escape(name) for name in sorted(known, key=len, reverse=True))
    return re.findall(rf"(?<![\w.])(?:{names})(?!\w)", expression)


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


def moved(first: Trace, port: Trace, weights: Mapping[str, str], pairs: Sequence[Pair]) -> Parting | None:
    """Returns where the running statistics part that a step of training has made."""
    for leaf, name in weights.items():
        if leaf in port.after and name in first.after and differ(first.after[name], port.after[leaf]):
            x = next(pair.inputs[0][0] for pair in pairs if pair.paths[1] == owner(port, leaf))
            after = (first.after[name], port.after[leaf])
            one, other = (momentum(x, first.values[name], it) for it in after)
            found = ("momentum", f"{first.name} {one}, {port.name} {other}") if one and other else ("", "")
            where = f"Results agree, but {name} and {leaf} after a step of training differ by {error(*after):.2g}"
            return said((name, leaf), error(*after), where, found)
    return None


def work(first: Trace, port: Trace, weights: Mapping[str, str]) -> str:
    """Returns the sentence beside a verdict on two ports that differ in parameters or FLOPs; else an empty one."""
    used = {name for expression in weights.values() for name in leaves_in(expression, first.values)}
    sizes = [("parameters", first.parameters, port.parameters), ("FLOPs", first.flops, port.flops)]
    ratios = [(what, theirs / ours) for what, ours, theirs in sizes if ours and theirs is not None]
    more = [
        f"{abs(it - 1) * 100:.1f} % {'more' if it > 1 else 'fewer'} {what}" for what, it in ratios if abs(it - 1) > WORK
    ]
    alone = [(first.name, [*first.values.keys() - used]), (port.name, [*port.values.keys() - weights.keys()])]
    left = "; ".join(f"only {name} has {', '.join(sorted(leaves))}" for name, leaves in alone if leaves)
    return f"{port.name} has {' and '.join(more)} than {first.name}{': ' * bool(left)}{left}." if more else ""
