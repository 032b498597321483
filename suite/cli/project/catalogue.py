"""`./stackwars list`: lists workloads, probes, stacks, variants and presets, and what this machine lacks for them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from suite.cli.options.project import ListOptions
from suite.cli.terminal.console import print_table
from suite.cli.terminal.output import print_json
from suite.environments import venv
from suite.environments.locks import Locks, names, pins, variants
from suite.environments.variants import flags
from suite.machine import devices
from suite.plan import preset
from suite.reference.floor import floor
from suite.run.start.engines import absent
from suite.stacks.catalog import IMPORTS, STACKS
from suite.stacks.catalog import add as add_stacks
from suite.workloads.catalog import Workload, find

TARGET = "cpu"  # the target whose variants are listed, and for which the lists say what this machine lacks


def print_catalogue(options: ListOptions) -> None:
    """Prints the lists, as tables or as one JSON object."""
    add_stacks(map(Path, options.stack_path))
    known = catalogue([*map(Path, options.workload_path)])
    if options.json:
        print_json(known)
        return
    print_workloads(known)
    stacks = [
        [stack["name"], stack["title"], stack["environment"], ", ".join(stack["targets"]), stack["lacking"] or "yes"]
        for stack in known["stacks"]
    ]
    print_table("Stacks", ["stack", "what it is", "environment", "targets", "runs on this CPU"], stacks)
    for sentence in known["fallbacks"]:
        print(sentence)
    varied = [
        [variant["environment"], ", ".join(variant["stacks"]), versions_text(variant), variant["lacking"] or "yes"]
        for variant in known["variants"]
    ]
    print_table("Variants", ["variant", "name for --stack", "versions and flags", "runs on this CPU"], varied)
    presets = [[preset["name"], preset["title"]] for preset in known["presets"]]
    print_table("Presets", ["preset", "what it measures"], presets)
    for target, lack in known["targets"].items():
        if lack:
            print(f"--target={target}: {lack}")


def print_workloads(known: dict[str, Any]) -> None:
    """Prints the tables of workloads and probes."""
    rows = [
        [
            workload["name"],
            workload["title"],
            ", ".join(workload["sizes"]),
            f"{workload['largest_state_bytes'] / 1e9:.3g} GB",
            ", ".join(workload["passes"]),
            ", ".join(workload["dialects"]),
        ]
        for workload in known["workloads"]
    ]
    print_table("Workloads", ["workload", "what it computes", "sizes", "largest state", "passes", "dialects"], rows)
    probes = [
        [probe["name"], probe["title"], ", ".join(probe["sizes"]), ", ".join(probe["aspects"])]
        for probe in known["probes"]
    ]
    print_table("Probes", ["probe", "what it observes", "sizes", "aspects"], probes)


def catalogue(paths: Sequence[Path]) -> dict[str, Any]:
    """Returns the lists as JSON values; `lacking` says why an entry can't run here, null if it can."""
    workloads = find(paths).values()
    return {
        "target": TARGET,
        "workloads": [workload_json(workload) for workload in workloads if not workload.is_probe],
        "probes": [named(probe) | {"aspects": [*probe.spec.ASPECTS]} for probe in workloads if probe.is_probe],
        "stacks": [
            {
                "name": name,
                "title": STACKS[name].title,
                "environment": STACKS[name].environment,
                "targets": [*STACKS[name].targets],
                "lacking": absent(STACKS[name], "", TARGET),
            }
            for name in STACKS
        ],
        "fallbacks": venv.fallbacks(names(TARGET), venv.fitting(names(TARGET), Locks(TARGET))),
        "variants": [*map(variant_json, variants(TARGET))],
        "presets": [{"name": name, "title": preset.load(name).title} for name in preset.names()],
        "targets": devices.missing(),
    }


def named(workload: Workload) -> dict[str, Any]:
    """Returns the fields that workloads and probes have in common."""
    sizes = {size: workload.dims(size, {}) for size in workload.sizes}
    return {"name": workload.name, "title": workload.spec.TITLE, "sizes": sizes, "dialects": [*workload.dialects]}


def workload_json(workload: Workload) -> dict[str, Any]:
    """Returns a workload's fields. `largest_state_bytes` is what weights and optimizer state take in training, at the
    size where that is most."""
    most = max(floor(workload, workload.dims(size, {}), "train").state for size in workload.sizes)
    return named(workload) | {"passes": [*workload.spec.PASSES], "largest_state_bytes": most}


def variant_json(name: str) -> dict[str, Any]:
    """Returns the fields of a variant of an environment, like `jax@0.10`, with the stacks that run in it."""
    environment, _, variant = name.partition("@")
    stacks = [stack for stack in STACKS if STACKS[stack].environment == environment]
    lock = venv.fit(name, TARGET)
    pinned = pins(lock.read_text(encoding="utf-8")) if lock.is_file() else {}
    lacking = [absent(STACKS[stack], variant, TARGET) for stack in stacks]
    return {
        "environment": name,
        "stacks": [f"{stack}@{variant}" for stack in stacks],
        "versions": versions_of(environment, pinned),
        "flags": flags(name, TARGET),
        "lacking": next(filter(None, lacking), None),
    }


def versions_of(environment: str, pinned: dict[str, str]) -> dict[str, str]:
    """Returns the versions of Python and of the environment's frameworks."""
    wanted: Iterable[str] = ("python", *IMPORTS.get(environment, (environment,)))
    return {name: pinned[name] for name in wanted if name in pinned}


def versions_text(variant: dict[str, Any]) -> str:
    """Returns `python 3.11, jax 0.10.2, optax 0.2.8`, followed by the variant's variables."""
    versions = [f"{name} {version}" for name, version in variant["versions"].items()]
    return ", ".join([*versions, *(f"{name}={value}" for name, value in variant["flags"].items())])
