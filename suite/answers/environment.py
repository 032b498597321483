"""The machine and the software of a set, as its processes reported them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import polars as pl

from suite.answers.answer import Answer, answer
from suite.answers.facts import as_text, facts_of, merged
from suite.answers.sentences import counted
from suite.environments import releases
from suite.machine.description import reached
from suite.order import natural
from suite.results import Results
from suite.results.frame import Frame
from suite.sets.rows import Row
from suite.verdicts.grouping import grouped

ENGINE = ("engine", "engine_version", "image_digest")
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
    """What the machine and each environment reported: the versions of packages, each with the day of its release, then
    threads, knobs and settings. A fact that differs between processes has all its values."""
    file = frame.results.plan_file
    of = grouped(frame.analysis.rows, lambda row: row.text("environment"))
    names = sorted({*(file.locks if file else ()), *of} - {""})
    older = file.fallbacks if file else {}
    versions = {name: dated(of.get(name, ())) for name in names}
    facts = {
        "Machine": machine(frame.results),
        **{name: software(of.get(name, []), versions[name], older.get(name, "")) for name in names},
    }
    own = ", ".join(f"{package} {version}" for name in names for package, version in own_versions(name, versions[name]))
    lines = [(of, fact, value) for of, known in facts.items() for fact, value in known.items()]
    return Answer(
        f"{counted(len(names), 'environment')}{own and f' ({own})'}.",
        pl.DataFrame(lines, schema=dict.fromkeys(("of", "fact", "value"), pl.String), orient="row"),
    )


def dated(rows: Iterable[Row]) -> dict[str, str]:
    """Returns the versions of packages that rows have, each with the day of its release where that is known."""
    reported = merged(row.mapping("versions") for row in rows)
    return {package: releases.dated(package, version) for package, version in reported.items()}


def machine(results: Results) -> dict[str, str]:
    """Returns the recorded facts of the machine, after every reading of its f32 ceiling."""
    readings = {
        f"f32 ceiling, {reading['measured_at'][:16].replace('T', ' ')}": reached(reading)
        for reading in results.ceilings
    }
    return readings | (facts_of(results.machine) if results.machine else {})


def software(rows: Sequence[Row], versions: Mapping[str, str], older_lock: str) -> dict[str, str]:
    """Returns the facts of one environment by its rows, with the engine that contained them. `older_lock` says why its
    lock isn't the newest one."""
    engines = ({name: row.text(name) for name in ENGINE if row.text(name)} for row in rows)
    reported = merged({**engine, **row.mapping("environment_facts")} for engine, row in zip(engines, rows, strict=True))
    nothing = {} if versions else {"versions": "none recorded: none of its processes got that far"}
    stacks = ", ".join(sorted({row.stack_name for row in rows}))
    noted = {"an older lock file": older_lock} if older_lock else {}
    return {"stacks": stacks or "none", **noted, **nothing, **versions, **reported}


def own_versions(environment: str, versions: Mapping[str, str]) -> list[tuple[str, str]]:
    """Returns the version of an environment's own framework, the package that the environment is named after. A package
    may have an underscore in its name, or `-cpu` or `-tpu` after it."""
    own = environment.partition("@")[0].replace("_", "-")
    builds = (own, f"{own}-cpu", f"{own}-tpu")
    return [each for each in versions.items() if each[0].replace("_", "-") in builds]


def differences(rows: Iterable[Row]) -> tuple[str, ...]:
    """Returns a sentence for each of `BUILDS` that isn't the same in all environments and engines of a set."""
    places: dict[str, dict[str, set[str]]] = {}
    for row in rows:
        facts, place = row.mapping("environment_facts"), f"{row.text('environment')}, {row.text('engine')}"
        for name in (name for name in BUILDS if facts.get(name) is not None):
            places.setdefault(name, {}).setdefault(as_text(facts[name]), set()).add(place)
    listed = {
        name: " and ".join(
            f"{value} ({'; '.join(sorted(of))})"
            for value, of in sorted(values.items(), key=lambda item: natural(item[0]))
        )
        for name, values in places.items()
        if len(values) > 1
    }
    return tuple(
        f"{BUILDS[name]} differs between environments: {values}. This, too, can make their times differ."
        for name, values in listed.items()
    )
