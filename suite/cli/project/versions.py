"""`./stackwars lock`: resolves locks again, and makes variants."""

from __future__ import annotations

from suite.cli.options.project import LockOptions
from suite.cli.terminal.console import print_table
from suite.environments import locks, uv, variants
from suite.errors import UserError


def lock(options: LockOptions) -> None:
    """Resolves locks again, by default all of a target; with --variant, makes a variant of one environment."""
    target = options.target
    if options.variant is not None and options.upgrade:
        raise UserError(
            "--upgrade is for existing locks: a new variant has its environment's versions, except those that --with "
            "names."
        )
    if options.variant is None:
        if options.with_ or options.env or options.python:
            raise UserError("--with, --env and --python are for a variant: name it, like --variant=0.11.")
        for name in options.environment or [*locks.names(target), *locks.variants(target), locks.ORCHESTRATOR]:
            lock_again(name, target, upgrade=options.upgrade)
        return
    if len(options.environment) != 1:
        raise UserError("A variant belongs to one environment: name it, like --environment=jax.")
    name = options.environment[0]
    for file in variants.create(name, options.variant, target, options.with_, options.env, options.python):
        print(file)


def lock_again(name: str, target: str, *, upgrade: bool) -> None:
    """Resolves one lock again and prints which versions changed."""
    if locks.owner(name, target) != name:
        return  # a variant with only flags: it has no lock of its own
    before = versions(name, target)
    for lock in uv.compile_locks(name, target, upgrade=upgrade):
        print(lock)
    after = versions(name, target)
    changed = [
        [package, before.get(package, "-"), after.get(package, "-")]
        for package in sorted(before | after)
        if before.get(package) != after.get(package)
    ]
    if changed:
        print_table(f"{name}, {target}", ["package", "was", "is"], changed)


def versions(name: str, target: str) -> dict[str, str]:
    """Returns the versions of Python and packages in an environment's newest lock; empty if there is none."""
    path = locks.lock_path(name, target)
    return locks.pins(path.read_text(encoding="utf-8")) if path.is_file() else {}
