"""One planned attempt becomes one row, whatever becomes of its process."""

from __future__ import annotations

import datetime
import math
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import median

import pyarrow as pa

from suite.case import Attempt, Flag, Outcome, Purpose, canonical_json
from suite.launch import run_attempt
from suite.launch.engine import Engine
from suite.plan import Plan
from suite.protocol import FLOPS_PER_CORE_MAX, TOLERANCE, ZERO_GRADIENT
from suite.results.compare import samples
from suite.results.schema import NAMES, Row, empty_row
from suite.results.store import ResultSet
from suite.stacks.catalog import IMPORTS, STACKS
from suite.workloads.catalog import Workload
from suite.workloads.golden import digest_tolerance

JSON_COLUMNS = ("versions", "environment_facts")
# Outcomes that another block would only repeat, at the price of a timeout or a full memory each.
REPEATING = (Outcome.TIMEOUT, Outcome.OOM_HOST, Outcome.OOM_DEVICE, Outcome.OOM_COMPILE, Outcome.WRONG)


@dataclass
class Runner:
    """Runs attempts of one plan into one result set."""

    plan: Plan
    store: ResultSet
    workloads: dict[str, Workload]
    engines: Callable[[Attempt], Engine]
    machine_id: str
    cores: list[int]
    engine: str = "local"
    unpinned: bool = False  # an interpreter that no lock pins
    warmed: set[Engine] = field(default_factory=set)
    settled: dict[str, Row] = field(default_factory=dict)  # by case_id: what later blocks would only repeat
    losses: dict[str, list[float]] = field(default_factory=dict)  # by case_id: the gated process's
    first: dict[str, Row] = field(default_factory=dict)  # by comparison: the first row with digests of its tensors

    def remember(self, row: Row) -> None:
        """Learn from a row, of this run or of the one that is resumed."""
        if row["purpose"] == Purpose.TIMED and row["provenance"] == "measured":
            if row["outcome"] in REPEATING:
                self.settled[row["case_id"]] = row
            elif row["outcome"] == Outcome.OK and digests(row):
                self.first.setdefault(row["comparison_id"], row)
            if row["outcome"] == Outcome.OK and (row["relative_error"] is not None or digests(row)):
                self.losses[row["case_id"]] = losses(row)
                self.settled.pop(row["case_id"], None)  # --again has found otherwise

    def run(self, attempt: Attempt, again: bool = False) -> Row:
        """Unsupported and already settled cases need no process; `again` asks for one all the same."""
        reason = self.plan.reason(attempt.case)
        settled = None if again else self.settled.get(attempt.case.case_id)
        if reason is not None:
            row = self.blank(attempt) | {"outcome": str(Outcome.UNSUPPORTED), "reason": reason}
        elif settled is not None:
            row = self.blank(attempt) | inferred(settled)
        else:
            row = self.measure(attempt)
        self.save(attempt, row)
        self.remember(row)
        return row

    def blank(self, attempt: Attempt) -> Row:
        """The row before anything is known but who asks what, where and when."""
        stack = STACKS[attempt.case.stack]
        return empty_row(attempt) | {
            "machine_id": self.machine_id,
            "dialect": stack.dialect,
            "environment": stack.environment,
            "engine": self.engine,
            "started_at": datetime.datetime.now(datetime.UTC),
        }

    def measure(self, attempt: Attempt) -> Row:
        """Run the attempt's process in its environment; what it told, under our identity columns."""
        case, row = attempt.case, self.blank(attempt)
        known = {name for name, value in row.items() if value not in (None, [])} - {"started_at"}
        engine = self.engines(attempt)
        self.warm_up(row["environment"], engine)
        cache = self.cache_directory(attempt)
        try:
            told = run_attempt(
                attempt,
                engine=engine,
                folder=self.store.folder / "logs" / attempt.name,
                protocol=self.plan.protocol,
                cpus=self.cores[: case.threads],
                gate=attempt.block == 1 and attempt.purpose is Purpose.TIMED,
                workload_folder=self.workloads[case.workload].folder,
                cache_directory=cache,
                environment=row["environment"],
            )
        finally:
            if attempt.purpose is not Purpose.PRIME:
                shutil.rmtree(cache, ignore_errors=True)
        row |= {name: value for name, value in told.items() if name in NAMES and name not in known}
        for name in JSON_COLUMNS:
            row[name] = None if row[name] is None else canonical_json(row[name])
        self.judge_losses(row)
        self.judge_agreement(row)
        if self.unpinned:
            row["flags"] = [*row["flags"], str(Flag.UNPINNED)]
        if implausible(row):
            row["flags"] = [*row["flags"], str(Flag.IMPLAUSIBLE)]
        return row

    def warm_up(self, environment: str, engine: Engine) -> None:
        """One unmeasured import, so that the first measured process doesn't pay for a cold disk cache."""
        modules = IMPORTS.get(environment, ())
        if modules and engine not in self.warmed:
            engine.warm_up("; ".join(f"import {module}" for module in modules))
        self.warmed.add(engine)

    def cache_directory(self, attempt: Attempt) -> Path:
        """Empty and this process's own; a warm case finds what its prime left there."""
        name = f"b{attempt.block:02d}-{attempt.case.case_id[:12]}-r{attempt.replicate}-a{attempt.attempt}"
        folder = self.store.folder / "caches" / name
        if attempt.case.cache == "cold" or attempt.purpose is Purpose.PRIME:
            shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def judge_losses(self, row: Row) -> None:
        """The first losses of every process must be those of the one that passed the gate."""
        gated, own = self.losses.get(row["case_id"], []), losses(row)
        tolerance = 2 * TOLERANCE[row["precision"]]  # both may be off, in opposite directions
        for step, (a, b) in enumerate(zip(own, gated, strict=False), 1):
            if row["outcome"] == Outcome.OK and not math.isclose(a, b, rel_tol=tolerance):
                row["outcome"] = str(Outcome.WRONG)
                row["reason"] = f"loss of step {step} is {a!r}; the process that passed the gate had {b!r}"

    def judge_agreement(self, row: Row) -> None:
        """Where no golden file says what is right, stacks must at least agree with the first that ran."""
        first = self.first.get(row["comparison_id"])
        if row["outcome"] != Outcome.OK or first is None or not digests(row):
            return
        spec = self.workloads[row["workload"]].spec
        allowed = partial(digest_tolerance, spec, row["precision"])
        name, error = disagreement(digests(row), digests(first), allowed)
        row["relative_error"] = max(error, row["relative_error"] or 0.0)
        if not error <= allowed(name):
            row["outcome"] = str(Outcome.WRONG)
            row["reason"] = f"{name}: relative error {error:.2g} against {first['stack']}, which ran first"

    def save(self, attempt: Attempt, row: Row) -> None:
        """Write the row; figures that don't fit the schema make it an error that says so."""
        try:
            self.store.write_attempt(attempt.name, row)
        except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError) as broken:
            reason = f"the worker's events hold a value that the schema can't: {broken}"
            row.update(self.blank(attempt) | {"outcome": str(Outcome.ERROR), "reason": reason})
            self.store.write_attempt(attempt.name, row)


def implausible(row: Row) -> bool:
    """Whether a CPU's steady calls are faster than its cores can be."""
    taken = samples(row, "synced")
    if row["target"] != "cpu" or not row["flops"] or not taken:
        return False
    return bool(row["flops"] / median(taken) > FLOPS_PER_CORE_MAX * row["threads"])


def losses(row: Row) -> list[float]:
    """The first losses that a process reported."""
    return next((metric["values"] for metric in row["metrics"] or [] if metric["name"] == "loss"), [])


def digests(row: Row) -> dict[str, list[float]]:
    """(norm, projection) of a model's tensors by name; only a gated process without a golden file has them."""
    return {metric["name"]: metric["values"] for metric in row["metrics"] or [] if metric["kind"] == "digest"}


def disagreement(
    ours: dict[str, list[float]], theirs: dict[str, list[float]], allowed: Callable[[str], float]
) -> tuple[str, float]:
    """The tensor in which two stacks differ most for what is allowed, and by how much of its norm."""
    largest = max((values[0] for name, values in theirs.items() if name.startswith("gradient/")), default=0.0)
    worst, most, of_norm = "", 0.0, 0.0
    for name, (norm, projection) in theirs.items():
        if name.startswith("gradient/") and norm < ZERO_GRADIENT * largest:
            continue  # zero but for rounding
        found = ours.get(name, [math.nan, math.nan])
        error = max(abs(found[0] - norm), abs(found[1] - projection)) / (norm or 1.0)
        if not error / allowed(name) <= most:
            worst, most, of_norm = name, error / allowed(name), error
    return worst, of_norm


def inferred(source: Row) -> Row:
    """What an earlier block's outcome says of a later one."""
    where = f"block {source['block']}, attempt {source['attempt']}"
    return {
        "outcome": source["outcome"],
        "reason": f"{source['reason']} ({where})",
        "phase": source["phase"],
        "provenance": "inferred",
        "inferred_from": f"{source['case_name']}, {where}",
    }
