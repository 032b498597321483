"""A published set is found by every name that is listed of it and by each unique beginning."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from suite import results
from suite.cli.sets.naming import named
from suite.errors import UserError
from suite.extras.archive.command import archive, fetch
from suite.extras.archive.fetch import fetch as download
from suite.extras.archive.listing import archived, of_storage
from suite.extras.archive.publish import publish
from suite.extras.archive.storage import Storage
from suite.extras.archive.verify import verify
from tests.cli.sets.test_naming import FIRST, SECOND, SHORT, archive_name, home
from tests.extras.archive.s3 import BUCKET

__all__ = ["home"]  # a fixture


def test_a_set_that_was_fetched_is_the_same_set(home: Path) -> None:
    shelf = Storage.of("shelf")
    name = publish(Path("results") / FIRST, shelf, lambda text: None).name
    download(shelf, name, Path("results"))
    assert named(name) == Path("results") / name
    assert named(name[:-1]) in (Path("results") / name, Path("results") / FIRST), "both are it"
    assert named(SHORT) == Path("results") / FIRST


def test_an_archive_is_named_by_beginnings_of_its_name_and_of_the_set_s_id(home: Path) -> None:
    shelf = Storage.of("shelf")
    first, second = (publish(Path("results") / name, shelf, lambda text: None).name for name in (FIRST, SECOND))
    common = next(i for i, (a, b) in enumerate(zip(first, second, strict=True)) if a != b)
    for text in (first, first[: common + 1], FIRST, SHORT):
        assert archived(text, shelf) == first
    with pytest.raises(UserError, match="2 sets have a name that begins with '2026-03'") as refused:
        archived("2026-03", shelf)
    assert first in str(refused.value) and second in str(refused.value)
    for nothing in ("2027", "../results"):
        with pytest.raises(UserError, match=r"no set with a name that begins with .* sets --from=shelf"):
            archived(nothing, shelf)


def on_shelf() -> None:
    for name in (FIRST, SECOND):
        publish(Path("results") / name, Storage.of("shelf"), lambda text: None)


# Each takes a beginning of the first set's name.
COMMANDS: dict[str, Callable[[str], object]] = {
    "verify": lambda text: verify(set=text),
    "verify --from": lambda text: verify(set=text, from_="shelf"),
    "fetch": lambda text: fetch(set=text, from_="shelf", results="here"),
    "archive": lambda text: archive(set=text, to="other", with_changes=True),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_takes_a_beginning(home: Path, command: str) -> None:
    on_shelf()
    COMMANDS[command](SHORT)


def test_a_fetched_set_is_the_one_that_was_meant(home: Path) -> None:
    on_shelf()
    fetch(set=SHORT, from_="shelf", results="here")
    (folder,) = Path("here").iterdir()
    assert folder.name == archive_name(FIRST) and results.load(folder).rows == results.load(f"results/{FIRST}").rows


def test_a_place_that_is_not_there_is_refused(home: Path, bucket: Storage) -> None:
    with pytest.raises(UserError, match=r"There is no folder nowhere\. .*`\./stackwars archive --to=nowhere`"):
        of_storage(Storage.of("nowhere"))
    Path("empty").mkdir()
    assert of_storage(Storage.of("empty")) == []
    assert bucket.uri.startswith(f"s3://{BUCKET}/")
    assert of_storage(bucket) == [], "a prefix of a bucket that is there"
    with pytest.raises(UserError, match=r"There is no bucket nowhere, which s3://nowhere/sets names\."):
        of_storage(Storage.of("s3://nowhere/sets"))
