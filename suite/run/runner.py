"""Turns one planned attempt into one row, however its process ends."""

from __future__ import annotations

import dataclasses
import datetime
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import RLock
from typing import Any

from suite.case import OUT_OF_MEMORY, Attempt, Case, Flag, Outcome, Purpose, canonical_json
from suite.environments import revisions
from suite.guard.places import placeless, places_of
from suite.ir import files
from suite.ir.summary import Program
from suite.launch.attempt import columns, prepare
from suite.launch.engine import ROOT, Engine, ProcessRequest
from suite.launch.process import Exit, ProcessLimits
from suite.machine import facts
from suite.machine.roofline import Roofline
from suite.plan.memory import needs_no_less
from suite.reference.floor import floor
from suite.results.clocks import contradiction, fresh_seconds
from suite.results.limits import SpeedLimit, exceeded
from suite.run import sudden
from suite.run.agreement import Agreement
from suite.run.ports import Ported, Ports
from suite.run.predictions import Compiler, predict, source_case
from suite.run.reading import DEFAULT_READERS, Reading
from suite.sets.plan import Plan
from suite.sets.result_set import ResultSet
from suite.sets.rows import ProcessKey, Row, empty_row, metrics_json
from suite.sets.schema import NAMES
from suite.stacks.catalog import IMPORTS, STACKS, environment_of
from suite.stacks.names import attempt_name
from suite.workloads.catalog import Workload

OBSERVED = ("kernels", "holders", "programs", "profile", "behaviour", "prediction")
JSON_COLUMNS = ("versions", "environment_facts", *OBSERVED, "result_types")
# Outcomes that another block would only repeat, each time at the price of a timeout or a full memory.
REPEATING = (*OUT_OF_MEMORY, Outcome.TIMEOUT, Outcome.WRONG)


@dataclass(frozen=True, slots=True)
class PreparedProcess:
    """An attempt whose process can be launched. `blank` is its row before anything but its start is known."""

    attempt: Attempt
    engine: Engine
    request: ProcessRequest
    blank: Row


@dataclass
class Runner:
    """Runs attempts of one plan into one result set."""

    plan: Plan
    store: ResultSet
    workloads: dict[str, Workload]
    engines: Callable[[str], Engine]  # by environment
    machine_id: str
    cores: list[int]
    engine: str = "local"
    flags: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # of variants, by environment
    unpinned: bool = False  # an interpreter that no lock pins
    readers: tuple[tuple[str, ...], str] = DEFAULT_READERS  # who reads programs and profiles
    roofline: Roofline | None = None  # what the machine was seen to reach
    again: Callable[[], Roofline | None] | None = None  # measures once more what the machine reaches
    warmed: set[Engine] = field(default_factory=set)
    settled: dict[str, Row] = field(default_factory=dict)  # rows that later blocks would only repeat, by case_id
    captured: dict[str, Row] = field(default_factory=dict)  # rows of processes that kept programs, by case_id
    differing: set[ProcessKey] = field(default_factory=set)  # places of rows that others contradict without a majority
    full: list[Row] = field(default_factory=list)  # rows of memory processes that ran out of memory
    fresh: dict[str, list[float]] = field(default_factory=dict)  # seconds of checked steps, by case_id
    ports: dict[str, Ported] = field(default_factory=dict)  # by question, dims and pass
    replicates: dict[tuple[int, str], int] = field(default_factory=dict)  # the last replicate, by block and case_id

    def __post_init__(self) -> None:
        self.lock = RLock()  # for all but the processes themselves, some of which run at once
        self.agreement = Agreement(self.workloads)
        self.compiler = Compiler(self.plan.protocol, self.cores)
        self.reading = Reading(self.engines, self.plan.protocol, self.cores, *self.readers)

    def remember(self, row: Row) -> None:
        """Keeps what later attempts need to know of a row, from this run or from the one that is resumed."""
        place = row["block"], row["case_id"]
        self.replicates[place] = max(row["replicate"], self.replicates.get(place, 0))
        if row["purpose"] == Purpose.IR:
            self.captured[row["case_id"]] = row
        if row["purpose"] == Purpose.MEMORY and row["provenance"] == "measured" and row["outcome"] in OUT_OF_MEMORY:
            self.full.append(row)
        if row["purpose"] in (Purpose.TIMED, Purpose.MEMORY) and row["provenance"] == "measured":
            if row["outcome"] in REPEATING:
                self.settled[row["case_id"]] = row
            elif row["outcome"] == Outcome.OK:
                self.agreement.remember(row)
                self.fresh |= {row["case_id"]: seconds} if (seconds := fresh_seconds(row)) else {}
                if row["block"] == 1:
                    self.settled.pop(row["case_id"], None)  # a process that --again repeated ended `ok` this time

    def run(self, attempt: Attempt, again: bool = False) -> Row:
        """Writes the row of an attempt and returns it. A case that is unsupported or settled needs no process; with
        `again`, a settled case is run too."""
        with self.lock:
            row = self.without_process(attempt, again)
        row = self.measure(attempt) if row is None else row
        with self.lock:
            return self.keep(attempt, row)

    def without_process(self, attempt: Attempt, again: bool = False) -> Row | None:
        """Returns the row of a case that is unsupported, predicted to be too large, or settled by an earlier process;
        None for a case that needs a process."""
        reason = self.plan.reason(attempt.case)
        if reason is not None:
            return self.blank(attempt) | {"outcome": str(Outcome.UNSUPPORTED), "reason": reason}
        if end := self.ported(attempt.case).ends.get(STACKS[attempt.case.stack].dialect):
            return self.blank(attempt) | {"outcome": str(end[0]), "reason": end[1]}
        if again:
            return None
        too_large = self.plan.too_large(attempt.case)
        if too_large is not None:
            oom = Outcome.OOM_HOST if attempt.case.target == "cpu" else Outcome.OOM_DEVICE
            return self.blank(attempt) | {"outcome": str(oom), "reason": too_large, "provenance": "predicted"}
        settled = self.settled.get(attempt.case.case_id) or self.certain(attempt)
        return None if settled is None else self.blank(attempt) | inferred(settled, attempt.case)

    def keep(self, attempt: Attempt, row: Row) -> Row:
        self.save(attempt, row)
        if row["outcome"] != Outcome.UNSUPPORTED:
            self.store.make_latest()  # not before: a set without a measurement isn't worth pointing at
        self.remember(row)
        return row

    def contradict(self, attempts: Iterable[Attempt]) -> list[Row]:
        """Adds a row for each case of a comparison that has passed and that others contradict: `wrong` where a majority
        does, inferred from the others' rows; `differ` where there is none, with the times that its process took.
        `attempts` are the attempts of the comparison, with the number of a further retry. Returns the new rows."""
        rows = []
        for attempt in attempts:
            case_id = attempt.case.case_id
            known = case_id in self.settled or attempt.purpose is not Purpose.TIMED
            end = None if known else self.agreement.contradicted(attempt.case.comparison_id).get(case_id)
            if end is None:
                continue
            outcome, reason, passed = end
            verdict = {"outcome": str(outcome), "reason": reason, "phase": "gate"}
            if outcome is Outcome.DIFFER:  # its other blocks run: their times are shown, without a verdict
                if passed.place in self.differing or passed.place != empty_row(attempt).place:
                    continue
                row = passed | {"retry": attempt.retry, "position": attempt.position} | verdict
                self.differing.add(passed.place)
            else:
                inferred_from = {"provenance": "inferred", "inferred_from": "digests of the other dialects"}
                row = self.blank(attempt) | verdict | inferred_from
                self.settled[case_id] = row
            self.save(attempt, row)
            rows.append(row)
        return rows

    def ported(self, case: Case) -> Ported:
        """Returns what is found of the models of a case's question, which is looked at once."""
        question = self.workloads[case.workload]
        if not question.has_ports:
            return Ported()
        key = canonical_json([case.workload, case.dims, case.pass_])
        if key not in self.ports:
            of: dict[str, Case] = {}
            for other in (planned.case for planned in self.plan.cases if not planned.unsupported):
                if (other.workload, other.dims, other.pass_) == (case.workload, case.dims, case.pass_):
                    of.setdefault(STACKS[other.stack].dialect, other)
            engines = {dialect: self.engines(environment_of(each.stack, each.variant)) for dialect, each in of.items()}
            ports = Ports(engines.__getitem__, self.cores, self.plan.protocol.timeout_seconds)
            folder = self.store.folder / "ports" / f"{case.workload}-{case.pass_}-{len(self.ports)}"
            self.ports[key] = ports.look(question, of, folder)
        return self.ports[key]

    def certain(self, attempt: Attempt) -> Row | None:
        """Returns the row of a case that ran out of memory although it needs no more than this one, so that this one
        will too. None if there is none, and for processes that don't measure memory."""
        if attempt.purpose is not Purpose.MEMORY or self.plan.exhaustive:
            return None
        grows = self.workloads[attempt.case.workload].grows
        return next((row for row in self.full if needs_no_less(attempt.case, row.case, grows)), None)

    def blank(self, attempt: Attempt) -> Row:
        case = attempt.case
        stack, workload = STACKS[case.stack], self.workloads[case.workload]
        least = {} if workload.is_probe else dataclasses.asdict(floor(workload, case.dims, case.pass_))
        return empty_row(attempt) | {
            "machine_id": self.machine_id,
            "dialect": stack.dialect,
            "environment": environment_of(stack.name, attempt.case.variant),
            "engine": self.engine,
            "provenance": "predicted" if attempt.purpose is Purpose.PREDICT else "measured",
            "started_at": datetime.datetime.now(datetime.UTC),
            **{f"floor_{part}_bytes": size for part, size in least.items()},
        }

    def measure(self, attempt: Attempt) -> Row:
        if attempt.purpose is Purpose.PREDICT:
            source = source_case(attempt.case, self.store.plan_file.target)
            captured = self.captured.get(source.case_id)
            return predict(self.store, self.compiler, attempt, self.blank(attempt), captured)
        with self.lock:
            process = self.prepare(attempt)
        try:
            ended = process.engine.launch(process.request)
            with self.lock:
                return self.row(process, ended)
        finally:
            with self.lock:  # of two processes at once
                self.clear(process)

    def prepare(self, attempt: Attempt, limits: ProcessLimits | None = None, company: int = 1) -> PreparedProcess:
        """Returns a process that can be started: its environment was imported once, its folders are empty."""
        self.workloads[attempt.case.workload].check_unchanged(self.store.plan_file.code.get(attempt.case.workload, {}))
        sudden.starts(self.store.folder, attempt)
        case, row = attempt.case, self.blank(attempt)
        engine = self.engines(row["environment"])
        if company == 1:  # in company, the time of an import is no result
            self.warm_up(row["environment"], engine)
        unproven = attempt.block == 1 or case.case_id not in self.agreement.proofs
        request = prepare(
            attempt,
            folder=self.store.log_folder(attempt),
            protocol=self.plan.protocol,
            cpus=sorted(facts.apart(self.cores)[: case.threads]),
            gate=attempt.purpose is Purpose.TIMED and unproven,
            workload_folder=self.workloads[case.workload].folder,
            data_files=self.workloads[case.workload].data_files(case.dims),
            cache_directory=self.cache_directory(attempt),
            flags=self.flags.get(row["environment"], {}),
            limits=limits,
            company=company,
            weights=self.ported(case).weights,
        )
        return PreparedProcess(attempt, engine, request, row | {"started_at": datetime.datetime.now(datetime.UTC)})

    def clear(self, process: PreparedProcess) -> None:
        """Deletes a process's caches, except those of a prime: its warm case starts with them."""
        sudden.ends(self.store.folder, process.attempt)
        if process.attempt.purpose is not Purpose.PRIME:
            shutil.rmtree(process.request.cache_directory, ignore_errors=True)

    def row(self, process: PreparedProcess, end: Exit) -> Row:
        """Returns the row of a process that has ended: columns that the worker reported fill the blank row, but replace
        nothing that is in it."""
        attempt, row = process.attempt, process.blank
        known = {name for name, value in row.items() if value not in (None, [])}
        measured = columns(attempt, process.request, process.engine, end)
        row |= {name: value for name, value in measured.items() if name in NAMES and name not in known}
        followed = STACKS[attempt.case.stack].on_shapes and self.plan.protocol.abstract
        if attempt.purpose is Purpose.IR and row["outcome"] == Outcome.OK and not followed:
            row |= self.reading.programs(process.request.folder / files.FOLDER, row["versions"] or {})
            if row["outcome"] == Outcome.OK:
                self.store.keep_programs(attempt, process.request.folder / files.FOLDER)
            seconds = (datetime.datetime.now(datetime.UTC) - row["started_at"]).total_seconds()
            whole = {"name": "capture", "unit": "s", "kind": str(Purpose.IR), "values": [seconds]}
            row["metrics"] = metrics_json([*row.metrics, whole])
        if attempt.purpose is Purpose.PROFILE and row["outcome"] == Outcome.OK and row["profile"] is None:
            row |= self.reading.profile(process.request.folder / files.PROFILE, row["versions"] or {})
        for name in JSON_COLUMNS:
            row[name] = None if row[name] is None else canonical_json(row[name])
        self.agreement.judge(row)
        if self.unpinned:
            row["flags"] = [*row["flags"], str(Flag.UNPINNED)]
        broken = self.too_fast(row)
        fresh = self.fresh.get(row["case_id"], [])
        reason = contradiction(row, end.phase_seconds, fresh) if broken is None else broken.exceeded_by(row)
        if reason is not None and not self.plan.protocol.at_once:  # nobody reads a check's times
            row["flags"] = [*row["flags"], str(Flag.IMPLAUSIBLE)]
            row["reason"] = reason
        return row

    def too_fast(self, row: Row, programs: Sequence[Program] = ()) -> SpeedLimit | None:
        """Returns the limit that a row's steps break; None if they keep all. Before a limit counts as broken, the
        machine is measured again."""
        broken = exceeded(row, self.roofline, programs)
        if broken is not None and self.again is not None:
            self.roofline = self.again()
            broken = exceeded(row, self.roofline, programs)
        return broken

    def warm_up(self, environment: str, engine: Engine) -> None:
        """Imports an environment's packages once, unmeasured, so that no measured process pays for a cold disk
        cache."""
        modules = IMPORTS.get(environment.partition("@")[0], ())
        if modules and engine not in self.warmed and not self.plan.protocol.at_once:
            engine.warm_up("; ".join(f"import {module}" for module in modules))
        self.warmed.add(engine)

    def cache_directory(self, attempt: Attempt) -> Path:
        """Returns the folder of an attempt's compile caches: empty, except for a warm case, which finds its prime's."""
        folder = self.store.cache_folder(attempt)
        if attempt.case.cache == "cold" or attempt.purpose is Purpose.PRIME:
            shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def save(self, attempt: Attempt, row: Row) -> None:
        """Writes a row, without the places of this machine. A value that the schema can't hold makes it a row with the
        outcome `error`."""
        import pyarrow as pa  # not before: the first process has started by now

        places = places_of(ROOT, self.store.folder.parent) | revisions.places()
        row.update({name: placeless(value, places) for name, value in row.items() if isinstance(value, str)})
        try:
            self.store.write_attempt(attempt_name(attempt), row)
        except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError) as broken:
            reason = f"the worker's events hold a value that the schema can't hold: {broken}"
            row.update(self.blank(attempt) | {"outcome": str(Outcome.ERROR), "reason": reason})
            self.store.write_attempt(attempt_name(attempt), row)


def inferred(source: Row, case: Case) -> dict[str, Any]:
    """Returns the columns of a case that isn't run because an earlier process has settled it: a process of the same
    case in an earlier block, or one of a smaller case."""
    where = f"block {source['block']}, retry {source['retry']}"
    was = "was " if source["reason"].startswith("killed ") else "ended so: "
    reason = f"not run: the process in block {source['block']} {was}{source['reason']}"
    if source["case_id"] != case.case_id:
        reason = f"needs no less than {source['case_name']}: {source['reason']}"
    return {
        "outcome": source["outcome"],
        "reason": reason,
        "phase": source["phase"],
        "provenance": "inferred",
        "inferred_from": f"{source['case_name']}, {where}",
    }
