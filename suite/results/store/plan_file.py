"""plan.json: what a run was asked and with which constants, written before anything ran. Its one reader and writer."""

from __future__ import annotations

import dataclasses
import datetime
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from suite.case import NAME, TARGETS, Attempt, Case, Planned, Purpose
from suite.errors import Damaged, UserError, unknown
from suite.protocol import Protocol
from suite.results.store import json_file
from suite.results.store.schema import SCHEMA_VERSION

REASONS = ("unsupported", "too_large")  # of a planned case that isn't run
DIGEST = re.compile(r"[0-9a-f]{64}")
ENVIRONMENT = re.compile(rf"[a-z][a-z0-9_]*(@{NAME.pattern})?")  # `jax`, or a variant of it: part of files' names
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
SET_ID = re.compile(r"\w[\w .+@=,-]{0,199}")  # part of commands on pages: nothing in it is a shell's
REVISION = re.compile(r"[0-9a-f]{7,64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanFile:
    """The plan of one result set.

    `attempts` are those of the first stage of blocks, in order; `units` says by workload what a step's items are
    (tokens, images, rows); `locks` has the sha256 of each environment's lock, nothing for an interpreter of the
    user's own (`python`); `fallbacks` says which environments have an older lock, and why. `revision` and `dirty` are
    of the source, `change` is the sha256 of what was changed in it since; `purpose` is the whole run's, `exhaustive`
    that of its memory processes even what can only fail is tried, `vary` a dim whose largest value that fits is
    searched for.
    A machine's share of a plan says which (`shard`, like `2/4`) of which (`whole`, a digest); a set that was put
    together from shares names them in `collected`. `scheduler`: who says on which machine each comparison runs;
    nothing for this one. `flags` are the variables of variants' processes, by environment (`jax@fastmath`).
    """

    set_id: str
    created_at: str
    command: str
    target: str
    engine: str
    python: str | None = None
    workload_paths: tuple[str, ...] = ()
    protocol: Protocol
    baseline: str
    twin: bool
    seed: int
    machine_id: str
    cores: tuple[int, ...]
    cases: tuple[Planned, ...]
    attempts: tuple[Attempt, ...]
    units: Mapping[str, str] = field(default_factory=dict)
    locks: Mapping[str, str | None] = field(default_factory=dict)
    fallbacks: Mapping[str, str] = field(default_factory=dict)
    flags: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    revision: str | None = None
    dirty: bool = False
    change: str = ""
    purpose: Purpose = Purpose.TIMED
    exhaustive: bool = False
    vary: str = ""
    shard: str = ""
    whole: str = ""
    collected: tuple[str, ...] = ()
    scheduler: str = ""
    schema_version: int = SCHEMA_VERSION  # of the program that wrote it

    def __post_init__(self) -> None:
        """Raises UserError for a plan that no run has: its names become those of files and folders, and whoever made
        it may be a stranger. What it says of machine, engine, interpreter and command is true of there."""
        if self.target not in TARGETS:
            raise unknown("target", self.target[:60], TARGETS)
        if not SET_ID.fullmatch(self.set_id):
            raise UserError(f"no set can be called {self.set_id[:60]!r}.")
        for name, digest in self.locks.items():
            if not ENVIRONMENT.fullmatch(name) or not (digest is None or DIGEST.fullmatch(digest)):
                raise UserError(f"{name[:60]!r} with {str(digest)[:64]!r} is no environment with its lock's sha256.")
        for name, variables in self.flags.items():
            if not ENVIRONMENT.fullmatch(name) or "@" not in name or not all(map(VARIABLE.fullmatch, variables)):
                raise UserError(f"{name[:60]!r} is no variant with its variables: nothing else has any.")
        if not is_one_command(self.command):
            raise UserError(f"{self.command[:60]!r} isn't a command with its words quoted.")
        if not 0 <= self.seed < 2**63:
            raise UserError("a seed is a whole number from 0 to 2⁶³ − 1.")
        if self.revision is not None and not REVISION.fullmatch(self.revision):
            raise UserError(f"{self.revision[:60]!r} is no revision.")
        datetime_of(self.created_at)

    def to_json(self) -> dict[str, Any]:
        """A plain dict."""
        fields = {each.name: getattr(self, each.name) for each in dataclasses.fields(self)}
        return fields | {
            "protocol": dataclasses.asdict(self.protocol),
            "cases": [
                planned.case.to_json() | {name: getattr(planned, name) for name in REASONS} for planned in self.cases
            ],
            "attempts": [attempt.to_json() for attempt in self.attempts],
            "workload_paths": list(self.workload_paths),
            "collected": list(self.collected),
            "cores": list(self.cores),
            "purpose": str(self.purpose),
            "units": dict(self.units),
            "locks": dict(self.locks),
            "fallbacks": dict(self.fallbacks),
            "flags": {name: dict(variables) for name, variables in self.flags.items()},
        }

    @classmethod
    def from_json(cls, fields: Mapping[str, Any], where: str = "plan.json") -> PlanFile:
        """The inverse of `to_json`, of every schema version. Raises Damaged, naming the place, for what is no plan."""
        try:
            check_version(fields["schema_version"])
            cases = [{"case": spelled(entry), **{name: entry[name] for name in REASONS}} for entry in fields["cases"]]
            check_names(Protocol, fields["protocol"])
            attempts = [entry | {"case": spelled(entry["case"])} for entry in fields["attempts"]]
        except UserError as broken:
            raise Damaged(f"{where}: {broken}") from None
        except (KeyError, TypeError, ValueError, AttributeError) as broken:
            raise Damaged(f"{where} can't be read as a plan: {type(broken).__name__}: {broken}.") from None
        plan: PlanFile = json_file.typed(cls, dict(fields) | {"cases": cases, "attempts": attempts}, where)
        return plan

    def reason(self, case: Case) -> str | None:
        """Why a case can't run, or None."""
        return next((planned.unsupported for planned in self.cases if planned.case == case), None)


def check_version(version: Any) -> None:
    """Raises UserError for a plan of another schema version than this program's."""
    if version != SCHEMA_VERSION:
        raise UserError(f"it has schema version {version!r:.20}; this program reads {SCHEMA_VERSION}.")


def spelled(case: Mapping[str, Any]) -> dict[str, Any]:
    """A case by the names of its fields: `pass` is a word of Python's."""
    fields = {"pass_" if name == "pass" else name: value for name, value in case.items() if name not in REASONS}
    check_names(Case, fields)
    return fields


def check_names(kind: type, fields: Mapping[str, Any]) -> None:
    """Raises UserError for a name that a dataclass doesn't have: a constant that would be left out isn't in force."""
    if unknown_names := fields.keys() - {field.name for field in dataclasses.fields(kind)}:
        raise UserError(f"a {kind.__name__.lower()} has no '{min(unknown_names)[:60]}'.")


def is_one_command(text: str) -> bool:
    """Whether a line is a task of ours, and a shell would take it for nothing but words: a page shows it to be
    copied."""
    try:
        words = shlex.split(text)
    except ValueError:
        return False
    task = words[1] if len(words) > 1 else ""
    return shlex.join(words) == text and words[:1] == ["invoke"] and not task.startswith("-")


def datetime_of(text: str) -> datetime.datetime:
    """When a set was begun. Raises UserError for no such time."""
    try:
        return datetime.datetime.fromisoformat(text)
    except ValueError:
        raise UserError(f"{text[:60]!r} is no date and time.") from None
