"""Holds what sentences say against the facts: `wrong_in` returns what is false, each with what is true."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any, NamedTuple

from tests.sentences.facts.reader import Truth
from tests.sentences.kinds import frameworks, headline, leads, machine, means, memory, tables, times  # noqa: F401  # kinds
from tests.sentences.kinds.held import KINDS, Held, NotUnderstood

Spoken = tuple[str, str, Truth]  # kind, sentence, the facts of its set


class Violation(NamedTuple):
    kind: str
    sentence: str
    of_set: str
    what: str
    said: Any
    true: Any

    def __str__(self) -> str:
        return f"{self.of_set}, {self.kind}: {self.sentence}\n  {self.what}: says {self.said}\n  true {self.true}"


@cache
def wrong_in(kind: str, sentence: str, truth: Truth) -> list[Violation]:
    """Returns what a sentence says that isn't so; that it can't be understood, or names what the set lacks, too."""
    held = Held(sentence, truth)
    try:
        KINDS[kind](held)
    except NotUnderstood as unclear:
        held.false.append(("not understood", unclear, None))
    except (KeyError, IndexError, ValueError) as missing:
        held.false.append(("the set has no such thing", missing, None))
    return [Violation(kind, sentence, truth.folder.name, *false) for false in held.false]


def all_wrong(spoken: Iterable[Spoken]) -> list[str]:
    return [str(violation) for each in spoken for violation in wrong_in(*each)]
