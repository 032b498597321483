"""Pieces of the sentences with which sections answer: counted things, a few names, capitals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # a run's sentences are made in environments without polars, too
    import polars as pl

MANY = 5  # a list in a sentence has all of its names if they are no more than this
MOST_NAMES = 3  # of a longer list, so many names are written and the others counted


def counted(number: int, thing: str) -> str:
    """Returns `1 process`, `3 processes`, `12 comparisons`."""
    plural = f"{thing}es" if thing.endswith("s") else f"{thing}s"
    return f"{number:,} {thing if number == 1 else plural}"


def listed(names: Sequence[str], most: int = MANY) -> str:
    """Returns `a` or `a and b`; for more than `most` names, `a, b, c and 5 others`."""
    if len(names) > most:
        names = [*names[:MOST_NAMES], f"{len(names) - MOST_NAMES} others"]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}" if names else "none"


def by_number(counts: Iterable[tuple[str, int]]) -> str:
    """Returns `3 faster, 1 undecided`: the words with their counts, without counts of zero."""
    return ", ".join(f"{count:,} {word}" for word, count in counts if count)


def first_of(sentences: Sequence[str], thing: str) -> str:
    """Returns the first sentence that isn't empty, and the number of the others: `… (and 3 more questions)`."""
    known = [sentence for sentence in sentences if sentence]
    if not known:
        return ""
    more = len(known) - 1
    return known[0] if not more else f"{known[0].rstrip('.')} (and {counted(more, f'more {thing}')})."


def first_question(said: Mapping[str, str]) -> str:
    """Returns the first of {question: its sentence}, and the number of the others."""
    return first_of([f"{question}: {sentence}" for question, sentence in said.items()], "question")


def capital(text: str) -> str:
    """Returns a text with a capital first letter, for the beginning of a sentence."""
    return text[:1].upper() + text[1:]


def not_shown(stacks: pl.DataFrame, table: pl.DataFrame) -> list[str]:
    """Returns a sentence on the stacks of `Frame.stacks` that a table leaves out, each with how it ended."""
    left = stacks.join(table, on=("question", "stack"), how="anti")
    words = [
        f"{line['stack']} on {line['question']} ({'has no such figure' if line['counts'] else line['ended']})"
        for line in left.iter_rows(named=True)
    ]
    return [f"Not in the table: {', '.join(words)}."] if words else []
