"""The points at which the extras, the folders of suite/extras, hook into the core: the tables of their `extra.toml`.

The core imports what a table names when it is needed, and so no module of it names an extra.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

import msgspec

from suite.errors import UserError, check_known

if TYPE_CHECKING:
    from suite.sets.result_set import ResultSet

FOLDER = Path(__file__).parents[1] / "extras"


class Command(msgspec.Struct, forbid_unknown_fields=True):
    """A command: its group in the help, its function as `module:function` of the extra, and what the help says."""

    group: str
    function: str
    help: str


class Extra(msgspec.Struct, forbid_unknown_fields=True):
    """What an extra adds. `schedulers` are functions that let other machines measure the rest of a set's plan, by the
    value of --scheduler, and `targets` are further targets of `setup`. `archives` are functions on archives: `listed`
    and `fetched`. `needs` names the extras that this one imports."""

    commands: dict[str, Command] = {}
    schedulers: dict[str, str] = {}
    targets: tuple[str, ...] = ()
    archives: dict[str, str] = {}
    needs: tuple[str, ...] = ()


@cache
def extras() -> dict[str, Extra]:
    """Returns what each extra adds, by the extra's name."""
    files = sorted(FOLDER.glob("*/extra.toml"))
    return {file.parent.name: msgspec.convert(tomllib.loads(file.read_text()), Extra) for file in files}


def commands() -> dict[str, tuple[str, str, str]]:
    """Returns each extra command's group, function as `module:function`, and help."""
    return {
        name: (command.group, f"suite.extras.{extra}.{command.function}", command.help)
        for extra, adds in extras().items()
        for name, command in adds.commands.items()
    }


def functions(point: str) -> dict[str, str]:
    """Returns the full name of each function that an extra adds at a point: `schedulers` or `archives`."""
    return {
        name: f"suite.extras.{extra}.{function}"
        for extra, adds in extras().items()
        for name, function in getattr(adds, point).items()
    }


def scheduler(name: str) -> Callable[[ResultSet, frozenset[str], Any], int]:
    """Returns the function that has other machines measure the rest of a set's plan. It takes the set, the outcomes
    that are measured again and the options of the run, and returns the exit code."""
    known = functions("schedulers")
    check_known("scheduler", name, known)
    found: Callable[[ResultSet, frozenset[str], Any], int] = resolve_name(known[name])
    return found


def of_archives(name: str) -> Callable[..., Any]:
    """Returns an extra's function on archives: `listed(address)` returns the archive's address and its sets, and
    `fetched(set, address, results)` the folder in `results` of one of them. Raises UserError without such an extra."""
    known = functions("archives")
    if name not in known:
        raise UserError("No archive can be read here: the extra that reads them was deleted.")
    found: Callable[..., Any] = resolve_name(known[name])
    return found


def targets() -> list[str]:
    return [target for adds in extras().values() for target in adds.targets]
