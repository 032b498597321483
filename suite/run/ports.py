"""Two models in one question file are ports of one another: the second gets the first one's weights, and both must
compute the same in float64 before a time of the second counts."""

from __future__ import annotations

import json
import math
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from suite import protocol
from suite.answers.sentences import listed
from suite.case import Case, Outcome
from suite.errors import UserError
from suite.guard import plain_files
from suite.launch.attempt import run_job, tail
from suite.launch.engine import Engine
from suite.reference.digests import difference
from suite.workloads.questions.models import ModelLeaf
from suite.workloads.questions.ports.expressions import gradients_of, leaves_in, shared, value_of
from suite.workloads.questions.ports.layers import ROLES, Leaf
from suite.workloads.questions.ports.matching import match
from suite.workloads.questions.ports.pairing import TOLERANCE, Call, Trace
from suite.workloads.questions.ports.parting import part, work
from suite.workloads.questions.ports.weights import ANSWER, ASKED, LEAVES, REFUSED, read, write

MOVED_TOLERANCE = 1e-4  # of what their optimizers' steps write
EMPTY = np.empty(0)  # where values aren't asked for
Answer = Mapping[str, np.ndarray[Any, Any]]


@dataclass(slots=True)
class Ported:
    """What is known of a question's ports: the file with the weights (None until a port is matched with them), how the
    cases of a dialect end without a process, and sentences for the console."""

    weights: Path | None = None
    ends: dict[str, tuple[Outcome, str]] = field(default_factory=dict)
    sentences: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Ports:
    """Compares the models of question files, each in the environment that has its framework."""

    engines: Callable[[str], Engine]  # by dialect
    cores: Sequence[int]
    seconds: float

    def look(self, question: Any, cases: Mapping[str, Case], folder: Path) -> Ported:
        """Returns what is found of a question's models; `cases` has one of each dialect that is measured."""
        folder = folder.resolve()
        first, *others = (dialect for dialect in question.dialects if dialect in cases)
        if not others or first != question.dialects[0]:
            return Ported()
        found = Ported()
        leaves: dict[str, list[ModelLeaf]] = {}
        for dialect in (first, *others):
            try:
                leaves[dialect] = [
                    *map(read, json.loads(self.job(question, cases, folder, "", dialect).read_text("utf-8")))
                ]
            except UserError as broken:
                found.ends[dialect] = (Outcome.ERROR, str(broken))
        for port in others:
            if {first, port} <= leaves.keys():
                self.port(question, cases, (first, port), leaves, folder, found)
            else:
                found.ends.setdefault(port, (Outcome.ERROR, f"{first}_model, whose weights it has, couldn't be made"))
        return found

    def port(
        self,
        question: Any,
        cases: Mapping[str, Case],
        pair: tuple[str, str],
        leaves: Mapping[str, list[ModelLeaf]],
        folder: Path,
        found: Ported,
    ) -> None:
        first, port = pair
        ours, theirs = ([as_leaf(leaf) for leaf in leaves[dialect]] for dialect in pair)
        matched = match(ours, theirs, getattr(question.module, "WEIGHTS", {}))
        lacking = [each for each in matched.unmatched if each.of_port]
        table = folder / f"{port}_weights.py"
        folder.mkdir(parents=True, exist_ok=True)
        rows = "".join(f"    {name!r}: {expression!r},\n" for name, expression in matched.weights.items())
        rows += "".join(f"    {each.leaf!r}: '',  # {', '.join(each.partners)}?\n" for each in lacking)
        table.write_text(f"WEIGHTS = {{\n{rows}}}\n", encoding="utf-8")
        if lacking:
            likeliest = "; ".join(f"{each.leaf} (likeliest: {', '.join(each.partners)})" for each in lacking[:3])
            reason = (
                f"{len(lacking)} of {len(theirs)} leaves of {port}_model have no counterpart in {first}_model that is "
                f"certain: {likeliest}. Copy the table into the file and complete it: {os.path.relpath(table)}"
            )
            found.ends[port] = (Outcome.ERROR, reason)
            return
        found.weights = folder / "weights.json"
        write(found.weights, leaves[first], matched.weights)
        found.sentences.append(
            f"{port}_model has {first}_model's weights: {len(matched.weights)} leaves, matched by names and shapes. "
            f"The table, which the file may have: {os.path.relpath(table)}"
        )
        shapes = {leaf.name: leaf.shape for leaf in ours}
        if apart_in_steps := summed(matched.weights, shapes):
            found.sentences.append(
                f"{listed(apart_in_steps, 3)} of {port}_model: {first}_model has other leaves there, which add up to "
                "it or are shared. So steps of training move the two models apart, and only the first step is compared."
            )
        asked = (question, cases, folder, str(found.weights))
        try:
            ours_in_f64, theirs_in_f64 = (load(self.job(*asked, dialect)) for dialect in pair)
        except UserError as broken:
            found.sentences.append(f"{first}_model and {port}_model aren't compared in float64: {broken}")
            return
        sizes = [
            Trace(
                f"{dialect}_model", (), {leaf.short: EMPTY for leaf in leaves[dialect]}, size(leaves[dialect]),
                float(answer["flops"]),
            )
            for dialect, answer in zip(pair, (ours_in_f64, theirs_in_f64), strict=True)
        ]  # fmt: skip
        found.sentences.extend(filter(None, [work(sizes[0], sizes[1], matched.weights)]))
        answers = (ours_in_f64, theirs_in_f64, matched.weights, shapes)
        if reason := apart(*answers):
            try:
                one, other = (trace(dialect, load(self.job(*asked, dialect, trace=True))) for dialect in pair)
                where = part(one, other, matched.weights)
            except UserError as broken:
                found.sentences.append(f"Where {port}_model parts from {first}_model isn't known: {broken}")
                where = None
            reason = where.sentence if where else reason
        if reason := reason or apart_in_statistics(*answers) or apart_after_steps(*answers):
            found.ends[port] = (Outcome.WRONG, f"{port}_model isn't {first}_model: {reason}")

    def job(
        self, question: Any, cases: Mapping[str, Case], folder: Path, weights: str, dialect: str, trace: bool = False
    ) -> Path:
        """Runs `suite.worker.describe` on copies of a question's files. Returns the file with the leaves or,
        with weights, the one with the answer or the trace."""
        place = folder / (f"{dialect}-{'trace' if trace else 'answer'}" if weights else dialect)
        case = cases[dialect]
        plain_files.clear(place)
        place.mkdir(parents=True)
        for file in (question.folder, *question.data_files(case.dims)):
            copy = place / (
                file.relative_to(question.folder.parent) if file.is_relative_to(question.folder.parent) else file.name
            )
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, copy)
        if weights:
            shutil.copyfile(weights, place / "weights.json")
        asked = {"file": question.folder.name, "case": case.to_json(), "dialect": dialect, "trace": trace}
        asked["weights"] = str(place / "weights.json") if weights else ""
        (place / ASKED).write_text(json.dumps(asked), encoding="utf-8")
        end = run_job(
            "suite.worker.describe", place, engine=self.engines(dialect), cpus=self.cores, seconds=self.seconds
        )
        made = place / (ANSWER if weights else LEAVES)
        if made.exists():
            return made
        refused = place / REFUSED
        last = tail(place / "stderr.log").splitlines()[-1:] or [end.problem or f"it ended with {end.exit_code}"]
        raise UserError(refused.read_text(encoding="utf-8") if refused.exists() else last[0])


def size(leaves: Sequence[ModelLeaf]) -> int:
    return sum(math.prod(leaf.shape) for leaf in leaves if leaf.trained)


def as_leaf(leaf: ModelLeaf) -> Leaf:
    return Leaf(leaf.short, leaf.native_shape, leaf.kind, leaf.trained)


def trace(dialect: str, found: Answer) -> Trace:
    calls = []
    for number, (path, kind) in enumerate(json.loads(str(found["calls"]))):
        inputs = [value for name, value in found.items() if name.startswith(f"{number} in ")]
        outputs = {
            name.partition(" out ")[2]: value for name, value in found.items() if name.startswith(f"{number} out ")
        }
        calls.append(Call(path, kind, inputs, outputs))
    values = of(found, "value")
    return Trace(f"{dialect}_model", calls, values, sum(value.size for value in values.values()))


def load(path: Path) -> Answer:
    with np.load(path) as file:
        return {name: file[name] for name in file.files}


def apart(first: Answer, port: Answer, weights: Mapping[str, str], shapes: Mapping[str, tuple[int, ...]]) -> str:
    """Returns in words where a port's answer differs from the first model's; empty if they agree."""
    ours, theirs = ({name for name in answer if name.startswith("output ")} for answer in (first, port))
    if ours != theirs:
        names = (", ".join(sorted(name.removeprefix("output ") for name in side)) for side in (theirs, ours))
        return "its results are {}, the first model's {}".format(*names)
    for name in sorted(ours) + ["loss"] * ("loss" in first):
        said = differs(
            name.removeprefix("output "),
            first[name][..., :1] if name == "loss" else first[name],
            port[name][..., :1] if name == "loss" else port[name],
            TOLERANCE,
        )
        if said:
            return said
    largest = max(
        (np.abs(of(first, "gradients")[name]).max(initial=0.0) for name in of(first, "gradients")), default=0.0
    )
    taken = of(port, "gradients")
    gradients = gradients_of({name: text for name, text in weights.items() if name in taken}, taken, shapes)
    for name, gradient in of(first, "gradients").items():
        if np.abs(gradient).max(initial=0.0) < protocol.ZERO_GRADIENT * largest:
            continue
        if said := differs(f"gradient of {name}", gradient, gradients[name], TOLERANCE):
            return said
    return ""


def apart_in_statistics(
    first: Answer, port: Answer, weights: Mapping[str, str], shapes: Mapping[str, tuple[int, ...]]
) -> str:
    """Returns in words which running mean of a port a step moves otherwise; empty if all agree. Running variances
    aren't compared: PyTorch keeps that of the sample, flax that of the batch."""
    moved = of(first, "moved")
    for name, movement in of(port, "moved").items() if "loss" in first else ():
        if ROLES.get(name.rpartition(".")[2]) != "mean" or not moved.keys() >= {*leaves_in(weights[name], shapes)}:
            continue
        wanted = value_of(weights[name], moved)
        if not differs(name, wanted, movement, TOLERANCE):
            continue
        times = float(np.vdot(movement, wanted)) / (float(np.vdot(wanted, wanted)) or 1.0)
        if not movement.any():
            return f"a step of training leaves {name} as it was"
        if wanted.any() and not differs(name, times * wanted, movement, TOLERANCE):
            return (
                f"a step moves {name} {times:.3g} times as far: the momentum differs (PyTorch's is the share of the "
                "new batch, that of flax and Keras the share of what was)"
            )
        return differs(f"what a step adds to {name}", wanted, movement, TOLERANCE)
    return ""


def apart_after_steps(
    first: Answer, port: Answer, weights: Mapping[str, str], shapes: Mapping[str, tuple[int, ...]]
) -> str:
    """Returns in words where training moves a port apart whose results, loss and gradients agree; else empty."""
    if summed(weights, shapes):
        return ""
    moved, noise = of(first, "moved"), of(port, "noise")
    for name, movement in of(port, "moved").items():
        wanted = np.where(noise[name], 0.0, value_of(weights[name], moved)) if name in noise else None
        if wanted is not None and (
            said := differs(name, wanted, np.where(noise[name], 0.0, movement), MOVED_TOLERANCE)
        ):
            return (
                f"after {protocol.GATE_STEPS} steps {said}, though all gradients agree: the optimizers differ (unless "
                "told, torch.optim.AdamW decays weights by 0.01, optax.adamw by 0.0001)"
            )
    if first["curve"].size and (
        said := differs("the curve of their losses", first["curve"], port["curve"], MOVED_TOLERANCE)
    ):
        return f"after {protocol.GATE_STEPS} steps that agree, {said}: the optimizers' later steps differ"
    return ""


def summed(weights: Mapping[str, str], shapes: Mapping[str, tuple[int, ...]]) -> list[str]:
    """Returns the port's leaves for which the first model has several, as two biases that are added, or which share one
    of the first's, as an embedding and a head. Such models compute the same, but an optimizer moves them apart."""
    several = shared(weights, shapes)
    return [
        name
        for name, text in weights.items()
        if "+" in text or "0 *" in text or not several.isdisjoint(leaves_in(text, shapes))
    ]


def of(answer: Answer, group: str) -> dict[str, np.ndarray[Any, Any]]:
    return {name.partition(" ")[2]: value for name, value in answer.items() if name.startswith(f"{group} ")}


def differs(what: str, wanted: np.ndarray[Any, Any], actual: np.ndarray[Any, Any], tolerance: float) -> str:
    if wanted.shape != actual.shape:
        return f"{what} has the shape {actual.shape}, the first model's {wanted.shape}"
    if not wanted.size or (not np.any(wanted) and not np.any(actual)):
        return ""
    error = difference(actual, wanted, what).error
    return "" if error <= tolerance else f"{what} differs by {error:.2g} of its norm, in float64"
