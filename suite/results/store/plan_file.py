"""plan.json: the plan of a run, and its command, locks, source and machine. It is written before anything runs. Only
this module reads and writes it."""

from __future__ import annotations

import dataclasses
import datetime
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from suite.case import NAME, TARGETS, Attempt, Case, Planned
from suite.errors import COMMAND, Damaged, UserError, unknown
from suite.protocol import Protocol
from suite.results.store import json_file
from suite.results.store.plan import Plan
from suite.results.store.schema import SCHEMA_VERSION

REASONS = ("unsupported", "too_large")  # why a planned case isn't run
DIGEST = re.compile(r"[0-9a-f]{64}")
ENVIRONMENT = re.compile(rf"[a-z][a-z0-9_]*(@{NAME.pattern})?")  # `jax`, or a variant of it: part of files' names
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
REVISION = re.compile(r"[0-9a-f]{7,64}")
PLAN_FIELDS = tuple(field.name for field in dataclasses.fields(Plan))


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanFile:
    """The plan of one result set, and its surroundings. In the file, the plan's fields stand beside the others."""

    plan: Plan
    created_at: str
    command: str
    options: tuple[str, ...] = ()  # that the user gave with the command; of a reproduced set, those of the original
    target: str
    engine: str
    python: str | None = None  # an interpreter of the user's own, which no lock pins
    workload_paths: tuple[str, ...] = ()
    stack_paths: tuple[str, ...] = ()
    machine_id: str
    cores: tuple[int, ...]
    attempts: tuple[Attempt, ...]  # in order; of the blocks, those of the first stage, which always run
    units: Mapping[str, str] = field(default_factory=dict)  # what a step's items are (tokens, images), by workload
    locks: Mapping[str, str | None] = field(default_factory=dict)  # sha256 by environment
    fallbacks: Mapping[str, str] = field(default_factory=dict)  # why an environment has an older lock
    flags: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # variables by variant (`jax@fastmath`)
    revision: str | None = None  # of the source
    dirty: bool = False  # whether the source was changed since the revision
    change: str = ""  # sha256 of that change
    collected: tuple[str, ...] = ()  # the shares that the set was put together from
    scheduler: str = ""  # decides on which machine each comparison runs; empty: all run on this machine
    schema_version: int = SCHEMA_VERSION  # of the program that wrote it

    def __post_init__(self) -> None:
        """Raises UserError for a value that no run has: the set may come from a stranger, names become names of files
        and folders, and pages show the command. Machine, engine and interpreter are only facts about the run."""
        if self.target not in TARGETS:
            raise unknown("target", self.target[:60], TARGETS)
        for name, digest in self.locks.items():
            if not ENVIRONMENT.fullmatch(name) or not (digest is None or DIGEST.fullmatch(digest)):
                raise UserError(
                    f"{name[:60]!r} isn't an environment's name, or {str(digest)[:64]!r} isn't its lock's sha256."
                )
        for name, variables in self.flags.items():
            if not ENVIRONMENT.fullmatch(name) or "@" not in name or not all(map(VARIABLE.fullmatch, variables)):
                raise UserError(f"{name[:60]!r} isn't a variant's name, or has a variable with an invalid name.")
        if not is_one_command(self.command):
            raise UserError(f"{self.command[:60]!r} isn't a command with its words quoted.")
        if self.revision is not None and not REVISION.fullmatch(self.revision):
            raise UserError(f"{self.revision[:60]!r} is no revision.")
        datetime_of(self.created_at)

    def to_json(self) -> dict[str, Any]:
        """Returns the file's content as a plain dict, the plan's fields among the others."""
        fields = {name: getattr(self.plan, name) for name in PLAN_FIELDS}
        fields |= {name: getattr(self, name) for name in FILE_FIELDS}
        return fields | {
            "protocol": dataclasses.asdict(self.plan.protocol),
            "cases": list(map(planned_json, self.plan.cases)),
            "predictions": list(map(planned_json, self.plan.predictions)),
            "attempts": [attempt.to_json() for attempt in self.attempts],
            "workload_paths": list(self.workload_paths),
            "stack_paths": list(self.stack_paths),
            "collected": list(self.collected),
            "options": list(self.options),
            "cores": list(self.cores),
            "purpose": str(self.plan.purpose),
            "units": dict(self.units),
            "locks": dict(self.locks),
            "fallbacks": dict(self.fallbacks),
            "flags": {name: dict(variables) for name, variables in self.flags.items()},
        }

    @classmethod
    def from_json(cls, fields: Mapping[str, Any], where: str = "plan.json") -> PlanFile:
        """Returns the plan file in a file's content. Raises Damaged, with the place, if the content isn't a plan."""
        try:
            check_version(fields["schema_version"])
            cases, predictions = (
                [{"case": spelled(entry), **{name: entry[name] for name in REASONS}} for entry in fields.get(kind, ())]
                for kind in ("cases", "predictions")
            )
            check_names(Protocol, fields["protocol"])
            attempts = [entry | {"case": spelled(entry["case"])} for entry in fields["attempts"]]
        except UserError as broken:
            raise Damaged(f"{where}: {broken}") from None
        except (KeyError, TypeError, ValueError, AttributeError) as broken:
            raise Damaged(f"{where} can't be read as a plan: {type(broken).__name__}: {broken}.") from None
        fields = dict(fields) | {"cases": cases, "predictions": predictions, "attempts": attempts}
        plan = json_file.typed(Plan, {name: fields.pop(name) for name in PLAN_FIELDS if name in fields}, where)
        file: PlanFile = json_file.typed(cls, fields | {"plan": plan}, where)
        return file


FILE_FIELDS = tuple(field.name for field in dataclasses.fields(PlanFile) if field.name != "plan")


def planned_json(planned: Planned) -> dict[str, Any]:
    """Returns a planned case as the file has it: its fields, and why it isn't run."""
    return planned.case.to_json() | {name: getattr(planned, name) for name in REASONS}


def check_version(version: Any) -> None:
    """Raises UserError for a plan of another schema version than this program's."""
    if version != SCHEMA_VERSION:
        raise UserError(f"it has schema version {version!r:.20}; this program reads {SCHEMA_VERSION}.")


def spelled(case: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a case's values under the names of its fields: `pass` becomes `pass_`, because Python reserves `pass`."""
    fields = {"pass_" if name == "pass" else name: value for name, value in case.items() if name not in REASONS}
    check_names(Case, fields)
    return fields


def check_names(kind: type, fields: Mapping[str, Any]) -> None:
    """Raises UserError for a name that a dataclass doesn't have: otherwise its value would be ignored silently."""
    if unknown_names := fields.keys() - {field.name for field in dataclasses.fields(kind)}:
        raise UserError(f"a {kind.__name__.lower()} has no '{min(unknown_names)[:60]}'.")


def is_one_command(text: str) -> bool:
    """Whether a line is one of our commands and does nothing else in a shell: readers copy it from a page."""
    try:
        words = shlex.split(text)
    except ValueError:
        return False
    task = words[1] if len(words) > 1 else ""
    return shlex.join(words) == text and words[:1] in (["invoke"], [COMMAND]) and not task.startswith("-")


def datetime_of(text: str) -> datetime.datetime:
    """Returns the time of a text in ISO format. Raises UserError for any other text."""
    try:
        return datetime.datetime.fromisoformat(text)
    except ValueError:
        raise UserError(f"{text[:60]!r} is no date and time.") from None
