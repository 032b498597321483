"""All sentences that are checked: those of the kept sets, of the published pages, and of the two fixed sets."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tests.sentences.spoken.fixed import STORIES
from tests.sentences.spoken.generated import write
from tests.sentences.mutants import TOLD, Spoken
from tests.sentences.spoken.pages import ROOT, compared, published, truth_of
from tests.sentences.spoken.product import report_of, sentences
from tests.sentences.facts.reader import Truth

SETS = sorted((ROOT / "sets").iterdir())


def of_set(folder: Path) -> list[Spoken]:
    truth = truth_of(folder.name)
    return [(kind, sentence, truth) for kind, sentence in sentences(report_of(folder))]


def of_stories(folder: Path) -> Iterator[Spoken]:
    """Writes the fixed sets into a folder; yields what the product says of them, and what the rule on leads says."""
    for name, story in STORIES.items():
        written = write(story, folder / name)
        truth = Truth(written)
        yield from ((kind, sentence, truth) for kind, sentence in sentences(report_of(written)))
        yield from (("map", sentence, truth) for sentence in TOLD[name])


def everything(folder: Path) -> list[Spoken]:
    return [*of_stories(folder), *(spoken for each in SETS for spoken in of_set(each)), *published(), *compared()]
