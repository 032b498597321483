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
    """Returns what was probably meant, in whichever case it was typed; None where nothing is near."""
    by_folded = {word.casefold(): word for word in known}
    near = difflib.get_close_matches(name.casefold(), by_folded, n=1, cutoff=0.5)
    return by_folded[near[0]] if near else None


def unknown_word(kind: str, word: str, known: Iterable[str], of: str = "") -> str:
    """Returns a sentence about a mistyped word, with its near match. `of` is what has no such word."""
    near = near_match(word, known)
    refusal = f"{of} has no {kind} '{word}'." if of else f"There is no {kind} '{word}'."
    return f"{refusal} Did you mean '{near}'?" if near else refusal


def unknown(kind: str, name: str, known: Iterable[str], of: str = "") -> UserError:
    """Returns the refusal of a mistyped name: the near match first, then all there is."""
    names = sorted(known)
    return UserError(f"{unknown_word(kind, name, names, of)} Known: {', '.join(names) or 'none'}.")
