"""Where and how a set was measured: machine, versions, knobs, blocks and how to do it again."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from suite.errors import COMMAND
from suite.machine.description import reached
from suite.results.store.plan_file import REVISION, PlanFile
from suite.results.store.rows import Row
from suite.units import digits, quantity, seconds

MOST_VALUES = 4  # a fact that differs between rows shows this many of its values
# Facts of a process that must be the same for all, by what a reader calls them.
BUILDS = {
    "interpreter": "The build of Python",
    "compiler": "The C++ compiler",
    "c_library": "The C library",
    "cache_medium": "What caches lie on",
    "cpu_quota": "The quota of processor time",
}


@dataclass(frozen=True, slots=True)
class Fact:
    """One named fact, as text."""

    name: str
    value: str


@dataclass(frozen=True, slots=True)
class EnvironmentFacts:
    """One environment as its rows reported it. Versions or facts that differ between rows list every value."""

    name: str
    python: str
    lock_sha256: str
    fallback: str  # which lock it has in place of the newest, and why
    stacks: tuple[str, ...]
    versions: tuple[Fact, ...]
    facts: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class BlockRecord:
    """One pass through a block, with its noise readings. Shares are of 1; frequencies in MHz."""

    block: int
    retry: int
    verdict: str
    reasons: tuple[str, ...]
    canary_before: float | None
    canary_after: float | None
    steal_share: float | None
    throttled: bool | None
    load_before: float | None
    load_after: float | None
    mhz_before: float | None
    mhz_after: float | None
    started_at: str
    shard: str  # of a set put together from several machines

    @property
    def drift(self) -> float | None:
        """How much slower the canary ran after the block than before it."""
        if not self.canary_before or self.canary_after is None:
            return None
        return self.canary_after / self.canary_before - 1


@dataclass(frozen=True, slots=True)
class Recipe:
    """The commands that make this result set again, the one that renders its page, and what it was made from."""

    steps: tuple[str, ...]
    render: str
    facts: tuple[Fact, ...]


def facts_of(value: Any, prefix: str = "") -> list[Fact]:
    """Nested JSON as flat facts: {'cpu': {'model': 'x'}} is `cpu.model = x`."""
    if isinstance(value, Mapping) and value:
        return [fact for key in value for fact in facts_of(value[key], f"{prefix}.{key}" if prefix else str(key))]
    return [Fact(prefix, as_text(value, prefix))]


def as_text(value: Any, name: str = "") -> str:
    """JSON in words: null is `unknown`, true is `yes`, a list of plain values is comma-separated.

    A name that ends in its unit (`ram_bytes`, `timer_cost_seconds`) has its number scaled.
    """
    if value is None:
        return "unknown"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float) and name.endswith("_bytes"):
        return quantity(value)
    if isinstance(value, int | float) and name.endswith("_seconds"):
        return seconds(value)
    if isinstance(value, list | tuple) and not any(isinstance(v, Mapping | list) for v in value):
        return ", ".join(as_text(v) for v in value) or "none"
    return str(value) if isinstance(value, str | int | float) else json.dumps(value, sort_keys=True)


def machine_facts(machine: Mapping[str, Any], ceilings: Sequence[Mapping[str, Any]]) -> tuple[Fact, ...]:
    """The machine as it was recorded, with every reading of what it reaches."""
    readings = [Fact(f"f32 ceiling, {each['measured_at'][:16].replace('T', ' ')}", reached(each)) for each in ceilings]
    return (*readings, *(facts_of(machine) if machine else ()))


def environments(rows: Sequence[Row], plan: PlanFile | None) -> tuple[EnvironmentFacts, ...]:
    """Every environment that was planned or has a row, by name."""
    planned, fallbacks = (plan.locks, plan.fallbacks) if plan else ({}, {})
    names = sorted(set(planned) | {row.text("environment") for row in rows} - {""})
    return tuple(
        environment(name, [row for row in rows if row.text("environment") == name], planned, fallbacks.get(name, ""))
        for name in names
    )


def environment(name: str, rows: Sequence[Row], planned: Mapping[str, str | None], fallback: str) -> EnvironmentFacts:
    """One environment by its rows; `planned` has the sha256 of each lock."""
    locks = {row.text("lock_sha256") for row in rows} | {planned.get(name) or ""}
    pythons = {str(row.mapping("versions").get("python", "")) for row in rows}
    return EnvironmentFacts(
        name=name,
        python=", ".join(sorted(pythons - {""})),
        lock_sha256=", ".join(sorted(locks - {""})),
        fallback=fallback,
        stacks=tuple(sorted({row.stack_name for row in rows})),
        versions=merged(row.mapping("versions") for row in rows),
        facts=merged({**contained(row), **row.mapping("environment_facts")} for row in rows),
    )


def contained(row: Row) -> dict[str, str]:
    """How the row's process was contained: engine, its version, the image."""
    return {name: text for name in ("engine", "engine_version", "image_digest") if (text := row.text(name))}


def differences(rows: Iterable[Row]) -> tuple[str, ...]:
    """What environments or engines of the set were built or set up differently with, a sentence each."""
    found: dict[str, dict[str, set[str]]] = {}
    for row in rows:
        known = row.mapping("environment_facts")
        for name in (name for name in BUILDS if known.get(name) is not None):
            place = f"{row.text('environment')}, {row.text('engine')}"
            found.setdefault(name, {}).setdefault(as_text(known[name]), set()).add(place)
    return tuple(
        f"{BUILDS[name]} differs between environments: {listed(values)}. Their times differ by it, too."
        for name, values in found.items()
        if len(values) > 1
    )


def listed(values: Mapping[str, Iterable[str]]) -> str:
    """`glibc 2.36 (jax, local; torch, local) and glibc 2.39 (numpy, docker)`."""
    return " and ".join(f"{value} ({'; '.join(sorted(places))})" for value, places in sorted(values.items()))


def merged(reports: Iterable[Mapping[str, Any]]) -> tuple[Fact, ...]:
    """The facts of many rows, each once. A fact that varies lists its values, most seldom shortened."""
    seen: dict[str, dict[str, None]] = {}
    for report in reports:
        for fact in facts_of(report) if report else []:
            seen.setdefault(fact.name, {})[fact.value] = None
    return tuple(Fact(name, _joined(list(values))) for name, values in sorted(seen.items()))


def _joined(values: list[str]) -> str:
    if len(values) <= MOST_VALUES:
        return " | ".join(values)
    try:
        numbers = sorted(float(v) for v in values)
    except ValueError:
        pass
    else:
        return f"{digits(numbers[0])} to {digits(numbers[-1])} in {len(numbers)} readings"
    return " | ".join(values[:MOST_VALUES]) + f" | and {len(values) - MOST_VALUES} more"


def block_records(blocks: Iterable[Mapping[str, Any]]) -> tuple[BlockRecord, ...]:
    """The block records in the order in which they ran."""
    return tuple(sorted(map(block_record, blocks), key=lambda record: (record.shard, record.block, record.retry)))


def block_record(record: Mapping[str, Any]) -> BlockRecord:
    """One record as it is stored."""
    canary: Sequence[float | None] = record.get("canary_seconds") or ()
    before, after, *_ = [*canary, None, None]
    readings = ("steal_share", "throttled", "load_before", "load_after", "mhz_before", "mhz_after")
    return BlockRecord(
        block=int(record["block"]),
        retry=int(record["retry"]),
        verdict=str(record.get("verdict", "unknown")),
        reasons=tuple(str(reason) for reason in record.get("reasons") or ()),
        canary_before=before,
        canary_after=after,
        shard=str(record.get("shard", "")),
        started_at=str(record.get("started_at") or "")[:19].replace("T", " "),
        **{name: record.get(name) for name in readings},
    )


def source(inputs: Path) -> tuple[str, bool]:
    """(revision, whether the source had been changed), as kept with the set."""
    revision, diff = inputs / "revision.txt", inputs / "diff.patch"
    text = ""
    if revision.is_file():
        with revision.open(encoding="utf-8", errors="replace") as file:
            text = file.read(1000)
    return text, diff.is_file() and diff.stat().st_size > 0


def recipe(plan: PlanFile | None, revision: str, modified: bool) -> Recipe | None:
    """The commands that make this very set again: source, then the change made to it, then the run.

    None for a bare Parquet file, which doesn't say how it was made.
    """
    if plan is None:
        return None
    clean = next(iter(revision.split()), "")
    steps = [f"git checkout {clean}"] if REVISION.fullmatch(clean) else []
    folder = shlex.quote(f"results/{plan.set_id}")
    if modified:
        steps.append(f"git apply {folder}/inputs/diff.patch")
    steps += ["make setup", f".venv/bin/{plan.command}"]  # which every revision has; only later ones have COMMAND
    facts = [
        Fact("source revision", revision.strip() or "unknown"),
        Fact("source modified", "yes, by inputs/diff.patch: read it before you apply it" if modified else "no"),
        Fact("seed", str(plan.seed)),
        *(Fact(f"lock {name}", digest or "none") for name, digest in sorted(plan.locks.items())),
    ]
    return Recipe(tuple(steps), f"{COMMAND} report --set={folder}", tuple(facts))
