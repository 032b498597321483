import re
from pathlib import Path

import pytest

from tests.sentences.check import all_wrong
from tests.sentences.facts import reader
from tests.sentences.findings import claims
from tests.sentences.spoken.corpus import SETS, of_set
from tests.sentences.spoken.pages import ROOT, compared, published


def test_the_reader_imports_nothing_of_the_product() -> None:
    room = Path(reader.__file__).parents[1]
    modules = [room / "check.py", *room.glob("facts/*.py"), *room.glob("kinds/*.py")]
    assert len(modules) > 20
    imported = re.compile(r"^\s*(?:from|import) (?:suite|tests\.sentences\.spoken)", re.MULTILINE)
    assert [each.name for each in modules if imported.search(each.read_text(encoding="utf-8"))] == []


@pytest.mark.parametrize("folder", SETS, ids=lambda folder: folder.name[:28])
def test_what_a_page_says_is_so(folder: Path) -> None:
    assert all_wrong(of_set(folder)) == []


@pytest.mark.parametrize("kind", ["headline", "thread", "cell", "unified cell", "floor"])
def test_what_published_tables_say_is_so(kind: str) -> None:
    said = [spoken for spoken in published() if spoken[0] == kind]
    assert said
    assert all_wrong(said) == []


def test_what_readme_found_is_so() -> None:
    found = [*claims((ROOT / "README.md").read_text(encoding="utf-8"))]
    assert len(found) >= 4
    assert [claim for claim in found if not claim[1]] == []


def test_what_is_said_of_two_sets_is_so() -> None:
    found = [*compared()]
    assert found
    assert all_wrong(found) == []
