"""Reads and makes variants of environments. A variant, like `jax@0.10`, has another lock or other flags.

In docker/locks/<target>/, `jax@0.10.in` and `jax@0.10.txt` are another lock; `jax@fastmath.toml` has other flags:

    [environ]
    XLA_FLAGS = "--xla_cpu_enable_fast_math=true"

A variant with only flags runs in the virtual environment of `jax` itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

import msgspec

from suite.environments import locks, revisions, uv
from suite.environments.locks import beside, newest
from suite.errors import UserError, check_known, unknown
from suite.sets.plan import OF_REVISION
from suite.stacks.catalog import STACKS

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*")  # becomes part of the names of files, folders and cases
REQUIREMENT = re.compile(r"(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)(?P<extras>\[[^]]*\])?(?P<version>.*)")
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class FlagsFile(msgspec.Struct, forbid_unknown_fields=True):
    """A variant's flags file: variables by name."""

    environ: dict[str, str]


def flags(name: str, target: str) -> dict[str, str]:
    """Returns {name: value} of the environment variables in a variant's flags file; empty if there is no such file.
    That of a revision says which one it is. Raises UserError if the file has anything else."""
    if revision := revisions.of(name):
        return {OF_REVISION: revision.name}
    file = beside(name, target, "toml")
    if not file.is_file():
        return {}
    try:
        return msgspec.toml.decode(file.read_bytes(), type=FlagsFile).environ
    except (msgspec.DecodeError, UnicodeDecodeError) as broken:
        raise UserError(
            f"{file} must have one table, [environ], with variables whose values are in quotes: {broken}."
        ) from broken


def expanded(patterns: Iterable[str], target: str, *, every: bool) -> tuple[str, ...]:
    """Returns the patterns with variants written out. A pattern like `jax_jit@*` is replaced by the variants that match
    it. With `every`, a pattern without @ is replaced by its stacks, each followed by all of its variants. Raises
    UserError for a pattern like `jax_jit@*` that matches no variant."""
    expanded_names: list[str] = []
    for asked in patterns:
        pattern, colon, implementation = asked.partition(":")
        rest = colon + implementation
        name, at, variant = pattern.partition("@")
        stacks = [stack for stack in STACKS if fnmatchcase(stack, name)]
        if at and set(variant) & set("*?["):
            named = [name for stack in stacks for name in of_stack(stack, target, variant)]
            if not named:
                raise unknown("variant", pattern, [name for stack in stacks for name in of_stack(stack, target, "*")])
            expanded_names += [name + rest for name in named]
        elif every and not at and stacks:
            for stack in stacks:
                expanded_names += [name + rest for name in (stack, *of_stack(stack, target, "*"))]
        else:
            expanded_names.append(asked)
    return tuple(dict.fromkeys(expanded_names))


def of_stack(stack: str, target: str, pattern: str) -> list[str]:
    """Returns the variants of a stack on a target, like `jax_jit@0.10`, whose part after the @ matches `pattern`."""
    return [
        f"{stack}@{variant}"
        for name in locks.variants(target)
        for environment, _, variant in [name.partition("@")]
        if environment == STACKS[stack].environment and fnmatchcase(variant, pattern)
    ]


def create(
    environment: str, variant: str, target: str, requirements: Sequence[str], environ: Sequence[str], python: str | None
) -> list[Path]:
    """Makes a variant with another lock, other flags, or both. Returns its files. If it can't be made, raises UserError
    and leaves the files of an existing variant as they were."""
    check_known("environment", environment, locks.names(target), of=f"Target {target}")
    if not NAME.fullmatch(variant):
        raise UserError(f"--variant={variant}: a name has only letters, digits, dots, dashes, + and _.")
    if not requirements and not environ and not python:
        raise UserError("Say how the variant differs: --with jax==0.11.2, --env XLA_FLAGS=…, or --python=3.13.")
    name, files = f"{environment}@{variant}", []
    flags_file, list_file, lock_file = (beside(name, target, suffix) for suffix in ("toml", "in", "txt"))
    before = {file: file.read_bytes() if file.is_file() else None for file in (flags_file, list_file, lock_file)}
    try:
        if environ:
            flags_file.write_text(flags_text(environ), encoding="utf-8")
            files.append(flags_file)
        if requirements or python:
            lock = newest(environment, target)
            base, python = lock.source.read_text(encoding="utf-8"), python or lock.python
            list_file.write_text(varied(base, name, requirements, python), encoding="utf-8")
            files += [list_file, *uv.compile_locks(name, target)]
    except BaseException:  # Ctrl-C as well
        for file, content in before.items():
            file.unlink(missing_ok=True) if content is None else file.write_bytes(content)
        raise
    return files


def varied(base: str, name: str, requirements: Sequence[str], python: str) -> str:
    """Returns a variant's list of requirements as text. It is `base` with each of `requirements` in place of the one
    for the same package; requirements of other packages come last."""
    lines = [line for line in base.splitlines() if line and not line.startswith("#")]
    for wanted in requirements:
        parts = REQUIREMENT.fullmatch(wanted.strip())
        if parts is None:
            raise UserError(f"--with={wanted}: a requirement is like jax==0.11.2.")
        places = [index for index, line in enumerate(lines) if package(line) == package(wanted)]
        for index in places:  # keeps the extras, like [cuda13], which say what hardware the package runs on
            old = REQUIREMENT.fullmatch(lines[index])
            lines[index] = f"{parts['name']}{parts['extras'] or (old and old['extras']) or ''}{parts['version']}"
        lines += [] if places else [wanted.strip()]
    head = f"# {name}: as {name.partition('@')[0]}, but for {', '.join(requirements) or 'its Python'}."
    return "\n".join([f"# Python {python}", head, *lines]) + "\n"


def package(requirement: str) -> str:
    """Returns the package of a requirement, its name normalized as in a package index."""
    parts = REQUIREMENT.fullmatch(requirement.strip())
    return re.sub(r"[-_.]+", "-", parts["name"]).lower() if parts else ""


def flags_text(environ: Sequence[str]) -> str:
    lines = ["# Variables of this variant's processes; lists of flags are added to the stack's own.", "[environ]"]
    for variable in environ:
        name, equals, value = variable.partition("=")
        if not equals or not VARIABLE.fullmatch(name):
            raise UserError(f"--env={variable}: a variable is like XLA_FLAGS=--xla_cpu_enable_fast_math=true.")
        quoted = value.replace("\\", "\\\\").replace('"', '\\"')
        lines.append(f'{name} = "{quoted}"')
    return "\n".join(lines) + "\n"
