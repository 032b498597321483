"""The machine and the software of a set, as its processes reported them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import polars as pl

from suite.answers.answer import Answer, answer
from suite.answers.facts import as_text, facts_of, merged
from suite.answers.sentences import counted
from suite.machine.description import reached
from suite.results import Results
from suite.results.frame import Frame
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


@answer("Environment", parts="of", grows=False, in_markdown=False, on_console=False)
def environment(frame: Frame) -> Answer:
    """What the machine and each environment reported: the versions of packages, then threads, knobs and settings. A
    fact that differs between processes has all its values."""
    rows, file = frame.analysis.rows, frame.results.plan_file
    planned = {*file.locks} if file else set()
    names = sorted(planned | {row.text("environment") for row in rows} - {""})
    by_name = {name: [row for row in rows if row.text("environment") == name] for name in names}
    versions = {name: merged(row.mapping("versions") for row in of) for name, of in by_name.items()}
    facts = {
        "Machine": machine(frame.results),
        **{name: software(by_name[name], versions[name], fallback(file, name)) for name in names},
    }
    own = ", ".join(f"{package} {version}" for name in names for package, version in own_versions(name, versions[name]))
    return Answer(
        f"{counted(len(names), 'environment')}{own and f' ({own})'}.",
        pl.DataFrame(
            [{"of": of, "fact": fact, "value": value} for of, known in facts.items() for fact, value in known.items()],
            schema=dict.fromkeys(("of", "fact", "value"), pl.String),
        ),
    )


def machine(results: Results) -> dict[str, str]:
    """Returns the recorded facts of the machine, after every reading of its f32 ceiling."""
    readings = {
        f"f32 ceiling, {reading['measured_at'][:16].replace('T', ' ')}": reached(reading)
        for reading in results.ceilings
    }
    return readings | (facts_of(results.machine) if results.machine else {})


def software(rows: Sequence[Row], versions: Mapping[str, str], older_lock: str) -> dict[str, str]:
    """Returns the facts of one environment by its rows."""
    reported = merged({**engine(row), **row.mapping("environment_facts")} for row in rows)
    nothing = {} if versions else {"versions": "none recorded: none of its processes got that far"}
    stacks = ", ".join(sorted({row.stack_name for row in rows}))
    noted = {"an older lock file": older_lock} if older_lock else {}
    return {"stacks": stacks or "none", **noted, **nothing, **versions, **reported}


def fallback(file: PlanFile | None, name: str) -> str:
    """Returns which lock an environment was made from in place of the newest one, and why; else empty."""
    return file.fallbacks.get(name, "") if file else ""


def own_versions(environment: str, versions: Mapping[str, str]) -> list[tuple[str, str]]:
    """Returns the version of an environment's own framework, the package that the environment is named after. A package
    may have an underscore in its name or `-cpu` after it."""
    own = environment.partition("@")[0].replace("_", "-")
    return [each for each in versions.items() if each[0].replace("_", "-").removesuffix("-cpu") == own]


def engine(row: Row) -> dict[str, str]:
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
