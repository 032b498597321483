"""All sentences that are checked: those of the kept sets, of the published pages, and of the fixed sets."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.sentences.check import Spoken
from tests.sentences.facts.reader import ARCHIVE, Truth, archived
from tests.sentences.spoken.fixed import SEARCHES, STORIES, TOLD
from tests.sentences.spoken.generated import write, write_sizes
from tests.sentences.spoken.pages import compared, published
from tests.sentences.spoken.product import sentences

SETS = sorted(ARCHIVE.iterdir())


@cache
def of_set(folder: Path) -> list[Spoken]:
    return [*sentences(archived(folder.name))]


def of_stories(folder: Path) -> Iterator[Spoken]:
    """Writes the fixed sets into a folder; yields what the product says of them, and what the rule on leads says."""
    for name, story in STORIES.items():
        truth = Truth(write(story, folder / name))
        yield from sentences(truth)
        yield from (("map", sentence, truth) for sentence in TOLD.get(name, ()))
    for name, (sizes, limit) in SEARCHES.items():
        yield from sentences(Truth(write_sizes(sizes, limit, folder / name)))


def everything(folder: Path) -> list[Spoken]:
    return [*of_stories(folder), *(spoken for each in SETS for spoken in of_set(each)), *published(), *compared()]
