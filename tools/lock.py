"""`python -m tools.lock`: resolves locks again, and makes variants."""

from __future__ import annotations

from suite.case import TARGETS
from suite.cli.app import run_tool
from suite.cli.terminal.output import print_table
from suite.cli.values import Names
from suite.environments import locks, releases, uv, variants
from suite.errors import UserError
from suite.stacks.catalog import STACKS, adapter_class


def lock(
    *,
    target: str = "cpu",
    environment: Names = (),
    variant: str | None = None,
    with_: tuple[str, ...] = (),
    env: tuple[str, ...] = (),
    python: str | None = None,
    upgrade: bool = False,
) -> None:
    """Resolves locks again from their .in files, by default all of a target; or makes a variant of one environment.

    :param target: hardware class: cpu, cuda or tpu
    :param environment: only this environment
    :param variant: make a variant of this name, like 0.11; --with, --env or --python say how it differs
    :param with_: with --variant: a requirement in place of the environment's own, like jax==0.11.2
    :param env: with --variant: a variable that its processes get, like XLA_FLAGS=--xla_cpu_enable_fast_math=true
    :param python: with --variant: its Python, like 3.13
    :param upgrade: lock the newest versions that the .in files allow (default: keep what the lock has)
    """
    if variant is None:
        if with_ or env or python:
            raise UserError("--with, --env and --python are for a variant: name it, like --variant=0.11.")
        for name in environment or [*locks.names(target), *locks.variants(target), locks.ORCHESTRATOR]:
            lock_again(name, target, upgrade=upgrade)
        add_days()
        return
    if upgrade:
        raise UserError(
            "--upgrade is for existing locks: a new variant has its environment's versions, except those that --with "
            "names."
        )
    if len(environment) != 1:
        raise UserError("A variant belongs to one environment: name it, like --environment=jax.")
    for file in variants.create(environment[0], variant, target, with_, env, python):
        print(file)
    add_days()


def add_days() -> None:
    """Keeps the days on which releases came out that a lock is the first to pin, and prints them."""
    for line in releases.add_days(stack_locks(), recorded()):
        print(line)


def stack_locks() -> list[locks.Lock]:
    """Returns every lock of a stack."""
    every = [(name, target) for target in TARGETS for name in (*locks.names(target), *locks.variants(target))]
    return [lock for name, target in every for lock in locks.all_locks(name, target)]


def recorded() -> set[str]:
    """Returns the packages whose versions the rows of some stack have."""
    return {package for stack in STACKS for package in adapter_class(stack).packages}


def lock_again(name: str, target: str, *, upgrade: bool) -> None:
    """Resolves one lock again and prints which versions changed."""
    if locks.owner(name, target) != name:
        return  # a variant with only flags: it has no lock of its own
    before = locks.newest(name, target).pins
    for lock in uv.compile_locks(name, target, upgrade=upgrade):
        print(lock)
    after = locks.newest(name, target).pins
    changed = [
        [package, before.get(package, "-"), after.get(package, "-")]
        for package in sorted(before | after)
        if before.get(package) != after.get(package)
    ]
    if changed:
        print_table(f"{name}, {target}", ["package", "was", "is"], changed)


if __name__ == "__main__":
    run_tool("tools.lock", lock)
