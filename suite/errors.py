"""The one exception that reaches a person without a traceback."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

COMMAND = "./stackwars"  # what a person types in the checkout, without activating an environment


class UserError(Exception):
    """A mistake that a person can mend: says what happened, where, and what to do next (exit code 2)."""


class Damaged(UserError):
    """A set, or its archive, is damaged or changed: `verify` reports that (exit code 3), other commands refuse it."""


def near_match(name: str, known: Iterable[str]) -> str | None:
    """Returns the known word nearest to `name`, whatever the letters' case; None if none is near."""
    by_folded = {word.casefold(): word for word in known}
    near = difflib.get_close_matches(name.casefold(), by_folded, n=1, cutoff=0.5)
    return by_folded[near[0]] if near else None


def unknown_word(kind: str, word: str, known: Iterable[str], of: str = "") -> str:
    """Returns a sentence about an unknown word, with its near match. `of` names the thing that lacks the word."""
    near = near_match(word, known)
    refusal = f"{of} has no {kind} '{word}'." if of else f"There is no {kind} '{word}'."
    return f"{refusal} Did you mean '{near}'?" if near else refusal


def unknown(kind: str, name: str, known: Iterable[str], of: str = "") -> UserError:
    """Returns the error for an unknown name: its near match, then all known names."""
    names = sorted(known)
    return UserError(f"{unknown_word(kind, name, names, of)} Known: {', '.join(names) or 'none'}.")
