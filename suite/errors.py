"""The one exception that reaches a person without a traceback."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class UserError(Exception):
    """A mistake that a person can mend: says what happened, where, and what to do next (exit code 2)."""


def unknown(kind: str, name: str, known: Iterable[str]) -> UserError:
    """The refusal of a mistyped name: the near match first, then all there is."""
    names = sorted(known)
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    hint = f" Did you mean '{near[0]}'?" if near else ""
    return UserError(f"There is no {kind} '{name}'.{hint} Known: {', '.join(names) or 'none'}.")
