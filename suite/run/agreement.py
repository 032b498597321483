"""Do the processes of a run agree? Each with the gated process of the same case, and stacks with the first that ran."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from suite.case import Outcome, Purpose
from suite.protocol import TOLERANCE, ZERO_GRADIENT
from suite.reference.digests import Difference, Digest, difference, from_figures
from suite.reference.tolerances import Tolerances
from suite.results.store.rows import Row
from suite.workloads.catalog import Workload

LOSSES = 3  # of the first steps, that every process of a train pass tells


@dataclass(frozen=True, slots=True)
class Proof:
    """What every process tells of its answers: the losses of its first steps, and its last timed result."""

    losses: list[float]
    result: Digest | None

    def missing(self, pass_: str) -> str:
        """What a process should have told and hasn't; empty if nothing."""
        if pass_ == "train" and len(self.losses) != LOSSES:
            return f"it told {len(self.losses)} losses of its first {LOSSES} steps"
        return "" if self.result is not None else "it told nothing of its last timed result"


@dataclass
class Agreement:
    """What is remembered of rows that passed, and what later ones are held to."""

    workloads: dict[str, Workload]
    proofs: dict[str, Proof] = field(default_factory=dict)  # by case_id: the gated process's
    first: dict[str, Row] = field(default_factory=dict)  # by comparison_id: the first row with digests of its tensors

    def remember(self, row: Row) -> None:
        """Learn from a timed and measured row that ended `ok`."""
        if digests(row):
            self.first.setdefault(row["comparison_id"], row)
        told = proof(row)
        gated = digests(row) or row["relative_error"] is not None
        if gated and not told.missing(row["pass"]):
            self.proofs[row["case_id"]] = told

    def is_proven(self, case_id: str) -> bool:
        """Whether a process of this case has passed the gate."""
        return case_id in self.proofs

    def judge(self, row: Row) -> None:
        """Make a timed row `wrong` that proves nothing, or differs from what it is held to."""
        if row["purpose"] != Purpose.TIMED or row["outcome"] != Outcome.OK:
            return
        own = proof(row)
        reason = own.missing(row["pass"]) or self.disagreement(row, own)
        if reason:
            row["outcome"], row["reason"] = str(Outcome.WRONG), reason
        else:
            self.judge_digests(row)

    def disagreement(self, row: Row, own: Proof) -> str:
        """How a process's answers differ from those of the one that passed the gate; empty if they don't."""
        gated = self.proofs.get(row["case_id"])
        if gated is None:
            return ""
        both_ways = 2 * TOLERANCE[row["precision"]]  # both may be off, in opposite directions
        for step, (a, b) in enumerate(zip(own.losses, gated.losses, strict=True), 1):
            if not math.isclose(a, b, rel_tol=both_ways):
                return f"loss of step {step} is {a!r}; the process that passed the gate had {b!r}"
        assert own.result is not None and gated.result is not None  # told, as `missing` has asked
        if row["pass"] == "train":
            return self.last_loss(row, own.losses[0], own.result.norm)
        found, limit = difference(own.result, gated.result, "output"), 2 * self.tolerances(row).of("output").error
        if found.error <= limit:
            return ""
        return f"last timed output: relative error {found.error:.2g} against the process that passed the gate"

    def last_loss(self, row: Row, first: float, last: float) -> str:
        """Steps over the same batch learn it. Without an optimizer nothing is learnt: the last loss is the first."""
        learns = self.workloads[row["workload"]].spec.OPTIMIZER is not None
        if last < first if learns else math.isclose(last, first, rel_tol=2 * TOLERANCE[row["precision"]]):
            return ""
        return f"the last timed loss is {last!r}, the first {first!r}"

    def tolerances(self, row: Row) -> Tolerances:
        """Of a row's digests."""
        return Tolerances(self.workloads[row["workload"]].spec, row["precision"])

    def judge_digests(self, row: Row) -> None:
        """Where no golden file says what is right, stacks must at least agree with the first that ran."""
        first = self.first.get(row["comparison_id"])
        if first is None or not digests(row):
            return
        # Of the same dialect file in float32 in other precisions, too, to which the gate has held them.
        tolerances = Tolerances(self.workloads[row["workload"]].spec, "f32")
        name, found = worst(digests(row), digests(first), tolerances)
        broken = tolerances.of(name).broken(found)
        if broken or not name.startswith("moved/"):
            row["relative_error"] = max(found.error, row["relative_error"] or 0.0)
        if broken:
            row["outcome"] = str(Outcome.WRONG)
            row["reason"] = f"{name}: {broken}, against {first['stack']}, which ran first"


def metrics(row: Row, kind: str) -> dict[str, list[float]]:
    """The values of a row's metrics of one kind, by name."""
    return {metric["name"]: metric["values"] for metric in row["metrics"] or [] if metric["kind"] == kind}


def proof(row: Row) -> Proof:
    """What a row's process told of its answers."""
    told = metrics(row, "gate")
    return Proof(told.get("loss", []), told_digest(told.get("last result", [])))


def digests(row: Row) -> dict[str, Digest]:
    """Digests of a model's tensors by name; only a gated process without a golden file has them."""
    told = {name: told_digest(values) for name, values in metrics(row, "digest").items()}
    return {name: each for name, each in told.items() if each is not None}


def told_digest(values: list[float]) -> Digest | None:
    """A digest as a worker wrote it; None where it isn't one."""
    try:
        return from_figures(values)
    except ValueError:
        return None


def worst(ours: Mapping[str, Digest], theirs: Mapping[str, Digest], tolerances: Tolerances) -> tuple[str, Difference]:
    """The tensor in which two stacks differ most for what is allowed, and how."""
    largest = max((each.peak for name, each in theirs.items() if name.startswith("gradient/")), default=0.0)
    name_of_worst, most, of_worst = "", 0.0, Difference(0.0, 1.0)
    for name, wanted in theirs.items():
        gradient = theirs.get("gradient/" + name.partition("/")[2])
        if gradient is not None and gradient.peak < ZERO_GRADIENT * largest:
            continue  # zero but for rounding, and AdamW's movement is made of that
        if name not in ours:
            if name.startswith("moved/"):
                continue  # an element of it is on the edge of being noise
            return name, Difference(math.nan, math.nan)
        found = difference(ours[name], wanted, name)
        share = found.error / tolerances.of(name).error
        if not share <= most:
            name_of_worst, most, of_worst = name, share, found
    return name_of_worst, of_worst
