"""plan.json: what a run was asked and with which constants, written before anything ran. Its one reader and writer."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from suite.case import Attempt, Case, Planned, Purpose
from suite.protocol import Protocol
from suite.results import migrations
from suite.results.schema import SCHEMA_VERSION

REASONS = ("unsupported", "too_large")  # of a planned case that isn't run


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

    def to_json(self) -> dict[str, Any]:
        """A plain dict."""
        fields = {each.name: getattr(self, each.name) for each in dataclasses.fields(self)}
        return fields | {
            "protocol": dataclasses.asdict(self.protocol),
            "cases": [planned.case.to_json() | {name: getattr(planned, name) for name in REASONS}
                      for planned in self.cases],
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
    def from_json(cls, fields: Mapping[str, Any]) -> PlanFile:
        """The inverse of `to_json`, of every schema version. Raises KeyError or TypeError on what isn't a plan."""
        fields = migrations.plan(dict(fields))
        cases = [Planned(Case.from_json({k: v for k, v in entry.items() if k not in REASONS}),
                         **{name: entry[name] for name in REASONS})
                 for entry in fields["cases"]]  # fmt: skip
        replaced = {
            "protocol": Protocol(**fields["protocol"]),
            "cases": tuple(cases),
            "attempts": tuple(Attempt.from_json(attempt) for attempt in fields["attempts"]),
            "workload_paths": tuple(fields["workload_paths"]),
            "collected": tuple(fields.get("collected", ())),
            "cores": tuple(fields["cores"]),
            "purpose": Purpose(fields["purpose"]),
        }
        return cls(**{**fields, **replaced})

    def reason(self, case: Case) -> str | None:
        """Why a case can't run, or None."""
        return next((planned.unsupported for planned in self.cases if planned.case == case), None)
