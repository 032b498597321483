"""The one exception that reaches a person without a traceback."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

COMMAND = "./stackwars"  # what a person types in the checkout, here and in pages: it needs no activation


class UserError(Exception):
    """A mistake that a person can mend: says what happened, where, and what to do next (exit code 2)."""


class Damaged(UserError):
    """A set, or an archive of one, isn't as it was made: `verify` finds that (exit code 3), all else refuses it."""


def near_match(name: str, known: Iterable[str]) -> str | None:
    """What was probably meant, in whichever case it was typed; None where nothing is near."""
    by_folded = {each.casefold(): each for each in known}
    near = difflib.get_close_matches(name.casefold(), by_folded, n=1, cutoff=0.5)
    return by_folded[near[0]] if near else None


def unknown(kind: str, name: str, known: Iterable[str], of: str = "") -> UserError:
    """The refusal of a mistyped name: the near match first, then all there is. `of` is whose name it isn't."""
    names = sorted(known)
    near = near_match(name, names)
    hint = f" Did you mean '{near}'?" if near else ""
    refusal = f"{of} has no {kind} '{name}'." if of else f"There is no {kind} '{name}'."
    return UserError(f"{refusal}{hint} Known: {', '.join(names) or 'none'}.")
