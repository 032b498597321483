"""Variants: another lock or other flags of one environment, like `jax@0.10`, and how one is made.

`docker/locks/<target>/jax@0.10.in` and `.txt` are a lock of its own, `jax@fastmath.toml` flags:

    [environ]
    XLA_FLAGS = "--xla_cpu_enable_fast_math=true"

With flags alone, a variant runs in the environment that it varies.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from suite.environments import locks, uv
from suite.environments.locks import beside, flags_path, lock_path, python_of_lock, requirements_path, source_of
from suite.errors import UserError, unknown
from suite.stacks.catalog import REAL_STACKS, STACKS

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*")  # part of names of files, folders and cases
REQUIREMENT = re.compile(r"(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)(?P<extras>\[[^]]*\])?(?P<version>.*)")
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
BORROWED: dict[tuple[str, str], Mapping[str, str]] = {}  # in this process: of a set that is reproduced


def flags(name: str, target: str) -> dict[str, str]:
    """The variables that a variant's processes have, by name. Raises UserError for a file that isn't of this form."""
    if (name, target) in BORROWED:
        return dict(BORROWED[name, target])
    file = flags_path(name, target)
    if not file.is_file():
        return {}
    try:
        told = tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as broken:
        raise UserError(f"{file} isn't TOML: {broken}.") from broken
    environ = told.get("environ")
    right = isinstance(environ, dict) and all(isinstance(value, str) for value in environ.values())
    if told.keys() != {"environ"} or not right:
        raise UserError(f"{file} has one table, [environ], of variables with their values in quotes.")
    return dict(told["environ"])


def expanded(patterns: Iterable[str], target: str, *, every: bool) -> tuple[str, ...]:
    """Stacks as they were asked for, with `jax_jit@*` as the variants that there are; with `every`, each stack followed
    by all of its own. Raises UserError for a pattern that no variant has."""
    found: list[str] = []
    for pattern in patterns:
        name, at, variant = pattern.partition("@")
        stacks = [stack for stack in REAL_STACKS if fnmatchcase(stack, name)]
        if at and set(variant) & set("*?["):
            named = [each for stack in stacks for each in of_stack(stack, target, variant)]
            if not named:
                raise unknown("variant", pattern, [each for stack in stacks for each in of_stack(stack, target, "*")])
            found += named
        elif every and not at and stacks:
            found += [each for stack in stacks for each in (stack, *of_stack(stack, target, "*"))]
        else:
            found.append(pattern)
    return tuple(dict.fromkeys(found))


def of_stack(stack: str, target: str, pattern: str) -> list[str]:
    """A stack's variants on a target, as they are asked for: `jax_jit@0.10`."""
    return [
        f"{stack}@{variant}"
        for name in locks.variants(target)
        for environment, _, variant in [name.partition("@")]
        if environment == STACKS[stack].environment and fnmatchcase(variant, pattern)
    ]


def create(
    environment: str, variant: str, target: str, requirements: Sequence[str], environ: Sequence[str], python: str | None
) -> list[Path]:
    """Make a variant: a lock that differs in some requirements, flags, or both; the files. Raises UserError, and
    then leaves nothing of it behind."""
    if environment not in locks.names(target):
        raise unknown(f"environment on {target}", environment, locks.names(target))
    if not NAME.fullmatch(variant):
        raise UserError(f"--variant={variant}: letters, digits, dots, dashes, + and _ make a name.")
    if not requirements and not environ and not python:
        raise UserError("A variant differs in something: --with jax==0.11.2, --env XLA_FLAGS=…, or --python=3.13.")
    name, made = f"{environment}@{variant}", []
    before = {
        file: file.read_bytes() if file.is_file() else None
        for file in (requirements_path(name, target), beside(name, target, "txt"), flags_path(name, target))
    }
    try:
        if environ:
            flags_path(name, target).write_text(flags_file(environ), encoding="utf-8")
            made.append(flags_path(name, target))
        if requirements or python:
            lock = lock_path(environment, target)
            base, python = source_of(lock).read_text(encoding="utf-8"), python or python_of_lock(lock)
            requirements_path(name, target).write_text(varied(base, name, requirements, python), encoding="utf-8")
            made += [requirements_path(name, target), *uv.compile_locks(name, target)]
    except BaseException:  # Ctrl-C as well
        for file, content in before.items():
            file.unlink(missing_ok=True) if content is None else file.write_bytes(content)
        raise
    return made


def varied(base: str, name: str, requirements: Sequence[str], python: str) -> str:
    """A list of requirements with some in place of those of the same name, or behind them."""
    lines = [line for line in base.splitlines() if line and not line.startswith("#")]
    for wanted in requirements:
        asked = REQUIREMENT.fullmatch(wanted.strip())
        if asked is None:
            raise UserError(f"--with={wanted}: a requirement is like jax==0.11.2.")
        places = [index for index, line in enumerate(lines) if package(line) == package(wanted)]
        for index in places:  # extras say what it runs on
            old = REQUIREMENT.fullmatch(lines[index])
            lines[index] = f"{asked['name']}{asked['extras'] or (old and old['extras']) or ''}{asked['version']}"
        lines += [] if places else [wanted.strip()]
    head = f"# {name}: as {name.partition('@')[0]}, but for {', '.join(requirements) or 'its Python'}."
    return "\n".join([f"# Python {python}", head, *lines]) + "\n"


def package(requirement: str) -> str:
    """The name of what is required, as an index has it."""
    found = REQUIREMENT.fullmatch(requirement.strip())
    return re.sub(r"[-_.]+", "-", found["name"]).lower() if found else ""


def flags_file(environ: Sequence[str]) -> str:
    """`NAME=VALUE` as TOML."""
    lines = ["# Variables of this variant's processes; lists of flags are added to the stack's own.", "[environ]"]
    for each in environ:
        name, equals, value = each.partition("=")
        if not equals or not VARIABLE.fullmatch(name):
            raise UserError(f"--env={each}: a variable is like XLA_FLAGS=--xla_cpu_enable_fast_math=true.")
        quoted = value.replace("\\", "\\\\").replace('"', '\\"')
        lines.append(f'{name} = "{quoted}"')
    return "\n".join(lines) + "\n"
