"""Finds the set that a person names. The text is the set's folder, its name in archives, or the beginning of such a
name if no other set's name begins so; or an archive's address with `/NAME` behind it. `sets:NAME` is one of this
project's own, in its folder sets/."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from suite.cli.extras import of_archives
from suite.errors import COMMAND, UserError, near_match
from suite.sets import manifest
from suite.sets.listing import OWN, folders, newest
from suite.sets.result_set import LATEST

RESULTS = Path("results")
OWN_PREFIX = "sets:"
LONGEST = 200  # characters of a name that are repeated in a message


def named(text: str, results: Path = RESULTS) -> Path:
    """Returns the folder of a set on this machine. `text` is a path, a set's name, or the beginning of a name. Names
    are looked for in `results`; if `text` has a slash, in the folder before its last slash. A set of an archive's
    address is fetched into `results` first, if it isn't there.

    Raises UserError if no set has such a name, or if several have.
    """
    if text.startswith(OWN_PREFIX):
        if not OWN.is_dir():
            raise UserError(f"{text[:LONGEST]}: this project's own sets are in its checkout alone, in sets/.")
        text = str(OWN / text.removeprefix(OWN_PREFIX))
    if "://" in text:
        # As a browser shows it: with a slash behind it, or the page's name.
        place, _, name = text.removesuffix("/report.html").rstrip("/").rpartition("/")
        return fetched(name, place, results)
    path = Path(text)
    is_latest = path.name == LATEST
    home = path.parent if "/" in text or (is_latest and os.path.lexists(path)) else results
    if is_latest and not (home / LATEST).is_symlink() and (found := newest(home)):
        return found
    if path.exists():
        return path
    if (home / path.name).exists():
        return home / path.name
    if is_latest and (home / LATEST).is_symlink():
        found = newest(home)
        then = (
            f"The newest set there is {found}." if found else f"`{COMMAND} sets --results={home}` lists what is there."
        )
        raise UserError(
            f"{home / LATEST} is a link to {(home / LATEST).readlink()}, which isn't there any more. {then}"
        )
    names = {str(folder): names_of(folder) for folder in folders(home)}
    chosen = only(path.name, names)
    if chosen is None:
        near = near_match(path.name, [name for both in names.values() for name in both])
        hint = f" Did you mean '{near}'?" if near else ""
        raise UserError(
            f"There is no result set at {text[:LONGEST]}, and none in {home} has a name that begins like that."
            f"{hint} `{COMMAND} sets` lists them, `{COMMAND} run` makes one."
        )
    return Path(chosen)


def fetched(name: str, address: str, results: Path) -> Path:
    """Returns the folder in `results` of a set of the archive at `address`, which is fetched if it isn't there."""
    folder: Path = of_archives("fetched")(name, address, results)
    return folder


def names_of(folder: Path) -> tuple[str, ...]:
    """Returns the names of a set: that of its folder and, if the set is whole, its name in archives."""
    try:
        return folder.name, manifest.read(folder).name
    except (UserError, OSError):
        return (folder.name,)


def only(beginning: str, names: Mapping[str, tuple[str, ...]]) -> str | None:
    """Returns the key of the only set that has a name with this beginning; None if there is no such set. Raises
    UserError if there are several.

    Folders whose sets have the same name in archives are copies of one set: the first of them is returned.
    """
    matching = {key: names_ for key, names_ in names.items() if any(name.startswith(beginning) for name in names_)}
    if len({names_[-1] for names_ in matching.values()}) > 1:
        lines = [f"  {' = '.join(dict.fromkeys((key, *names_)))}" for key, names_ in matching.items()]
        head = f"{len(lines)} sets have a name that begins with {beginning!r}:"
        raise UserError("\n".join([head, *lines, "Give more of the name, or all of it."]))
    return next(iter(matching), None)
