"""Which set a person means: by its folder, by its name in an archive, or by any beginning that only one set has."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from suite.archive.listing import of_place
from suite.archive.place import Place
from suite.errors import COMMAND, UserError, near_match
from suite.results.store import manifest
from suite.results.store.manifest import SET_NAME

RESULTS = Path("results")
LONGEST = 200  # characters of what isn't understood


def named(text: str, results: Path = RESULTS) -> Path:
    """A set that lies here: a path as it is; any other word is a name, or the beginning of one, of a set in `results`
    or in the folder that the word has before its last slash.

    Raises UserError where no set has such a name, or several have.
    """
    path = Path(text)
    if path.exists():
        return path
    home = path.parent if "/" in text else results
    if (home / path.name).exists():
        return home / path.name
    plans = (plan for plan in sorted(home.glob("*/plan.json")) if not plan.parent.is_symlink())
    names = {str(plan.parent): names_of(plan.parent) for plan in plans}
    chosen = only(path.name, names)
    if chosen is None:
        near = near_match(path.name, [name for both in names.values() for name in both])
        hint = f" Did you mean '{near}'?" if near else ""
        raise UserError(
            f"There is no result set at {text[:LONGEST]}, and none in {home} has a name that begins so."
            f"{hint} `{COMMAND} sets` lists them, `{COMMAND} run` makes one."
        )
    return Path(chosen)


def names_of(folder: Path) -> tuple[str, ...]:
    """The folder's name and, of a whole set, the one that archives have it by."""
    try:
        return folder.name, manifest.read(folder).name
    except (UserError, OSError):
        return (folder.name,)


def archived(text: str, place: Place) -> str:
    """The name that a place has a set by, from any beginning of it or of the set's id; a whole name isn't looked for.

    Raises UserError where no archive has such a name, or several have.
    """
    if SET_NAME.fullmatch(text):
        return text
    chosen = only(text, {each.name: (str(each.facts.get("set_id", "")), each.name) for each in of_place(place)})
    if chosen is None:
        raise UserError(
            f"{place.uri} has no archive with a name that begins with {text[:LONGEST]!r}: they look like "
            f"2026-11-21.cpu.3f2a91c; `{COMMAND} sets --from={place.uri}` lists them."
        )
    return chosen


def only(beginning: str, names: Mapping[str, tuple[str, ...]]) -> str | None:
    """The one set of which a name begins so; None where there is none. Raises UserError for several.

    What archives have by one name is one set, in however many folders it lies: the first of them is taken.
    """
    matching = {key: names_ for key, names_ in names.items() if any(name.startswith(beginning) for name in names_)}
    if len({names_[-1] for names_ in matching.values()}) > 1:
        lines = [f"  {' = '.join(dict.fromkeys((key, *names_)))}" for key, names_ in matching.items()]
        raise UserError(
            "\n".join(
                [
                    f"{len(lines)} sets have a name that begins with {beginning!r}:",
                    *lines,
                    "Give more of the name, or all of it.",
                ]
            )
        )
    return next(iter(matching), None)
