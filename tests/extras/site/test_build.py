"""A site is made of every sound set, again with the same bytes."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest

from suite.errors import UserError
from suite.extras.archive.fetch import verify
from suite.extras.archive.listing import of_storage
from suite.extras.archive.publish import publish
from suite.extras.archive.storage import Storage
from suite.extras.site.build import Site, build
from suite.extras.site.sources import SetSource
from suite.sets.result_set import ResultSet
from tests.extras.site.conftest import made, quiet


def files(folder: Path) -> dict[str, bytes]:
    """Every file of a site."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_every_set_has_its_page_and_every_question_its_history(site: Site) -> None:
    there = files(site.out)
    assert len(site.shown) == 10 and site.refused == []
    assert sum(name.startswith("sets/") and name.endswith("/report.html") for name in there) == 10
    assert sum(name.startswith("machines/") for name in there) == 3
    histories = sorted(name for name in there if name.startswith("history/"))
    assert [name.rpartition("-")[0] for name in histories] == [
        "history/ffn-full-train-f32-cpu-system-allocator-640mib",
        "history/gemm-tiny-forward-f32-cpu",
        "history/gemm-tiny-forward-f32-cpu-system-allocator-640mib",
        "history/gemm-tiny-train-f32-cpu",
        "history/llama-tiny-train-f32-cpu-system-allocator-640mib",
    ]
    told = json.loads(there["site.json"])
    assert [entry["page"] for entry in told["sets"]] == [f"sets/{entry.name}/report.html" for entry in site.shown]
    index = there["index.html"].decode()
    assert all(f'href="sets/{entry.name}/report.html"' in index for entry in site.shown)
    assert "jax_jit became" in index and "1.20× slower" in index


def test_the_same_sets_give_the_same_bytes(site: Site, ten: Path, tmp_path: Path) -> None:
    again = build(SetSource(ten), tmp_path / "again", quiet)
    assert files(again.out) == files(site.out)


def test_a_later_site_replaces_the_pages_of_an_older_one_and_no_other_file(tmp_path: Path) -> None:
    results, out = tmp_path / "results", tmp_path / "site"
    stores = [made(results, day) for day in (1, 2)]
    build(SetSource(results), out, quiet)
    (out / "CNAME").write_text("bench.example.org")
    stores.append(made(results, 3))
    build(SetSource(results), out, quiet)
    fresh = build(SetSource(results), tmp_path / "fresh", quiet)
    assert files(fresh.out) | {"CNAME": b"bench.example.org"} == files(out)
    shutil.rmtree(stores[-1].folder)
    last = build(SetSource(results), out, quiet)
    assert len(last.shown) == 2 and len(list((out / "sets").iterdir())) == 2
    assert (out / "CNAME").read_text() == "bench.example.org", "a file of somebody else's stays"


def test_archives_are_read_where_they_lie(tmp_path: Path, place: Storage) -> None:
    kept = [publish(made(tmp_path / "results", day).folder, place, quiet).name for day in (1, 2)]
    site = build(SetSource(Path("nowhere"), place), tmp_path / "site", quiet)
    assert [entry.name for entry in site.shown] == kept
    place.upload(b"x" * place.files(kept[0])["results.parquet"], kept[0], "results.parquet")
    anew = build(SetSource(Path("nowhere"), place), tmp_path / "elsewhere", quiet)
    assert [entry.name for entry in anew.shown] == kept[1:]
    assert [name for name, _ in anew.refused] == kept[:1] and "was changed" in anew.refused[0][1]
    place.upload(b"x", kept[1], "inputs/more.txt")
    later = build(SetSource(Path("nowhere"), place), tmp_path / "elsewhere", quiet)
    assert later.shown == [] and "inputs/more.txt isn't in the manifest" in dict(later.refused)[kept[1]]
    left = [*(tmp_path / "elsewhere" / "sets").rglob("report.html")]
    assert not left, "the page of a set that isn't sound any more is gone"


def test_a_damaged_set_is_listed_with_the_reason_and_never_shown(tmp_path: Path) -> None:
    results, said = tmp_path / "results", list[str]()
    good, changed, open_ = (made(results, day) for day in (1, 2, 3))
    (changed.folder / "report.html").write_text("<script>alert('a page of a stranger')</script>")
    changed.seal()
    (changed.folder / "blocks" / "b01-a1.json").write_text("{}")
    (open_.folder / "manifest.json").unlink()
    (results / "broken").mkdir()
    (results / "broken" / "plan.json").write_text("<script>")
    site = build(SetSource(results), tmp_path / "site", said.append)
    assert [entry.set_id for entry in site.shown] == [good.folder.name]
    index = unescape((tmp_path / "site" / "index.html").read_text())
    assert "blocks/b01-a1.json was changed" in index and "not finished" in index and "can't be read as JSON" in index
    assert sum("isn't shown" in line for line in said) == 3
    assert not [name for name, data in files(tmp_path / "site").items() if b"a page of a stranger" in data]
    assert not [name for name, data in files(tmp_path / "site").items() if str(tmp_path).encode() in data], "a place"


def test_a_set_s_own_page_is_never_taken(tmp_path: Path) -> None:
    store = made(tmp_path / "results", 1)
    (store.folder / "report.html").write_text("<script>alert('a page of a stranger')</script>")
    store.seal()
    site = build(SetSource(tmp_path / "results"), tmp_path / "site", quiet)
    text = (site.out / "sets" / site.shown[0].name / "report.html").read_text()
    assert "which stack is fastest" in text and "a page of a stranger" not in text
    assert "a page of a stranger" in (store.folder / "report.html").read_text(), "the set stays as it was"
    assert ResultSet.open(store.folder).problems() == []


def test_no_set_makes_a_page_that_says_so(tmp_path: Path) -> None:
    (tmp_path / "results").mkdir()
    site = build(SetSource(tmp_path / "results"), tmp_path / "site", quiet)
    assert site.shown == [] and "There is no result set to show here yet." in (site.out / "index.html").read_text()


def test_other_people_s_folders_are_left_alone(tmp_path: Path) -> None:
    made(tmp_path / "results", 1)
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "index.html").write_text("mine")
    with pytest.raises(UserError, match=r"index\.html that this command didn't write"):
        build(SetSource(tmp_path / "results"), tmp_path / "home", quiet)
    assert files(tmp_path / "home") == {"index.html": b"mine"}
    with pytest.raises(UserError, match="is a file"):
        build(SetSource(tmp_path / "results"), tmp_path / "home" / "index.html", quiet)


def test_places_that_are_no_archive_are_refused_with_the_remedy(tmp_path: Path) -> None:
    made(tmp_path / "results", 1)
    with pytest.raises(UserError, match="has result sets, but no published ones: --results="):
        build(SetSource(Path("nowhere"), Storage.of(str(tmp_path / "results"))), tmp_path / "site", quiet)
    with pytest.raises(UserError, match="There is no folder nowhere"):
        build(SetSource(Path("nowhere")), tmp_path / "site", quiet)
    assert not (tmp_path / "site").exists()


def test_a_set_that_lies_here_twice_is_shown_once(tmp_path: Path) -> None:
    store = made(tmp_path / "results", 1)
    shutil.copytree(store.folder, tmp_path / "results" / "copy")
    site = build(SetSource(tmp_path / "results"), tmp_path / "site", quiet)
    assert len(site.shown) == 1 and site.refused == []


def test_a_set_that_is_excluded_is_nowhere(tmp_path: Path) -> None:
    for day in (1, 2):
        made(tmp_path / "results", day)
    both = build(SetSource(tmp_path / "results"), tmp_path / "both", quiet)
    trial = both.shown[0].name
    left = build(SetSource(tmp_path / "results"), tmp_path / "left", quiet, [f"{trial[:-2]}*"])
    assert [entry.name for entry in left.shown] == [entry.name for entry in both.shown if entry.name != trial]
    assert trial not in "".join(files(left.out)) and not left.refused


def test_a_site_of_published_sets_is_an_archive(tmp_path: Path) -> None:
    stores = [made(tmp_path / "results", day) for day in (1, 2)]
    shelf = Storage.of(str(tmp_path / "shelf"))
    names = [publish(store.folder, shelf, quiet).name for store in stores]
    out = build(SetSource(tmp_path / "results", shelf), tmp_path / "site", quiet).out
    copies = Storage.of(str(out / "sets"))
    assert [entry.name for entry in of_storage(copies)] == names
    assert [verify(copies, name) for name in names] == [[], []]
    shutil.rmtree(tmp_path / "shelf" / names[0])
    build(SetSource(tmp_path / "results", shelf), out, quiet)
    assert [entry["name"] for entry in json.loads((out / "site.json").read_text())["sets"]] == names[1:]
    assert [verify(copies, name) for name in names] == [[], []], "what was published stays"
    build(SetSource(tmp_path / "results"), tmp_path / "other", quiet)  # of sets that nobody has published
    assert not [*(tmp_path / "other").rglob("results.parquet")]


def test_a_set_is_reproduced_by_as_many_other_machines_as_confirm_it(tmp_path: Path) -> None:
    """Two sets of one machine, two of another that agree, and one of a third that doesn't."""
    names = [made(tmp_path / "results", day).folder.name for day in (1, 2)]
    names += [
        made(tmp_path / "results", day, machine="b-machine", model="Example CPU @ 2.80GHz").folder.name
        for day in (3, 4)
    ]
    names.append(made(tmp_path / "results", 5, 4.0, "c-machine", model="Example CPU @ 2.80GHz").folder.name)
    site = build(SetSource(tmp_path / "results"), tmp_path / "site", quiet)
    by = {entry.set_id: entry.reproduced_by for entry in site.shown}
    assert by == dict(zip(names, [("b-machine",)] * 2 + [("a-machine",)] * 2 + [()], strict=True))
    told = json.loads((site.out / "site.json").read_text())["sets"]
    assert [len(entry["reproduced_by"]) for entry in told] == [1, 1, 1, 1, 0]
    index = (site.out / "index.html").read_text()
    assert index.count("; reproduced by 1</small>") == 4 and index.count("; self-reported</small>") == 1


def test_a_set_of_another_plan_reproduces_nothing(tmp_path: Path) -> None:
    _, theirs = made(tmp_path / "results", 1), made(tmp_path / "results", 2, machine="b-machine")
    theirs.settle(replace(theirs.plan_file, code={"gemm": {"asked": "another question"}}))
    theirs.seal()
    site = build(SetSource(tmp_path / "results"), tmp_path / "site", quiet)
    assert [entry.reproduced_by for entry in site.shown] == [(), ()]
