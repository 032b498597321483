"""plan.json: what a run measures, and its command, locks, source and machine. It is written before anything runs. Only
this module reads and writes it."""

from __future__ import annotations

import dataclasses
import datetime
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from suite.case import NAME, TARGETS, Attempt, Case, Planned, Purpose
from suite.errors import COMMANDS, Damaged, UserError, unknown
from suite.protocol import Protocol
from suite.sets import json_file
from suite.sets.schema import SCHEMA_VERSION

SET_ID = re.compile(r"\w[\w .+@=,-]{0,199}")  # pages have it in commands, so none of its characters acts in a shell
REASONS = ("unsupported", "too_large")  # why a planned case isn't run
DIGEST = re.compile(r"[0-9a-f]{64}")
ENVIRONMENT = re.compile(rf"[a-z][a-z0-9_]*(@{NAME.pattern})?")  # `jax`, or a variant of it: part of files' names
OF_REVISION = "STACKWARS_REVISION"  # the variable by which `flags` name the revision that a variant is
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
REVISION = re.compile(r"[0-9a-f]{7,64}")


@dataclass(frozen=True, slots=True)
class Plan:
    """The cases of a run, and how to run them. suite/plan/layout.py lays the cases out in processes."""

    set_id: str
    cases: tuple[Planned, ...]
    protocol: Protocol
    baseline: str
    twin: bool
    seed: int
    purpose: Purpose = Purpose.TIMED  # of the whole run
    exhaustive: bool = False  # a memory run tries cases that can only fail, too
    vary: str = ""  # a search looks for the largest value of this dim that fits, from each case on; empty: no search
    shard: str = ""  # the number of a machine's share, and how many there are, like `2/4`; empty: not a share
    predictions: tuple[Planned, ...] = ()  # cases of accelerators that aren't here, for their compilers to judge
    whole: str = ""  # the digest of the plan that this share is of; empty: not a share
    counterparts: bool = False  # the baseline's counterparts on other questions have twins; older plans lack this field

    def __post_init__(self) -> None:
        """Raises UserError for a set's name or a seed that no run can have: a plan may come from a stranger."""
        if not SET_ID.fullmatch(self.set_id):
            raise UserError(f"no set can be called {self.set_id[:60]!r}.")
        if not 0 <= self.seed < 2**63:
            raise UserError("a seed is a whole number from 0 to 2⁶³ − 1.")

    def reason(self, case: Case) -> str | None:
        """Returns why a case can't run; None if it can, or if the plan doesn't have it."""
        all_cases = (*self.cases, *self.predictions)
        return next((planned.unsupported for planned in all_cases if planned.case == case), None)

    def too_large(self, case: Case) -> str | None:
        """Returns why a case is predicted to run out of memory; None if it isn't."""
        return next((planned.too_large for planned in self.cases if planned.case == case), None)


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
    code: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # by workload: digests of what is asked and run
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
        try:
            datetime.datetime.fromisoformat(self.created_at)
        except ValueError:
            raise UserError(f"{self.created_at[:60]!r} is no date and time.") from None

    @property
    def revisions(self) -> list[str]:
        """Returns the revisions of a repository that the set compares; none of a set that compares stacks alone."""
        named = (variables.get(OF_REVISION, "") for variables in self.flags.values())
        return [*dict.fromkeys(filter(None, named))]

    def to_json(self) -> dict[str, Any]:
        fields: dict[str, Any] = msgspec.to_builtins(self, enc_hook=dict)
        return {**fields.pop("plan"), **fields} | {
            "cases": list(map(planned_json, self.plan.cases)),
            "predictions": list(map(planned_json, self.plan.predictions)),
            "attempts": [attempt.to_json() for attempt in self.attempts],
        }

    @classmethod
    def from_json(cls, fields: Mapping[str, Any], where: str = "plan.json") -> PlanFile:
        """Returns the plan file in a file's content. Raises Damaged, with the place, if the content isn't a plan."""
        try:
            check_version(fields["schema_version"])
            check_names(Protocol, fields["protocol"])
            cases, predictions = (
                [{"case": spelled(entry), **{name: entry[name] for name in REASONS}} for entry in fields.get(kind, ())]
                for kind in ("cases", "predictions")
            )
            attempts = [entry | {"case": spelled(entry["case"])} for entry in fields["attempts"]]
        except UserError as broken:
            raise Damaged(f"{where}: {broken}") from None
        except (KeyError, TypeError, ValueError, AttributeError) as broken:
            raise Damaged(f"{where} can't be read as a plan: {type(broken).__name__}: {broken}.") from None
        plan = {**fields, "cases": cases, "predictions": predictions}
        file: PlanFile = json_file.typed(cls, {**fields, "plan": plan, "attempts": attempts}, where)
        return file


def check_version(version: Any) -> None:
    if version != SCHEMA_VERSION:
        raise UserError(f"it has schema version {version!r:.20}; this program reads {SCHEMA_VERSION}.")


def planned_json(planned: Planned) -> dict[str, Any]:
    """Returns a planned case as the file has it: its fields, and why it isn't run."""
    return planned.case.to_json() | {name: getattr(planned, name) for name in REASONS}


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
    if not words:
        return False
    task = words[1] if len(words) > 1 else ""
    return shlex.join(words) == text and words[0] in ("invoke", *COMMANDS) and not task.startswith("-")
