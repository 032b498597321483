"""Rows, one for each attempt: typed access to their columns, and the rules that decide which rows count. No other
module has such rules."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import compress
from statistics import median
from typing import Any, TypeVar

import msgspec

from suite.case import Attempt, Case, Flag, Outcome, Purpose, canonical_json, function_name, stack_name
from suite.errors import UserError, check_known
from suite.protocol import OTHERS_SHARE_MAX
from suite.sets.plan import PlanFile
from suite.sets.schema import NAMES, SCHEMA_VERSION
from suite.stacks.names import attempt_name, case_name

CASE = tuple(name.rstrip("_") for name in Case.__dataclass_fields__)  # the columns of the case
CLOCKS = ("synced", "dispatch", "pipelined", "fetch", "first", "second")
LEAST_SHARE = 0.05  # a library is named on the page if it takes this share of a step's known time or more
SYNCED = frozenset({"synced_seconds", "synced_warmup", "synced_others", "synced_rounds"})  # what Row.median() reads
HOST_PEAKS = ("host_peak_build_bytes", "host_peak_step_bytes")
JUDGED = (Outcome.DIFFER, Outcome.UNSUPPORTED, Outcome.WRONG)  # what holds for a whole case, the gravest last
NOT_RUN = "not run"  # the outcome of a planned attempt that has no row
IMPLAUSIBLE = str(Flag.IMPLAUSIBLE)  # readers see this outcome for an `ok` row whose case has the flag
# The reason of a row that doesn't say which limit it broke.
TOO_FAST = "its steps take less time than this machine needs for them, so they can't have computed what they should"
T = TypeVar("T")
ProcessKey = tuple[str, int, int, str]  # (case_id, block, replicate, purpose)


class Row(dict[str, Any]):
    """One attempt: its values by column name (suite/sets/schema.py lists them); None is unknown."""

    def __or__(self, columns: Mapping[str, Any]) -> Row:  # type: ignore[override]
        return Row({**self, **columns})

    @property
    def case(self) -> Case:
        return Case.of_row(self)

    @property
    def attempt_name(self) -> str:
        """The name of the process's folder in a set's logs/, and of its other files."""
        identity = {name: self[name] for name in Attempt.__dataclass_fields__ if name != "case"}
        return attempt_name(Attempt(**identity | {"case": self.case, "purpose": Purpose(self["purpose"])}))

    @property
    def stack_name(self) -> str:
        """The stack as people write it: `jax_jit`, `jax_jit@nightly` for a variant, `jax_jit:naive` for an
        implementation."""
        return stack_name(self["stack"], self["variant"], self["implementation"])

    @property
    def function(self) -> str:
        return function_name(self.text("dialect"), self.text("implementation"))

    @property
    def comparison_name(self) -> str:
        return self.case.comparison_name

    @property
    def place(self) -> ProcessKey:
        """The key of the planned process that the attempt belongs to; all attempts at the process share it."""
        return self["case_id"], self["block"], self["replicate"], str(self["purpose"])

    @property
    def outcome(self) -> str:
        """How the attempt ended: an `Outcome`, `NOT_RUN`, or in counted rows `IMPLAUSIBLE`."""
        return self.text("outcome")

    @property
    def flags(self) -> tuple[str, ...]:
        return tuple(self.get("flags") or ())

    def samples(self, clock: str = "synced") -> Sequence[float]:
        """Returns the samples of one clock in seconds, without warm-up. Samples that other programs disturbed are left
        out, unless all were disturbed. Raises UserError for an unknown clock."""
        value = self[f"{check_clock(clock)}_seconds"]
        if clock in ("first", "second"):
            return [] if value is None else [value]
        chained = clock in ("synced", "dispatch")
        start = self["synced_warmup"] or 0 if chained else 0
        samples: Sequence[float] = (value or [])[start:]
        others = (self[f"{'synced' if chained else clock}_others"] or [])[start:]
        if chained and self["synced_rounds"]:
            in_turns = [round_ > 0 for round_ in self["synced_rounds"][start:]]
            samples, others = [*compress(samples, in_turns)], [*compress(others, in_turns)]
        if not (samples and others):
            return samples
        return [*compress(samples, undisturbed(others))] or samples

    def round_medians(self, clock: str) -> Mapping[int, float]:
        """Returns {round: median of the turn's samples in seconds}; empty for a process that was sampled alone. Turns
        that other programs disturbed are left out, unless all were disturbed."""
        if clock not in ("synced", "dispatch") or not self["synced_rounds"]:
            return {}
        numbers, samples = self["synced_rounds"], self[f"{clock}_seconds"]
        clean = undisturbed(self["synced_others"] or [None] * len(samples))
        turns: dict[bool, dict[int, list[float]]] = {True: defaultdict(list), False: defaultdict(list)}
        for number, seconds, is_clean in zip(numbers, samples, clean, strict=True):
            if number:
                turns[is_clean][number].append(seconds)
        return {number: median(taken) for number, taken in (turns[True] or turns[False]).items()}

    def median(self, clock: str = "synced") -> float | None:
        samples = self.samples(clock)
        return median(samples) if samples else None

    def text(self, name: str) -> str:
        value = self.get(name)
        return "" if value is None else str(value)

    def number(self, name: str) -> float | None:
        """Returns a column as a float; None where unknown or not finite."""
        value = self.get(name)
        return None if value is None or not math.isfinite(value) else float(value)

    def decoded(self, name: str, kind: type[T]) -> T | None:
        """Returns the content of a JSON column as a value of a type, of which the column is (row_check.TYPES); None
        where unknown."""
        text = self.get(name)
        return msgspec.json.decode(text, type=kind) if text else None

    def mapping(self, name: str) -> Mapping[str, Any]:
        """Returns the object of a JSON column; empty where unknown or not an object."""
        loaded = json.loads(self.get(name) or "{}")
        return loaded if isinstance(loaded, dict) else {}

    def entries(self, name: str) -> list[Any]:
        """Returns the list of a JSON column; empty where unknown or not a list."""
        loaded = json.loads(self.get(name) or "[]")
        return loaded if isinstance(loaded, list) else []

    @property
    def reported_device(self) -> str:
        """Returns the device's name as the framework reported it; empty if it didn't."""
        told = self.mapping("environment_facts").get("device")
        return str(told.get("device") or "") if isinstance(told, dict) else ""

    @property
    def metrics(self) -> list[dict[str, Any]]:
        """The further figures of a workload: name, unit, kind and values of each."""
        return [metric | {"values": [*map(float, metric["values"])]} for metric in self.entries("metrics")]

    @property
    def peak_bytes(self) -> float | None:
        """The peak memory in bytes of this process and its children: device memory on an accelerator, anonymous
        memory on a CPU, where the kernel can drop pages of files when memory is short. None if unknown.

        On a CPU it is the greater of two lower bounds. One is the process's own counter, which is exact for the process
        but misses compilers that have ended. The other comes from samples of its cgroup. The counter is read before the
        gate, but the cgroup is sampled to the end: in a gated process it includes the memory of the reference, so it
        isn't used there.
        """
        if self["target"] != "cpu":
            return self.number("device_peak_bytes")
        peaks = [peak for name in HOST_PEAKS if (peak := self.number(name)) is not None]
        files = self.number("host_file_bytes")
        if not peaks or files is None:
            return None
        is_gated = self.get("relative_error") is not None
        sampled = None if is_gated else self.number("cgroup_anonymous_bytes")
        return max(max(peaks) - files, sampled or 0.0)

    @property
    def limit_bytes(self) -> float | None:
        """The bytes that `peak_bytes` can't exceed: the device's memory, or a CPU's limit; None if unknown."""
        return self.number("limit_memory_bytes" if self["target"] == "cpu" else "device_total_bytes")

    @property
    def kernels(self) -> str:
        """The libraries and instruction sets that did the work, as the explain process recorded them, those with most
        time first: `MKL AVX2; rest ATen AVX512`; empty if unknown. Those under `LEAST_SHARE` are left out."""
        used = self.entries("kernels")
        seconds = sum(kernel["seconds"] or 0.0 for kernel in used)
        shown = [kernel for kernel in used if kernel["seconds"] is None or kernel["seconds"] >= LEAST_SHARE * seconds]
        words = [f"{kernel['library']} {kernel['isa'] or ''}".strip() for kernel in shown]
        rest = ["rest " if kernel["calls"] is None and len(shown) > 1 else "" for kernel in shown]
        return "; ".join(map("".join, zip(rest, words, strict=True)))


def metrics_json(metrics: Iterable[Mapping[str, Any]]) -> str:
    """Returns the text of the column metrics. Values that aren't finite are strings, since JSON has no numbers for
    them."""
    return canonical_json(
        [{**each, "values": [v if math.isfinite(v) else str(v) for v in each["values"]]} for each in metrics]
    )


def undisturbed(others: Iterable[float | None]) -> list[bool]:
    """Returns whether each sample counts, by the share of the cores' time that other programs took during it."""
    return [not (share or 0) > OTHERS_SHARE_MAX for share in others]


def check_clock(clock: str) -> str:
    """Returns the clock's name. Raises UserError, with the nearest name, for an unknown clock."""
    check_known("clock", clock, CLOCKS)
    return clock


def empty_row(attempt: Attempt) -> Row:
    """Returns a row for an attempt, with the columns of its identity and case; nearly every other column is None.

    The caller adds machine_id, dialect, environment, engine and lock_sha256; the launch adds outcome and figures.
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
            "case_name": case_name(case),
            "comparison_id": case.comparison_id,
            "dims": canonical_json(dict(case.dims)),
            "provenance": "measured",
            "flags": [],
        }
    )


def accepted(rows: Iterable[Row]) -> list[Row]:
    """Returns the row that counts for each planned process: its last attempt in a complete block.

    An attempt in a rejected block counts only if the process has no attempt in an accepted block.
    """
    attempts: dict[ProcessKey, list[Row]] = defaultdict(list)
    for row in rows:
        if Flag.INCOMPLETE_BLOCK not in row["flags"]:
            attempts[row["case_id"], row["block"], row["replicate"], row["purpose"]].append(row)
    return [
        max(group, key=lambda row: (Flag.REJECTED_BLOCK not in row["flags"], row["retry"]))
        for group in attempts.values()
    ]


def counted(rows: Iterable[Row]) -> list[Row]:
    """Returns the rows that count, which is decided once, as a set is loaded: the accepted ones, with the outcome that
    holds for their whole case. A case that is `wrong`, `differ`, `unsupported` or
    `implausible` in one block is so in all of them.

    Only block 1 runs the whole gate, so its result holds for every other process of the case. A process that was faster
    than the machine can be has not done the work, whatever the gate says: none of the case's times is compared.
    """
    kept = held(accepted(rows))
    too_fast = (ended(row) for row in kept if Flag.IMPLAUSIBLE in row.flags)
    return as_judged(kept, {row["case_id"]: {"outcome": IMPLAUSIBLE, "reason": row.text("reason")} for row in too_fast})


def held(rows: Sequence[Row]) -> list[Row]:
    """Returns all attempts, as results.parquet has them: what is judged of a case in an accepted row, `wrong`, `differ`
    or `unsupported` (two calls gave two results), holds for every row of it that ended `ok`."""
    judged_ = (row for row in accepted(rows) if row["outcome"] in JUDGED)
    worst = sorted(judged_, key=lambda row: JUDGED.index(row["outcome"]))
    names = ("outcome", "reason", "phase")
    return as_judged(rows, {row["case_id"]: {name: row[name] for name in names} for row in worst})


def as_judged(rows: Iterable[Row], ends: Mapping[str, Mapping[str, Any]]) -> list[Row]:
    return [
        row | ends[row["case_id"]] if row["outcome"] == Outcome.OK and row["case_id"] in ends else row for row in rows
    ]


def ended(row: Row) -> Row:
    """Returns a row with the outcome that readers see: `implausible` for an `ok` process with this flag."""
    if row.outcome != Outcome.OK or Flag.IMPLAUSIBLE not in row.flags:
        return row
    return row | {"outcome": IMPLAUSIBLE, "reason": row["reason"] or TOO_FAST}


def counted_timed(rows: Iterable[Row]) -> list[Row]:
    """Returns the timed ones of a set's `counted` rows; those that ended `ok` may be compared.

    Raises UserError if the rows of one comparison come from several machines: they are never paired.
    """
    timed = [row for row in rows if row["purpose"] == Purpose.TIMED]
    machines: dict[str, set[str]] = {}
    for row in timed:
        if row["machine_id"] is not None:  # a process that never ran has none
            machines.setdefault(row["comparison_id"], set()).add(row["machine_id"])
    most = max(map(len, machines.values()), default=0)
    if most > 1:
        raise UserError(f"Rows of one comparison come from {most} machines; ratios pair runs of one machine only.")
    return timed


def unrun(file: PlanFile | None, rows: Iterable[Row]) -> list[Row]:
    """Returns a row for every planned process that has none in `rows`: unsupported, or not run."""
    present = {row.place for row in rows}
    missing: dict[ProcessKey, Row] = {}
    for attempt in file.attempts if file else ():
        row = empty_row(attempt)
        if file and row.place not in present and row.place not in missing:
            reason = file.plan.reason(attempt.case)
            missing[row.place] = row | {
                "outcome": str(Outcome.UNSUPPORTED) if reason else NOT_RUN,
                "reason": reason or "No complete block has this process. Resume the set to run it.",
                "provenance": None,
            }
    return [*missing.values()]
