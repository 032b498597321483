"""`./stackwars lock`: today's versions, and variants."""

from __future__ import annotations

from collections.abc import Sequence

from suite.cli.console import print_table
from suite.environments import locks, uv, variants
from suite.errors import UserError


def lock(
    target: str,
    environments: Sequence[str],
    variant: str | None,
    requirements: Sequence[str],
    environ: Sequence[str],
    python: str | None,
    *,
    upgrade: bool,
) -> None:
    """Resolve locks again, by default all of a target; or make a variant of one environment."""
    if variant is not None and upgrade:
        raise UserError("--upgrade is for locks that are there; a new variant is as its environment, but for --with.")
    if variant is None:
        if requirements or environ or python:
            raise UserError("--with, --env and --python are for a variant: name it, like --variant=0.11.")
        for name in environments or [*locks.names(target), *locks.variants(target), locks.ORCHESTRATOR]:
            lock_again(name, target, upgrade=upgrade)
        return
    if len(environments) != 1:
        raise UserError("A variant is one of one environment: --environment=jax.")
    for file in variants.create(environments[0], variant, target, requirements, environ, python):
        print(file)


def lock_again(name: str, target: str, *, upgrade: bool) -> None:
    """And say which versions changed."""
    if locks.owner(name, target) != name:
        return  # flags alone
    before = versions(name, target)
    for made in uv.compile_locks(name, target, upgrade=upgrade):
        print(made)
    after = versions(name, target)
    changed = [
        [package, before.get(package, "-"), after.get(package, "-")]
        for package in sorted(before | after)
        if before.get(package) != after.get(package)
    ]
    if changed:
        print_table(f"{name}, {target}", ["package", "was", "is"], changed)


def versions(name: str, target: str) -> dict[str, str]:
    """What a lock pins, and the Python that it is for."""
    path = locks.lock_path(name, target)
    return locks.pins(path.read_text(encoding="utf-8")) if path.is_file() else {}
