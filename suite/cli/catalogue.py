"""`./stackwars list`: workloads, probes, stacks, variants and presets, and what this machine lacks for them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from suite.cli.console import print_table
from suite.cli.output import print_json
from suite.environments import venv
from suite.environments.locks import lock_path, names, pins, variants
from suite.environments.variants import flags
from suite.machine import devices
from suite.plan import preset
from suite.reference.floor import floor
from suite.run.engines import absent
from suite.stacks.catalog import IMPORTS, REAL_STACKS, STACKS
from suite.workloads.catalog import Workload, find

TARGET = "cpu"  # whose locks and lacks are listed


def tell_catalogue(paths: Sequence[Path], *, as_json: bool) -> None:
    """All there is, as tables or as one object."""
    known = catalogue(paths)
    if as_json:
        print_json(known)
        return
    print_workloads(known)
    stacks = [
        [each["name"], each["title"], each["environment"], ", ".join(each["targets"]), each["lacking"] or "yes"]
        for each in known["stacks"]
    ]
    print_table("Stacks", ["stack", "what it is", "environment", "targets", "runs on this CPU"], stacks)
    for sentence in known["fallbacks"]:
        print(sentence)
    varied = [
        [each["environment"], ", ".join(each["stacks"]), versions_text(each), each["lacking"] or "yes"]
        for each in known["variants"]
    ]
    print_table("Variants", ["variant", "asked as", "versions and flags", "runs on this CPU"], varied)
    print_table("Presets", ["preset", "what it asks"], [[each["name"], each["title"]] for each in known["presets"]])
    for target, lack in known["targets"].items():
        if lack:
            print(f"--target={target}: {lack}")


def print_workloads(known: dict[str, Any]) -> None:
    """Workloads, then probes."""
    rows = [
        [
            each["name"],
            each["title"],
            ", ".join(each["sizes"]),
            f"{each['largest_state_bytes'] / 1e9:.3g} GB",
            ", ".join(each["passes"]),
            ", ".join(each["dialects"]),
        ]
        for each in known["workloads"]
    ]
    print_table("Workloads", ["workload", "what it computes", "sizes", "largest state", "passes", "dialects"], rows)
    probes = [
        [each["name"], each["title"], ", ".join(each["sizes"]), ", ".join(each["aspects"])] for each in known["probes"]
    ]
    print_table("Probes", ["probe", "what it observes", "sizes", "aspects"], probes)


def catalogue(paths: Sequence[Path]) -> dict[str, Any]:
    """All there is, as plain values; `lacking` is why something can't run here, null where it can."""
    found = find(paths).values()
    return {
        "target": TARGET,
        "workloads": [workload_json(each) for each in found if not each.is_probe],
        "probes": [named(each) | {"aspects": [*each.spec.ASPECTS]} for each in found if each.is_probe],
        "stacks": [
            {
                "name": name,
                "title": STACKS[name].title,
                "environment": STACKS[name].environment,
                "targets": [*STACKS[name].targets],
                "lacking": absent(STACKS[name], "", TARGET),
            }
            for name in REAL_STACKS
        ],
        "fallbacks": venv.chosen(names(TARGET), TARGET),
        "variants": [*map(variant_json, variants(TARGET))],
        "presets": [{"name": name, "title": preset.load(name).title} for name in preset.names()],
        "targets": devices.missing(),
    }


def named(workload: Workload) -> dict[str, Any]:
    """What workloads and probes have in common."""
    sizes = {size: workload.dims(size, {}) for size in workload.sizes}
    return {"name": workload.name, "title": workload.spec.TITLE, "sizes": sizes, "dialects": [*workload.dialects]}


def workload_json(workload: Workload) -> dict[str, Any]:
    """A workload, with the bytes that training takes at least, at the size with most of them."""
    most = max(floor(workload.spec, workload.dims(size, {}), "train").state for size in workload.sizes)
    return named(workload) | {"passes": [*workload.spec.PASSES], "largest_state_bytes": most}


def variant_json(name: str) -> dict[str, Any]:
    """A variant of an environment, like `jax@0.10`, and the stacks that it is a variant of."""
    environment, _, variant = name.partition("@")
    stacks = [stack for stack in REAL_STACKS if STACKS[stack].environment == environment]
    lock = lock_path(name, TARGET)
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
    """Of the Python, and of what the environment is there for."""
    wanted: Iterable[str] = ("python", *IMPORTS.get(environment, (environment,)))
    return {name: pinned[name] for name in wanted if name in pinned}


def versions_text(variant: dict[str, Any]) -> str:
    """`python 3.11, jax 0.10.2, optax 0.2.8`, and variables as they are set."""
    versions = [f"{name} {version}" for name, version in variant["versions"].items()]
    return ", ".join([*versions, *(f"{name}={value}" for name, value in variant["flags"].items())])
