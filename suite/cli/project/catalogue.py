"""`./stackwars list`: lists workloads, probes, stacks, variants and presets, and what this machine lacks for them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from suite.case import TARGETS
from suite.cli.terminal.output import print_json, print_table
from suite.cli.values import Json, StackPath, WorkloadPath
from suite.environments import venv
from suite.environments.locks import Locks, names, variants
from suite.environments.variants import flags
from suite.errors import check_known
from suite.machine import devices
from suite.plan import preset
from suite.plan.refusals import not_on
from suite.reference.floor import floor
from suite.run.start.engines import absent
from suite.stacks.catalog import IMPORTS, STACKS
from suite.stacks.catalog import add as add_stacks
from suite.workloads.catalog import Workload, find

# The lists' titles and columns: {head: field}.
TABLES = {
    "workloads": (
        "Workloads",
        {"workload": "name", "what it computes": "title", "sizes": "sizes", "largest state": "largest_state_bytes",
         "passes": "passes", "dialects": "dialects"},
    ),
    "probes": (
        "Probes",
        {"probe": "name", "what it observes": "title", "sizes": "sizes", "aspects": "aspects"},
    ),
    "stacks": (
        "Stacks",
        {"stack": "name", "what it is": "title", "environment": "environment", "targets": "targets",
         "runs here": "lacking"},
    ),
    "variants": (
        "Variants",
        {"variant": "environment", "name for --stack": "stacks", "versions": "versions", "flags": "flags",
         "runs here": "lacking"},
    ),
    "presets": ("Presets", {"preset": "name", "what it measures": "title"}),
}  # fmt: skip


def catalogue(
    *, target: str = "cpu", workload_path: WorkloadPath = (), stack_path: StackPath = (), json: Json = False
) -> None:
    """Prints the lists, as tables or as one JSON object.

    :param target: the hardware class for which the lists say what runs here: cpu, cuda or tpu
    """
    check_known("target", target, TARGETS)
    add_stacks(map(Path, stack_path))
    known = listed([*map(Path, workload_path)], target)
    if json:
        print_json(known)
        return
    for kind, (title, columns) in TABLES.items():
        lines = [[cell(name, entry[name]) for name in columns.values()] for entry in known[kind]]
        print_table(title, [*columns], lines)
    lacking = [f"--target={target}: {lack}" for target, lack in known["targets"].items() if lack]
    print(*known["fallbacks"], *lacking, sep="\n")


def cell(name: str, value: Any) -> str:
    """Returns a field of a list's entry as its table shows it."""
    match name, value:
        case "lacking", _:
            return value or "yes"
        case "largest_state_bytes", _:
            return f"{value / 1e9:.3g} GB"
        case (("versions" | "flags"), _):
            return ", ".join(f"{key} {text}" for key, text in value.items())
    return value if isinstance(value, str) else ", ".join(value)


def listed(paths: Sequence[Path], target: str = "cpu") -> dict[str, Any]:
    """Returns the lists as JSON values; `lacking` says why an entry can't run here on the target, null if it can."""
    workloads = find(paths).values()
    return {
        "target": target,
        "workloads": [workload_json(workload) for workload in workloads if not workload.is_probe],
        "probes": [named(probe) | {"aspects": [*probe.spec.ASPECTS]} for probe in workloads if probe.is_probe],
        "stacks": [
            {
                "name": name,
                "title": STACKS[name].title,
                "environment": STACKS[name].environment,
                "targets": [*STACKS[name].targets],
                "lacking": not_on(STACKS[name], target) or absent(STACKS[name], "", target),
            }
            for name in STACKS
        ],
        "fallbacks": venv.fallbacks(names(target), venv.fitting(names(target), Locks(target))),
        "variants": [variant_json(name, target) for name in variants(target)],
        "presets": [{"name": name, "title": preset.load(name).title} for name in preset.names()],
        "targets": devices.missing(),
    }


def named(workload: Workload) -> dict[str, Any]:
    sizes = {size: workload.dims(size, {}) for size in workload.sizes}
    return {"name": workload.name, "title": workload.spec.TITLE, "sizes": sizes, "dialects": [*workload.dialects]}


def workload_json(workload: Workload) -> dict[str, Any]:
    """Returns a workload's fields. `largest_state_bytes` is what weights and optimizer state take in training, at the
    size where that is most."""
    most = max(floor(workload, workload.dims(size, {}), "train").state for size in workload.sizes)
    return named(workload) | {"passes": [*workload.spec.PASSES], "largest_state_bytes": most}


def variant_json(name: str, target: str) -> dict[str, Any]:
    """Returns the fields of a variant of an environment, like `jax@0.10`, with the stacks that run in it."""
    environment, _, variant = name.partition("@")
    stacks = [stack for stack in STACKS if STACKS[stack].environment == environment]
    pinned = venv.fit(name, target).pins
    wanted = ("python", *IMPORTS.get(environment, (environment,)))
    lacking = [absent(STACKS[stack], variant, target) for stack in stacks]
    return {
        "environment": name,
        "stacks": [f"{stack}@{variant}" for stack in stacks],
        "versions": {package: pinned[package] for package in wanted if package in pinned},
        "flags": flags(name, target),
        "lacking": next(filter(None, lacking), None),
    }
