"""Where two ports of a model part: the first pair of submodules whose results differ, though those before it agree."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from suite.workloads.questions.ports import pairing
from suite.workloads.questions.ports.expressions import leaves_in
from suite.workloads.questions.ports.pairing import Array, Layouts, Pair, Trace, differ, error, owner
from suite.workloads.questions.ports.recomputed import RECOMPUTED, axes, momentum
from suite.workloads.questions.ports.suspicions import RECENT, SUSPICIONS, Evidence, Found

FEWEST = 8  # elements: whatever is estimated from fewer of them, fits by chance
WORK = 0.02  # a share


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
    returned = pairing.partners(ours.outputs, theirs.outputs)
    layouts: Layouts = {}
    pairs = list(pairing.paired(first, port, weights, layouts))
    if not any(differ(*each) for each in returned):
        for one, other in ((first, port), (port, first)):
            for name in pairing.lacking(one.calls[-1].outputs, other.calls[-1].outputs):
                found = ("output", f"{other.name} does not return {name} of {one.name}")
                return said(("", ""), math.inf, "What both models return agrees", found)
        return moved(first, port, weights, pairs)
    agreed: list[Pair] = []
    for pair in [*pairs, Pair((first.name, port.name), ([ours], [theirs]), returned, returned)]:
        if any(differ(*each) for each in pair.outputs):
            return parted(first, port, weights, pair, agreed, layouts)
        agreed += [pair] if pair.outputs else []
    return None


def parted(
    first: Trace, port: Trace, weights: Mapping[str, str], pair: Pair, agreed: Sequence[Pair], layouts: Layouts
) -> Parting:
    """Says how the first pair differs that does, and what that looks like."""
    came = [each for each in pair.inputs if differ(*each)]
    a, b = (came or [each for each in pair.outputs if differ(*each)])[0]
    call, last = pair.calls[0][0], pair.calls[0][-1]
    what = f"{('inputs' if came else 'outputs') if last.path else 'results'} of {' and '.join(pair.paths)}"
    where = f"After {' and '.join(agreed[-1].paths)}, which agree, the {what}" if agreed else f"The {what}"
    held = [
        {name: it for name, it in trace.values.items() if owner(trace, name) in ([""] if came else paths)}
        for trace, paths in zip((first, port), [[call.path for call in side] for side in pair.calls], strict=True)
    ]
    place = next(place for place, it in enumerate(port.calls) if it is pair.calls[1][0])
    later = {it.path for it in port.calls if it.kind.endswith("_norm")} - {it.paths[1] for it in agreed}
    before = {f"the {'norm' if it.path in later else 'output of'} {it.path}": it for it in port.calls[:place][-RECENT:]}
    of_port = {words: pairing.aligned(a, next(iter(it.outputs.values())), layouts) for words, it in before.items()}
    evidence = Evidence(
        (first.name, port.name),
        last.kind,
        a,
        b,
        x=None if came else next(iter(call.inputs), None),
        leaves=held[0] | {name: it for name, it in held[1].items() if name not in held[0]},
        sources=sources_of(agreed[-2 * RECENT :]),
        of_port={words: it for words, it in of_port.items() if it is not None},
    )
    if a.shape != b.shape:
        return said(pair.paths, math.inf, f"{where} have the shapes {a.shape} and {b.shape}", suspect(evidence, [axes]))
    found = suspect(evidence, [*SUSPICIONS, *RECOMPUTED])
    if not found[0] and not (came and last.path):  # from equal inputs
        lost = [name for name in unused(first, weights) if not last.path or name in evidence.leaves]
        found = ("unused", f"{port.name} never uses {lost[0]} of {first.name}") if lost else found
    return said(pair.paths, error(a, b), f"{where} differ by {error(a, b):.2g} (relative Frobenius error)", found)


def said(paths: tuple[str, str], error: float, where: str, found: tuple[str, str]) -> Parting:
    return Parting(paths, error, *found, f"{where}{': ' * bool(found[1])}{found[1]}.")


def sources_of(agreed: Sequence[Pair]) -> dict[str, Array]:
    """Returns the arrays on which models agree, each once, newest first."""
    found: dict[str, Array] = {}
    for pair in reversed(agreed):
        for what, arrays in (("output", pair.outputs), ("input", pair.inputs)):
            for a, b in arrays[:1]:
                if not differ(a, b) and not any(pairing.equal(a, it) for it in found.values()):
                    found.setdefault(f"the {what} of {pair.paths[0]}", a)
    return found


def suspect(evidence: Evidence, tests: Iterable[Callable[[Evidence], Iterator[Found]]]) -> Found:
    """Returns the first suspicion that its test confirms, in a word and in words; two empty ones without any."""
    if evidence.first.ndim and evidence.first.size >= FEWEST:
        with np.errstate(all="ignore"):
            for test in tests:
                for found in test(evidence):
                    return found
    return "", ""


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


def unused(first: Trace, weights: Mapping[str, str]) -> list[str]:
    """Returns the first's leaves that the port never uses, unless they are zero."""
    used = {name for expression in weights.values() for name in leaves_in(expression, first.values)}
    return [name for name, value in first.values.items() if name not in used and value.any()]


def work(first: Trace, port: Trace, weights: Mapping[str, str]) -> str:
    """Returns the sentence beside a verdict on two ports that differ in parameters or FLOPs; else an empty one."""
    sizes = [
        ("parameters", first.parameters, port.parameters),
        ("FLOPs of matrix products and convolutions", first.flops, port.flops),
    ]
    ratios = [(what, theirs / ours) for what, ours, theirs in sizes if ours and theirs is not None]
    ratios = [(what, it) for what, it in ratios if abs(it - 1) > WORK]
    more = [f"{abs(it - 1) * 100:.1f} % {'more' if it > 1 else 'fewer'} {what}" for what, it in ratios]
    alone = [(first.name, unused(first, weights)), (port.name, [leaf for leaf in port.values if leaf not in weights])]
    left = "; ".join(f"only {name} has {', '.join(leaves)}" for name, leaves in alone if leaves)
    return f"{port.name} has {' and '.join(more)} than {first.name}{': ' * bool(left)}{left}." if more else ""
