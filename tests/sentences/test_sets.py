import json
import re
from pathlib import Path

import pytest

from tests.sentences.check import Spoken, all_wrong
from tests.sentences.facts import reader
from tests.sentences.kinds.held import KINDS
from tests.sentences.mutants import made, true_of
from tests.sentences.spoken.generated import TOLD
from tests.sentences.spoken.pages import claims, compared, published
from tests.sentences.spoken.product import SETS, of_set, of_stories

# A check's processes run at once, a block each: its set is published for its outcomes, and no time of it is told.
TIMED = [
    folder
    for folder in SETS
    if not json.loads((folder / "plan.json").read_text(encoding="utf-8"))["protocol"].get("at_once")
]


@pytest.fixture(scope="module")
def stories(tmp_path_factory: pytest.TempPathFactory) -> list[Spoken]:
    return [*of_stories(tmp_path_factory.mktemp("stories"))]


def test_the_oracle_imports_nothing_of_the_product() -> None:
    room = Path(reader.__file__).parents[1]
    modules = [room / "check.py", *room.glob("facts/*.py"), *room.glob("kinds/*.py")]
    imported = re.compile(r"^\s*(?:from|import) (?:suite|tests\.(?!sentences\.(?:check|facts|kinds)))", re.MULTILINE)
    assert len(modules) > 15
    assert [each.name for each in modules if imported.search(each.read_text(encoding="utf-8"))] == []


@pytest.mark.parametrize("folder", SETS, ids=lambda folder: folder.name[:28])
def test_what_a_page_says_is_so(folder: Path) -> None:
    assert all_wrong(of_set(folder)) == []


def test_what_published_tables_and_readme_say_is_so() -> None:
    said = [*published()]
    assert {kind for kind, *_ in said} == {"headline", "thread", "cell", "unified cell", "floor", "unified", "bullet"}
    assert all_wrong(said) == []


def test_a_finding_that_no_set_is_behind_is_refused() -> None:
    with pytest.raises(ValueError, match="nothing of this bullet is checked"):
        list(claims("## What we found\n\n- NumPy is slow.\n"))


def test_what_is_said_of_two_sets_is_so() -> None:
    assert [*compared()]
    assert all_wrong(compared()) == []


def test_true_sentences_on_leads_pass(stories: list[Spoken]) -> None:
    assert sum(sentence in TOLD[truth.folder.name] for _, sentence, truth in stories if truth.folder.name in TOLD) >= 3
    assert all_wrong(stories) == []


def test_every_false_sentence_is_caught(stories: list[Spoken]) -> None:
    spoken = [*stories, *(each for folder in TIMED for each in of_set(folder)), *published(), *compared()]
    found = [*made(true_of(spoken))]
    assert [mutant for mutant in found if not mutant.caught] == []
    assert {mutant.kind for mutant in found} == KINDS.keys()
