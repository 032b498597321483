"""Checks that the processes of a run agree: each process with the gated process of its case, and the dialects with each
other.

Where neither a float64 reference nor a golden file says what is right, the majority of dialects does. Stacks of one
dialect share a file and so its mistakes: together they have one vote.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import combinations

from suite.answers.sentences import listed
from suite.case import Flag, Outcome, Purpose, function_name
from suite.environments import revisions
from suite.protocol import TOLERANCE
from suite.reference.digests import difference, from_figures
from suite.reference.tolerances import FORM, Tolerances
from suite.run.reported import APART, ReportedResults, digests, form, metrics, proof, worst
from suite.sets.rows import Row
from suite.workloads.catalog import Workload


@dataclass
class Agreement:
    """The rows that passed, with which later rows are compared."""

    workloads: dict[str, Workload]
    proofs: dict[str, ReportedResults] = field(default_factory=dict)  # of the gated process, by case_id
    digested: dict[str, dict[str, Row]] = field(default_factory=dict)  # rows with digests, by comparison_id and case_id

    def remember(self, row: Row) -> None:
        """Keeps the digests of a measured row that ended `ok`, and its results if its process was gated."""
        if digests(row):
            self.digested.setdefault(row["comparison_id"], {})[row["case_id"]] = row
        reported = proof(row)
        gated = digests(row) or row["relative_error"] is not None
        if gated and not reported.missing(row["pass"]):
            self.proofs[row["case_id"]] = reported

    def judge(self, row: Row) -> None:
        """Makes a timed row `wrong` if it lacks a result that it must report, or if its results differ from those of
        the gated process of its case or of the other dialects."""
        if row["purpose"] != Purpose.TIMED or row["outcome"] != Outcome.OK:
            return
        reported = proof(row)
        reason = reported.missing(row["pass"]) or self.disagreement(row, reported)
        if reason:
            row["outcome"], row["reason"] = str(Outcome.WRONG), reason
        else:
            self.judge_digests(row)

    def disagreement(self, row: Row, reported: ReportedResults) -> str:
        """Returns how a process's results differ from those of the process that passed the gate; empty if they
        agree."""
        gated = self.proofs.get(row["case_id"])
        if gated is None:
            return ""
        both_ways = 2 * self.loss_tolerance(row)  # both losses may be off, in opposite directions
        for step, (a, b) in enumerate(zip(reported.losses, gated.losses, strict=True), 1):
            if not math.isclose(a, b, rel_tol=both_ways, abs_tol=both_ways * abs(gated.losses[0])):
                return f"loss of step {step} is {a!r}; the process that passed the gate had {b!r}"
        if row["pass"] != "forward":
            return self.last_loss(row, reported.losses[0], reported.results["output"].peak)
        if reported.results.keys() != gated.results.keys():
            return f"it has the results {', '.join(reported.results)}; the process that passed the gate had others"
        for name, result in reported.results.items():
            error = difference(result, gated.results[name], name).error
            if not error <= 2 * self.tolerances(row).of(name).error:
                return f"last timed {name}: relative error {error:.2g} against the process that passed the gate"
        return ""

    def last_loss(self, row: Row, first: float, last: float) -> str:
        """Returns what is wrong with the last loss; empty if nothing is. All steps train on one batch, so the last loss
        must be lower than the first; without an optimizer both must be equal."""
        spec = self.workloads[row["workload"]].spec
        if self.workloads[row["workload"]].is_question and row["pass"] == "train":
            return ""  # its own optimizer may take steps that are too long
        learns = spec.OPTIMIZER is not None and row["pass"] == "train"
        # A digest has the last loss's magnitude.
        if last < first if learns else math.isclose(last, abs(first), rel_tol=2 * self.loss_tolerance(row)):
            return ""
        return f"the last timed loss is {last!r}, the first {first!r}"

    def loss_tolerance(self, row: Row) -> float:
        asked = self.workloads[row["workload"]].is_question
        return self.tolerances(row).of("loss").error if asked else TOLERANCE[row["precision"]]

    def tolerances(self, row: Row, precision: str | None = None) -> Tolerances:
        workload, types = self.workloads[row["workload"]], {}
        if workload.is_question:  # its tolerances follow its types
            tensors = workload.tensors(row.mapping("dims"), row["pass"])
            types = {name: tensor.dtype for name, tensor in (tensors.parameters | tensors.batch).items()}
        return Tolerances(workload.spec, precision or row["precision"], types=types)

    def judge_digests(self, row: Row) -> None:
        """Makes a later process of a case `wrong` if the majority of dialects contradicts the case. `contradicted`
        judges those with digests, when all of a comparison have run: until then the majority may change."""
        peers = self.digested.get(row["comparison_id"], {})
        of_case = row if digests(row) else peers.get(row["case_id"])
        if of_case is None or (digests(row) and not peers.keys() - {row["case_id"]}):
            return
        sides = self.sides([*(peer for case_id, peer in peers.items() if case_id != row["case_id"]), of_case])
        ours = next(side for side in sides if of_case in side)
        best = sides[0]
        if digests(row):
            against = next(
                (peer for peer in (ours if ours is best or votes(best) == 1 else best) if peer is not row), row
            )
            # Rows that agree differ by rounding alone. Movements and stressed weights are left out there: they have far
            # wider tolerances, and their errors would hide those of the other tensors.
            left_out = APART if ours is best else ()
            theirs = {name: digest for name, digest in digests(against).items() if not name.startswith(left_out)}
            _, apart = worst(digests(row), theirs, self.float32(row))
            row["relative_error"] = max(apart.error, row["relative_error"] or 0.0)
        elif (reason := self.contradiction(of_case, sides)) and not self.at_kinks(of_case, best[0]):
            row["outcome"], row["reason"] = str(Outcome.WRONG), reason

    def contradicted(self, comparison_id: str) -> dict[str, tuple[Outcome, str, Row]]:
        """Returns (outcome, reason, row) of rows that passed, by case_id: `wrong` if the majority contradicts them,
        `differ` if there is no majority, or if only gradients at kinks differ. To be called when all stacks of a
        comparison have run."""
        rows, ends = self.digested.get(comparison_id, {}), {}
        sides = self.sides([*rows.values()])
        tie = len(sides) > 1 and votes(sides[0]) == votes(sides[1])
        for case_id, row in rows.items():
            reason = self.contradiction(row, sides)
            if reason and not self.at_kinks(row, sides[0][0]):
                ends[case_id] = (Outcome.WRONG, reason, row)
            elif reason or tie:
                ends[case_id] = (Outcome.DIFFER, self.groups(sides), row)
        return ends

    def groups(self, sides: list[list[Row]]) -> str:
        """Returns why rows are `differ`: `two groups of 6: {jax_a, torch_b} and {jax_b, torch_a}, 0.02 apart (output);
        nothing says which is right`. Each group agrees within itself."""
        apart = [self.apart(one[0], other[0]) for one, other in combinations(sides, 2)]
        distance = " to ".join(dict.fromkeys(f"{way(apart)[0]:.2g}" for way in (min, max)))
        where = self.at_kinks(sides[0][0], sides[1][0]) or ", ".join(sorted({name.split(FORM)[0] for _, name in apart}))
        sizes = [str(len(side)) for side in sides]
        of = f" of {sizes[0]}" if len({*sizes}) == 1 else f", of {listed(sizes)}"
        each = ["{" + ", ".join(members(side, sides)) + "}" for side in sides]
        said = f"groups{of}: {listed(each, len(each))}, {distance} apart ({where}); nothing says which is right"
        return f"{'two' if len(sides) == 2 else len(sides)} {said}"

    def apart(self, one: Row, other: Row) -> tuple[float, str]:
        """Returns how far two rows are from each other, as a part of the larger, and in which tensor."""
        name, found = worst(digests(one), digests(other), self.float32(one))
        if math.isnan(found.error):
            return math.inf, name  # of another shape, or there on one side alone
        small, large = sorted((digests(one)[name], digests(other)[name]), key=lambda digest: digest.norm)
        return difference(small, large, name).error, name

    def at_kinks(self, row: Row, peer: Row) -> str:
        """Returns where the gradients of two rows differ, if they and nothing else do, and only at kinks of the
        function; else nothing."""
        ours, theirs = metrics(row, "kinks"), metrics(peer, "kinks")
        whole, others, tolerances = digests(row), digests(peer), self.float32(row)
        if whole.keys() != others.keys():
            return ""
        where = []
        for name, wanted in others.items():
            if not tolerances.of(name).broken(difference(whole[name], wanted, name)):
                continue
            of = name.removeprefix("gradient/")
            if of == name or of not in ours or of not in theirs:
                return ""
            count, size, first, value = ours[of][:4]
            one, other = (from_figures(side[of][4:]) for side in (ours, theirs))
            rest = difference(one, other, name).error * (other.norm or 1.0)  # small beside the larger gradient
            if not rest <= tolerances.of(name).error * max(wanted.norm, whole[name].norm):
                return ""
            where.append(f"{count:,.0f} of {size:,.0f} elements of {of}, the first is number {first:,.0f}, {value:g}")
        return f"gradients at kinks alone: {'; '.join(sorted(where))}" if where else ""

    def unverified(self) -> list[str]:
        """Returns the case_ids of rows that passed although nothing says what is right: there is no reference, and no
        majority of two or more dialects. Whether there is a majority is known only after all stacks of a comparison
        have run."""
        doubtful: list[str] = []
        for rows in self.digested.values():
            best, *others = self.sides([*rows.values()])
            if votes(best) < 2 or (others and votes(others[0]) == votes(best)):
                doubtful += rows
        return sorted(doubtful)

    def sides(self, rows: list[Row]) -> list[list[Row]]:
        """Returns groups of rows that agree, the group with the most dialects first."""
        sides: list[list[Row]] = []
        for row in sorted(rows, key=lambda row: str(row["case_id"])):
            side = next((side for side in sides if not self.broken(row, side[0])), None)
            if side is None:
                sides.append([row])
            else:
                side.append(row)
        return sorted(sides, key=votes, reverse=True)

    def contradiction(self, row: Row, sides: list[list[Row]]) -> str:
        """Returns how a row differs from a majority of two or more dialects; empty without such a majority, or if the
        row belongs to it."""
        ours, best = next(side for side in sides if row in side), sides[0]
        if ours is best or votes(best) < 2 or votes(best) == votes(ours):
            return ""
        dialects = " and ".join(sorted({voter(peer) for peer in best}))
        return f"{self.broken(row, best[0])}, against {dialects}, which agree"

    def broken(self, row: Row, peer: Row) -> str:
        """Returns in words how the digests of two rows differ; empty if they agree."""
        tolerances = self.float32(row)
        sides = [digests(row), digests(peer)]
        if row["dialect"] != peer["dialect"] and Flag.NO_FLOAT64 in row.flags:  # ports call their leaves otherwise
            named = ("output", "loss")
            sides = [{name: it for name, it in side.items() if name.startswith(named)} for side in sides]
        name, apart = worst(sides[0], sides[1], tolerances)
        broken = tolerances.of(name).broken(apart)
        if broken and math.isnan(apart.error) and FORM in name:
            leaf = name.partition(FORM)[0]
            ours, theirs = (form(of, leaf) for of in (row, peer))
            return f"{leaf} is {ours}, not {theirs}"
        return f"{name}: {broken}" if broken else ""

    def float32(self, row: Row) -> Tolerances:
        """Returns the tolerances of a row's digests. They are those of float32 in every precision, because a process of
        another precision computes its digests from the same step in float32."""
        return self.tolerances(row, "f32")


def members(side: list[Row], sides: list[list[Row]]) -> list[str]:
    """Returns the functions of a group by name; those that are in several groups, with the stacks that run them."""
    elsewhere = {voter(row) for other in sides if other is not side for row in other}
    return sorted({row.stack_name if voter(row) in elsewhere else voter(row) for row in side})


def votes(side: list[Row]) -> int:
    """Returns how many files or functions a group of rows has run: each has one vote, however many stacks run it."""
    return len({voter(row) for row in side})


def voter(row: Row) -> str:
    """Returns whose code a row has run: a dialect's, or in a question file a function's, in each revision of what it
    imports. A model has nothing else to be compared with: there each stack has its own vote."""
    of_stack = Flag.NO_FLOAT64 in row.flags
    function = function_name(row["stack"], row.text("implementation")) if of_stack else row.function
    return f"{function}@{row.text('variant')}" if revisions.of(row.text("environment")) else function
