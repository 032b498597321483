"""Rows, one an attempt: read by type, and the rules of which of them count. Each rule stands here alone."""

from __future__ import annotations

import dataclasses
import json
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from typing import Any

from suite.case import Attempt, Case, Flag, Outcome, Purpose, canonical_json
from suite.errors import UserError, unknown
from suite.protocol import OTHERS_SHARE_MAX
from suite.results.store.plan_file import PlanFile
from suite.results.store.schema import NAMES, SCHEMA_VERSION

CASE = tuple(name.rstrip("_") for name in Case.__dataclass_fields__)  # the columns of the question
CLOCKS = ("synced", "dispatch", "pipelined", "fetch", "first", "second")
LEAST_SHARE = 0.05  # of a step's known time that a library must take to be named on the page
HOST_PEAKS = ("host_peak_build_bytes", "host_peak_step_bytes")
NOT_RUN = "not run"  # the outcome of a planned attempt that has no row
Place = tuple[str, int, int, str]


class Row(dict[str, Any]):
    """One attempt by column name, as suite/results/store/schema.py has them; None is unknown."""

    def __or__(self, columns: Mapping[str, Any]) -> Row:  # type: ignore[override]
        return Row({**self, **columns})

    @property
    def case(self) -> Case:
        """What was asked."""
        return Case.of_row(self)

    @property
    def attempt_name(self) -> str:
        """The stem of its process's files: its logs lie in a set's logs/, in the folder that is called so."""
        identity = {field.name: self[field.name] for field in dataclasses.fields(Attempt) if field.name != "case"}
        return Attempt(**identity | {"case": self.case, "purpose": Purpose(self["purpose"])}).name

    @property
    def stack_name(self) -> str:
        """`jax_jit`, or `jax_jit@nightly` for a variant."""
        return f"{self['stack']}@{self['variant']}" if self["variant"] else str(self["stack"])

    @property
    def comparison_name(self) -> str:
        """The question without the stack: `gemm-quick-forward-f32-cpu`."""
        return self.case.comparison_name

    @property
    def place(self) -> Place:
        """(case_id, block, replicate, purpose): what every try of one planned process shares."""
        return self["case_id"], self["block"], self["replicate"], str(self["purpose"])

    @property
    def outcome(self) -> str:
        """How the attempt ended."""
        return self.text("outcome")

    @property
    def flags(self) -> tuple[str, ...]:
        """What a reader must know beyond the outcome."""
        return tuple(self.get("flags") or ())

    def samples(self, clock: str) -> Sequence[float]:
        """Seconds by one clock, without warm-up and without those that others disturbed (all, if they did all)."""
        value = self[f"{check_clock(clock)}_seconds"]
        if clock in ("first", "second"):
            return [] if value is None else [value]
        chained = clock in ("synced", "dispatch")
        start = self["synced_warmup"] or 0 if chained else 0
        taken: Sequence[float] = (value or [])[start:]
        others = (self[f"{'synced' if chained else clock}_others"] or [])[start:]
        if not (taken and others):
            return taken
        clean = [seconds for seconds, share in zip(taken, others, strict=True) if not (share or 0) > OTHERS_SHARE_MAX]
        return clean or taken

    @property
    def steady(self) -> Sequence[float]:
        """Samples of the synced clock, without the warm-up."""
        return self.samples("synced")

    def median(self, clock: str = "synced") -> float | None:
        """The median by one clock, in seconds; None without a sample."""
        taken = self.samples(clock)
        return median(taken) if taken else None

    def text(self, name: str) -> str:
        """A column as text; empty where unknown."""
        value = self.get(name)
        return "" if value is None else str(value)

    def number(self, name: str) -> float | None:
        """A column as a float; None where unknown or not finite."""
        value = self.get(name)
        return None if value is None or not math.isfinite(value) else float(value)

    def integer(self, name: str) -> int:
        """A column that is never null, as an int."""
        return int(self[name])

    def mapping(self, name: str) -> Mapping[str, Any]:
        """A JSON column; empty where unknown or not an object."""
        loaded = json.loads(self.get(name) or "{}")
        return loaded if isinstance(loaded, dict) else {}

    def entries(self, name: str) -> list[Any]:
        """A JSON column; empty where unknown or not a list."""
        loaded = json.loads(self.get(name) or "[]")
        return loaded if isinstance(loaded, list) else []

    @property
    def peak_bytes(self) -> float | None:
        """The peak of what only this process and its children had: on an accelerator device memory, on a CPU anonymous
        memory, since a limit doesn't count pages of files until they are needed. None where unknown.

        Two lower bounds of it are known, and the greater is taken: the process's own counter, which is exact for itself
        but misses compilers that have ended, and samples of its cgroup.
        """
        if self["target"] != "cpu":
            return self.number("device_peak_bytes")
        peaks = [peak for name in HOST_PEAKS if (peak := self.number(name)) is not None]
        files = self.number("host_file_bytes")
        if not peaks or files is None:
            return None
        return max(max(peaks) - files, self.number("cgroup_anonymous_bytes") or 0.0)

    @property
    def limit_bytes(self) -> float | None:
        """What `peak_bytes` must stay under: the device's memory, or the limit on a CPU; None where none is known."""
        return self.number("limit_memory_bytes" if self["target"] == "cpu" else "device_total_bytes")

    @property
    def kernels(self) -> str:
        """What did the work, by the explain process, most first: `MKL AVX2; rest ATen AVX512`; empty where unknown.

        What takes under a twentieth of the time that is known is left out.
        """
        used = self.entries("kernels")
        all_seconds = sum(each["seconds"] or 0.0 for each in used)
        shown = [each for each in used if each["seconds"] is None or each["seconds"] >= LEAST_SHARE * all_seconds]
        words = [f"{each['library']} {each['isa'] or ''}".strip() for each in shown]
        rest = ["rest " if each["calls"] is None and len(shown) > 1 else "" for each in shown]
        return "; ".join(map("".join, zip(rest, words, strict=True)))


def check_clock(clock: str) -> str:
    """The clock's name. Raises UserError with the near match if there is none such."""
    if clock not in CLOCKS:
        raise unknown("clock", clock, CLOCKS)
    return clock


def empty_row(attempt: Attempt) -> Row:
    """Every column of an attempt's row, with identity and case filled in and all else unknown.

    The caller adds what it alone knows (machine_id, dialect, environment, engine, lock_sha256); outcome and
    figures come from the launch.
    """
    case = attempt.case
    identity = {name: value for name, value in attempt.to_json().items() if name != "case"}
    return (
        Row(dict.fromkeys(NAMES))
        | identity
        | case.to_json()
        | {
            "schema_version": SCHEMA_VERSION,
            "case_id": case.case_id,
            "case_name": case.case_name,
            "comparison_id": case.comparison_id,
            "dims": canonical_json(dict(case.dims)),
            "provenance": "measured",
            "flags": [],
            "metrics": [],
        }
    )


def accepted(rows: Iterable[Row]) -> list[Row]:
    """Of each planned process the last try whose block is complete.

    A row of a rejected block counts only where no accepted one exists.
    """
    tries: dict[Place, list[Row]] = defaultdict(list)
    for row in rows:
        if Flag.INCOMPLETE_BLOCK not in row["flags"]:
            tries[row["case_id"], row["block"], row["replicate"], row["purpose"]].append(row)
    return [
        max(group, key=lambda row: (Flag.REJECTED_BLOCK not in row["flags"], row["retry"])) for group in tries.values()
    ]


def judged(rows: Iterable[Row]) -> list[Row]:
    """The accepted rows; what is wrong in one block is wrong in all of them.

    Only block 1 runs the whole gate: what it finds holds for the times of every other process of that case.
    """
    kept = accepted(rows)
    wrong = {row["case_id"] for row in kept if row["outcome"] == Outcome.WRONG}
    return [
        row | {"outcome": str(Outcome.WRONG)} if row["case_id"] in wrong and row["outcome"] == Outcome.OK else row
        for row in kept
    ]


def counting(rows: Iterable[Row], purpose: Purpose = Purpose.TIMED) -> list[Row]:
    """The judged rows of one purpose: those that are `ok` may be compared.

    Raises UserError where a comparison's rows are of two machines: they are never paired.
    """
    kept = [row for row in judged(rows) if row["purpose"] == purpose]
    machines: dict[str, set[str]] = {}
    for row in kept:
        if row["machine_id"] is not None:  # what never ran has none
            machines.setdefault(row["comparison_id"], set()).add(row["machine_id"])
    most = max(map(len, machines.values()), default=0)
    if most > 1:
        raise UserError(f"Rows of one comparison come from {most} machines; ratios pair runs of one machine only.")
    return kept


def unrun(plan: PlanFile | None, rows: Iterable[Row]) -> list[Row]:
    """A row for every planned attempt that has none in `rows`: unsupported, or not run."""
    present = {row.place for row in rows}
    missing: dict[Place, Row] = {}
    for attempt in plan.attempts if plan else ():
        row = empty_row(attempt)
        if plan and row.place not in present and row.place not in missing:
            reason = plan.reason(attempt.case)
            missing[row.place] = row | {
                "outcome": str(Outcome.UNSUPPORTED) if reason else NOT_RUN,
                "reason": reason or "No complete block has this process. Resume the set to run it.",
                "provenance": None,
            }
    return [*missing.values()]
