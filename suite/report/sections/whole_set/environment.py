"""The section "Environment": the machine, the software, and the blocks with their noise."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from suite import units
from suite.answers.sentences import counted, listed
from suite.machine.description import reached
from suite.report.noise import BlockRecord, Reading, block_records, exceeded, readings
from suite.report.sections.section import Context, Section
from suite.report.sections.whole_set.facts import Fact, as_text, facts_of, merged
from suite.sets.plan import PlanFile
from suite.sets.rows import Row

# Facts that must be the same for all processes of a set, with their words.
BUILDS = {
    "interpreter": "The build of Python",
    "compiler": "The C++ compiler",
    "c_library": "The C library",
    "cache_medium": "The medium of the caches",
    "cpu_quota": "The quota of processor time",
}


@dataclass(frozen=True, slots=True)
class EnvironmentFacts:
    """One environment as its rows reported it. `fallback` says which lock it was made from in place of the newest one,
    and why; it is empty where the newest was used."""

    name: str
    python: str
    lock_sha256: str
    fallback: str
    stacks: tuple[str, ...]
    versions: tuple[Fact, ...]
    facts: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class EnvironmentSection(Section):
    """The facts of the machine, each environment, the readings of the set's noise, and each run of a block. `drift` and
    `steal` are the limits over which a block is noisy."""

    machine: tuple[Fact, ...]
    environments: tuple[EnvironmentFacts, ...]
    noise: tuple[Reading, ...]
    blocks: tuple[BlockRecord, ...]
    drift: str
    steal: str

    name = "environment"
    nav = "Environment"
    grows = False
    terms = ("restless", "canary", "noisy", "block")

    @classmethod
    def of(cls, context: Context) -> EnvironmentSection:
        """Returns the section, which every page has."""
        results, protocol = context.results, context.protocol
        records = block_records(results.blocks)
        return cls(
            machine=machine_facts(results.machine, results.ceilings),
            environments=environments(context.analysis.rows, results.plan_file),
            noise=readings(context.analysis, records, results.ceilings),
            blocks=records,
            drift=units.percent(protocol.canary_drift_max),
            steal=units.percent(protocol.steal_share_max),
        )

    @property
    def answer(self) -> str:
        """Returns how many environments there were, and what keeps the set from being quiet, by the badge's rule."""
        over = listed([reading.cause for reading in exceeded(self.noise)])
        noise = f"noise over its limit: {over}" if over != "none" else "no reading of noise over its limit"
        versions = ", ".join(f"{fact.name} {fact.value}" for fact in own_versions(self.environments))
        return f"{counted(len(self.environments), 'environment')}{versions and f' ({versions})'}; {noise}."


def machine_facts(machine: Mapping[str, Any], ceilings: Sequence[Mapping[str, Any]]) -> tuple[Fact, ...]:
    """Returns the recorded facts of the machine, after every reading of its f32 ceiling."""
    readings = [
        Fact(f"f32 ceiling, {reading['measured_at'][:16].replace('T', ' ')}", reached(reading)) for reading in ceilings
    ]
    return (*readings, *(facts_of(machine) if machine else ()))


def environments(rows: Sequence[Row], file: PlanFile | None) -> tuple[EnvironmentFacts, ...]:
    """Returns every environment that was planned or has a row, by name."""
    planned, fallbacks = (file.locks, file.fallbacks) if file else ({}, {})
    names = sorted(set(planned) | {row.text("environment") for row in rows} - {""})
    return tuple(
        environment(name, [row for row in rows if row.text("environment") == name], planned, fallbacks.get(name, ""))
        for name in names
    )


def environment(name: str, rows: Sequence[Row], planned: Mapping[str, str | None], fallback: str) -> EnvironmentFacts:
    """Returns one environment by its rows; `planned` has the sha256 of each lock."""
    locks = {row.text("lock_sha256") for row in rows} | {planned.get(name) or ""}
    pythons = {str(row.mapping("versions").get("python", "")) for row in rows}
    return EnvironmentFacts(
        name=name,
        python=", ".join(sorted(pythons - {""})),
        lock_sha256=", ".join(sorted(locks - {""})),
        fallback=fallback,
        stacks=tuple(sorted({row.stack_name for row in rows})),
        versions=merged(row.mapping("versions") for row in rows),
        facts=merged({**engine_facts(row), **row.mapping("environment_facts")} for row in rows),
    )


def own_versions(listed: Iterable[EnvironmentFacts]) -> list[Fact]:
    """Returns the version of each environment's own framework, the package that the environment is named after. A
    package may have an underscore in its name or `-cpu` after it."""
    return [
        fact
        for environment in listed
        for fact in environment.versions
        if fact.name.replace("_", "-").removesuffix("-cpu") == environment.name.partition("@")[0].replace("_", "-")
    ]


def engine_facts(row: Row) -> dict[str, str]:
    """Returns the engine that contained the row's process, its version, and the image."""
    return {name: text for name in ("engine", "engine_version", "image_digest") if (text := row.text(name))}


def differences(rows: Iterable[Row]) -> tuple[str, ...]:
    """Returns a sentence for each of `BUILDS` that isn't the same in all environments and engines of a set."""
    places: dict[str, dict[str, set[str]]] = {}
    for row in rows:
        facts = row.mapping("environment_facts")
        for name in (name for name in BUILDS if facts.get(name) is not None):
            place = f"{row.text('environment')}, {row.text('engine')}"
            places.setdefault(name, {}).setdefault(as_text(facts[name]), set()).add(place)
    return tuple(
        f"{BUILDS[name]} differs between environments: {values_listed(values)}. This, too, can make their times differ."
        for name, values in places.items()
        if len(values) > 1
    )


def values_listed(values: Mapping[str, Iterable[str]]) -> str:
    """Returns `glibc 2.36 (jax, local; torch, local) and glibc 2.39 (numpy, docker)`."""
    return " and ".join(f"{value} ({'; '.join(sorted(places))})" for value, places in sorted(values.items()))
