"""One planned attempt becomes one row, whatever becomes of its process."""

from __future__ import annotations

import dataclasses
import datetime
import json
import math
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median
from typing import Any

import pyarrow as pa

from suite.case import OUT_OF_MEMORY, Attempt, Case, Flag, Outcome, Purpose, canonical_json
from suite.errors import UserError
from suite.ir import files, summary
from suite.launch import run_attempt
from suite.launch.attempt import run_reader
from suite.launch.engine import Engine
from suite.machine.roofline import MARGIN, Roofline
from suite.plan.memory import needs_no_less
from suite.plan.plan import Plan
from suite.protocol import FLOPS_PER_CORE_MAX
from suite.reference.floor import floor
from suite.results.store.result_set import ResultSet
from suite.results.store.rows import Row, empty_row
from suite.results.store.schema import NAMES
from suite.run.agreement import Agreement
from suite.stacks.catalog import IMPORTS, STACKS, environment_of
from suite.workloads.catalog import Workload

JSON_COLUMNS = ("versions", "environment_facts", "kernels", "holders", "programs", "profile", "behaviour")
READER = "jax_jit"  # in whose environment programs are read: it has XLA's own bindings
# Outcomes that another block would only repeat, at the price of a timeout or a full memory each.
REPEATING = (*OUT_OF_MEMORY, Outcome.TIMEOUT, Outcome.WRONG)


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
    flags: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # of variants, by environment
    unpinned: bool = False  # an interpreter that no lock pins
    roofline: Roofline | None = None  # what the machine was seen to reach
    warmed: set[Engine] = field(default_factory=set)
    settled: dict[str, Row] = field(default_factory=dict)  # by case_id: what later blocks would only repeat
    full: list[Row] = field(default_factory=list)  # memory processes that ran out of it

    def __post_init__(self) -> None:
        self.agreement = Agreement(self.workloads)

    def remember(self, row: Row) -> None:
        """Learn from a row, of this run or of the one that is resumed."""
        if row["purpose"] == Purpose.MEMORY and row["provenance"] == "measured" and row["outcome"] in OUT_OF_MEMORY:
            self.full.append(row)
        if row["purpose"] in (Purpose.TIMED, Purpose.MEMORY) and row["provenance"] == "measured":
            if row["outcome"] in REPEATING:
                self.settled[row["case_id"]] = row
            elif row["outcome"] == Outcome.OK:
                self.agreement.remember(row)
                if row["block"] == 1:
                    self.settled.pop(row["case_id"], None)  # --again has found otherwise

    def run(self, attempt: Attempt, again: bool = False) -> Row:
        """Unsupported and already settled cases need no process; `again` asks for one all the same."""
        reason = self.plan.reason(attempt.case)
        settled = None if again else self.settled.get(attempt.case.case_id) or self.certain(attempt)
        too_large = None if again else self.plan.too_large(attempt.case)
        if reason is not None:
            row = self.blank(attempt) | {"outcome": str(Outcome.UNSUPPORTED), "reason": reason}
        elif too_large is not None:
            oom = Outcome.OOM_HOST if attempt.case.target == "cpu" else Outcome.OOM_DEVICE
            row = self.blank(attempt) | {"outcome": str(oom), "reason": too_large, "provenance": "predicted"}
        elif settled is not None:
            row = self.blank(attempt) | inferred(settled, attempt.case)
        else:
            row = self.measure(attempt)
        self.save(attempt, row)
        if row["outcome"] != Outcome.UNSUPPORTED:
            self.store.make_latest()  # not before: a set without a measurement isn't worth pointing at
        self.remember(row)
        return row

    def certain(self, attempt: Attempt) -> Row | None:
        """Of a memory process: the row of a case that ran out of memory and needs no more than this one, if any."""
        if attempt.purpose is not Purpose.MEMORY or self.plan.exhaustive:
            return None
        return next((row for row in self.full if needs_no_less(attempt.case, row.case)), None)

    def blank(self, attempt: Attempt) -> Row:
        """The row before anything is known but who asks what, where and when, and the floor of its memory."""
        stack, workload = STACKS[attempt.case.stack], self.workloads[attempt.case.workload]
        case = attempt.case
        least = {} if workload.is_probe else dataclasses.asdict(floor(workload.spec, case.dims, case.pass_))
        return empty_row(attempt) | {
            "machine_id": self.machine_id,
            "dialect": stack.dialect,
            "environment": environment_of(stack.name, attempt.case.variant),
            "engine": self.engine,
            "started_at": datetime.datetime.now(datetime.UTC),
            **{f"floor_{part}_bytes": size for part, size in least.items()},
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
                folder=self.store.log_folder(attempt),
                protocol=self.plan.protocol,
                cpus=self.cores[: case.threads],
                gate=self.is_to_be_gated(attempt),
                workload_folder=self.workloads[case.workload].folder,
                cache_directory=cache,
                environment=row["environment"],
                flags=self.flags.get(row["environment"], {}),
            )
        finally:
            if attempt.purpose is not Purpose.PRIME:
                shutil.rmtree(cache, ignore_errors=True)
        row |= {name: value for name, value in told.items() if name in NAMES and name not in known}
        if attempt.purpose is Purpose.IR and row["outcome"] == Outcome.OK:
            row |= self.read_programs(attempt)
        if attempt.purpose is Purpose.PROFILE and row["outcome"] == Outcome.OK and row["profile"] is None:
            row |= self.read_profile(attempt)
        for name in JSON_COLUMNS:
            row[name] = None if row[name] is None else canonical_json(row[name])
        if attempt.purpose is Purpose.TIMED:
            self.agreement.judge(row)
        if self.unpinned:
            row["flags"] = [*row["flags"], str(Flag.UNPINNED)]
        if implausible(row, self.roofline):
            row["flags"] = [*row["flags"], str(Flag.IMPLAUSIBLE)]
        return row

    def read_programs(self, attempt: Attempt) -> dict[str, Any]:
        """What the process has left of its programs, read where XLA's bindings are and kept in the set."""
        captured = self.store.log_folder(attempt) / files.FOLDER
        try:
            programs = summary.read(self.read(attempt, "suite.ir.analyse", captured, files.SUMMARY))
        except UserError as refused:
            return {"outcome": str(Outcome.ERROR), "reason": f"what it hands to its compiler {refused}"}
        if not programs:
            return {"outcome": str(Outcome.ERROR), "reason": "its compiler left no program in three steps"}
        self.store.keep_programs(attempt, captured)
        return {"programs": [program.to_json() for program in programs]}

    def read_profile(self, attempt: Attempt) -> dict[str, Any]:
        """The trace that the process has left, read likewise; it is too large to be kept."""
        traced = self.store.log_folder(attempt) / files.PROFILE
        if not (traced / files.ASKED).exists():
            return {"outcome": str(Outcome.UNSUPPORTED), "reason": "it has no profiler"}
        try:
            told = json.loads(self.read(attempt, "suite.ir.attribute", traced, files.ATTRIBUTED))
        except UserError as refused:
            return {"outcome": str(Outcome.ERROR), "reason": f"its profiler's trace {refused}"}
        shutil.rmtree(traced)
        return {"profile": told}

    def read(self, attempt: Attempt, module: str, folder: Path, answer: str) -> str:
        """What a program of the reader's environment makes of a folder that a process has left. Raises UserError."""
        engine = self.engines(replace(attempt, case=replace(attempt.case, stack=READER, variant="")))
        return run_reader(module, folder, answer, engine=engine, protocol=self.plan.protocol, cpus=self.cores)

    def is_to_be_gated(self, attempt: Attempt) -> bool:
        """The first block's processes; of a case whose process there was lost, the next."""
        proven = self.agreement.is_proven(attempt.case.case_id)
        return attempt.purpose is Purpose.TIMED and (attempt.block == 1 or not proven)

    def warm_up(self, environment: str, engine: Engine) -> None:
        """One unmeasured import, so that the first measured process doesn't pay for a cold disk cache."""
        modules = IMPORTS.get(environment.partition("@")[0], ())
        if modules and engine not in self.warmed:
            engine.warm_up("; ".join(f"import {module}" for module in modules))
        self.warmed.add(engine)

    def cache_directory(self, attempt: Attempt) -> Path:
        """Empty and this process's own; a warm case finds what its prime left there."""
        folder = self.store.cache_folder(attempt)
        if attempt.case.cache == "cold" or attempt.purpose is Purpose.PRIME:
            shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def save(self, attempt: Attempt, row: Row) -> None:
        """Write the row; figures that don't fit the schema make it an error that says so."""
        try:
            self.store.write_attempt(attempt.name, row)
        except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError) as broken:
            reason = f"the worker's events hold a value that the schema can't: {broken}"
            row.update(self.blank(attempt) | {"outcome": str(Outcome.ERROR), "reason": reason})
            self.store.write_attempt(attempt.name, row)


def implausible(row: Row, roofline: Roofline | None) -> bool:
    """Whether a CPU's steady calls are faster than they can be: over the roof of their precision, or the constant
    where that has none, or over what memory brings in that time."""
    taken, roofs = row.steady, roofline.flops_per_second if roofline else {}
    if row["target"] != "cpu" or not taken:
        return False
    constant = FLOPS_PER_CORE_MAX.get(row["precision"], math.inf) * row["threads"]
    roof = roofs[row["precision"]] * MARGIN if row["precision"] in roofs else constant
    moving = roofline.moving_seconds(row["bytes_floor"] or 0) / MARGIN if roofline else 0.0
    return bool(median(taken) < max((row["flops"] or 0) / roof, moving))


def inferred(source: Row, case: Case) -> dict[str, Any]:
    """What an earlier process's outcome says of a later one: of this case in an earlier block, or of a smaller case."""
    where = f"block {source['block']}, retry {source['retry']}"
    reason = f"{source['reason']} ({where})"
    if source["case_id"] != case.case_id:
        reason = f"needs no less than {source['case_name']}: {source['reason']}"
    return {
        "outcome": source["outcome"],
        "reason": reason,
        "phase": source["phase"],
        "provenance": "inferred",
        "inferred_from": f"{source['case_name']}, {where}",
    }
