"""The rules that a published table keeps: its versions are those of a lock, and its machine was quiet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from suite import units
from suite.environments.locks import all_locks
from suite.stats import FLOOR_MAX
from tools.figures.definitions import Definition
from tools.figures.markers import Origin, PublishedTable

PACKAGES = {
    "jax": "JAX",
    "torch": "PyTorch",
    "torch-xla": "PyTorch/XLA",
    "torchax": "torchax",
    "torch-tpu": "TorchTPU",
    "tensorflow": "TensorFlow",
    "onnxruntime": "ONNX Runtime",
    "numba": "Numba",
    "openvino": "OpenVINO",
    "iree-base-compiler": "IREE",
    "numpy": "NumPy",
}  # the packages that a table names: {name in a lock: name in the table}
BUILDS = {"tensorflow-cpu": "tensorflow", "tensorflow-tpu": "tensorflow"}  # other names of the same package

Versions = Mapping[str, str]


def named_versions(packages: Versions) -> dict[str, str]:
    """Returns {package: version} of the packages that a table names, each under its name in `PACKAGES`."""
    spelled = {name.replace("_", "-"): version for name, version in packages.items()}
    spelled = {BUILDS.get(name, name): version for name, version in spelled.items()}
    return {name: spelled[name] for name in PACKAGES if name in spelled}


def locked_versions(environment: str, target: str) -> list[tuple[Path, dict[str, str]]]:
    """Returns (lock, {package: version}) of each lock of an environment, the newest first."""
    return [(lock.path, named_versions(lock.pins)) for lock in all_locks(environment, target) if lock.exists]


def broken_rules(definition: Definition, table: PublishedTable) -> list[str]:
    """Returns a sentence for each rule that a table in a page breaks; the table of locks has none to break."""
    origin = table.origin
    if not definition.sets:
        return []
    if not origin.sets:
        return ["it comes from no result set"]
    unsaid = [f"its text must also say: {words}" for words in older_locks(origin) if words not in table.text]
    return [*lock_problems(origin), *unsaid, *noise_problems(origin)]


def lock_problems(origin: Origin) -> list[str]:
    """Returns a sentence for each environment whose versions no lock has."""
    if not origin.versions:
        return ["its versions aren't known"]
    problems = []
    for environment, versions in sorted(origin.versions.items()):
        locks = locked_versions(environment, origin.target)
        if versions not in [locked for _, locked in locks]:
            newest = f"the newest lock has {listed(locks[0][1])}" if locks else "that environment has no lock"
            problems.append(f"{environment} ran {listed(versions)}, which no lock has: {newest}")
    return problems


def older_locks(origin: Origin) -> list[str]:
    """Returns a sentence for each version that comes from an older lock; the table's text must have these sentences."""
    sentences: dict[str, str] = {}
    for environment, versions in sorted(origin.versions.items()):
        locks = locked_versions(environment, origin.target)
        older = next((lock for lock, locked in locks[1:] if locked == versions), None)
        if older is None or locks[0][1] == versions:
            continue
        for package, version in versions.items():
            newest = locks[0][1].get(package)
            if version != newest:
                sentences.setdefault(
                    package,
                    f"{PACKAGES[package]} {version} is of an older lock ({older.name}); the newest has {newest}.",
                )
    return list(sentences.values())


def noise_problems(origin: Origin) -> list[str]:
    """Returns a sentence if equal processes differed by more than `FLOOR_MAX`."""
    if origin.noise is None or 1 / FLOOR_MAX <= origin.noise[0] <= origin.noise[1] <= FLOOR_MAX:
        return []
    low, high = map(units.ratio, origin.noise)
    return [f"its noise floors are too wide: from {low} to {high}, where ±{FLOOR_MAX - 1:.0%} is the limit"]


def listed(versions: Versions) -> str:
    """Returns packages with their versions: `JAX 0.12.0.1, NumPy 2.4.6`."""
    return ", ".join(f"{PACKAGES[package]} {version}" for package, version in versions.items())


def in_words(origin: Origin) -> str:
    """Returns the versions of all packages in one line. Where a package has several, each names its environments."""
    by_package: dict[str, dict[str, list[str]]] = {}
    for environment, versions in sorted(origin.versions.items()):
        for package, version in versions.items():
            by_package.setdefault(package, {}).setdefault(version, []).append(environment)
    return ", ".join(with_versions(package, by_package[package]) for package in PACKAGES if package in by_package)


def with_versions(package: str, environments: Mapping[str, Sequence[str]]) -> str:
    """Returns a package with its versions: `PyTorch 2.13.0+cpu (torch) and 2.9.0 (torch_xla, torchax)`."""
    if len(environments) == 1:
        return f"{PACKAGES[package]} {next(iter(environments))}"
    versions = (f"{version} ({', '.join(names)})" for version, names in environments.items())
    return f"{PACKAGES[package]} {' and '.join(versions)}"
