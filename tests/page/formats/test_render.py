"""Where the report can't be written: refused in words, nothing left behind."""

from __future__ import annotations

import errno
import os
import re
from pathlib import Path
from typing import Any

import pytest

from suite.errors import UserError
from suite.page.formats.render import environment, render
from suite.sets.result_set import ResultSet
from tests.page import synthetic

SETS = Path(__file__).parents[2] / "results" / "sets"


def left(folder: Path) -> list[str]:
    """What lies in a folder, hidden files too."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def test_a_folder_is_no_file_to_write(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"is a folder\. --out names the file to write, like .*report\.html"):
        render(folder, tmp_path)
    assert left(tmp_path) == []


def test_a_file_is_no_folder_to_write_into(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match=r"file/page\.html can't be written to: .*--out=FILE"):
        render(folder, tmp_path / "file" / "page.html")
    assert left(tmp_path) == ["file"]


@pytest.mark.parametrize("code", [errno.EIO, errno.ENOSPC])
@pytest.mark.parametrize("step", ["mkdir", "replace"])
def test_an_unwritable_place_is_refused(
    step: str, code: int, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Root may write anywhere, so the refusal is the file system's word. The old page stays."""
    out = tmp_path / "page.html"
    out.write_text("the old page", encoding="utf-8")

    def refuse(self: Path, *arguments: Any, **options: Any) -> Any:
        raise OSError(code, os.strerror(code), str(self))

    monkeypatch.setattr(Path, step, refuse)
    with pytest.raises(UserError, match=rf"page\.html can't be written to: {os.strerror(code)}"):
        render(folder, out)
    assert left(tmp_path) == ["page.html"] and out.read_text(encoding="utf-8") == "the old page"


def test_a_page_rendered_anew_is_sealed_with_its_set(tmp_path: Path) -> None:
    stored = ResultSet.open(synthetic.write(tmp_path / "set"))
    for baseline in (None, "numpy"):
        render(stored.folder, baseline=baseline)
        assert stored.problems() == []
    render(stored.folder, tmp_path / "elsewhere.html")
    assert stored.problems() == []


@pytest.mark.release
def test_a_page_vouches_for_no_other_file(tmp_path: Path) -> None:
    stored = ResultSet.open(synthetic.write(tmp_path / "set"))
    with (stored.folder / "machine.json").open("a") as machine:
        machine.write("\n")
    (stored.folder / "inputs" / "more.txt").write_text("more")
    render(stored.folder)
    assert stored.problems() == ["inputs/more.txt isn't in the manifest", "machine.json was changed"]


@pytest.mark.release
def test_a_set_that_isn_t_whole_gets_no_manifest_by_it(tmp_path: Path) -> None:
    folder = synthetic.write(tmp_path / "set")
    (folder / "manifest.json").unlink()
    render(folder)
    assert not (folder / "manifest.json").exists()


def test_a_page_leads_to_the_project_and_to_the_code_of_its_history(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the checkout's origin has a web address. What isn't of its history could be anybody's code."""
    address, stored = "https://example.org/stack-wars", SETS / "three_questions"
    for known, ours in ((address, True), (address, False), ("", True)):
        monkeypatch.setattr("suite.page.formats.render.project_address", lambda known=known: known)
        monkeypatch.setattr("suite.page.formats.render.has_commit", lambda commit, ours=ours: ours)
        environment.cache_clear()
        text = render(stored, tmp_path / "page.html").read_text(encoding="utf-8")
        assert (f'<p class="brand"><a href="{address}">Stack Wars</a></p>' in text) == bool(known)
        assert (f'<a href="{address}/blob/main/docs/reference/page.md">How to read' in text) == bool(known)
        links = re.findall(f'<a href="{address}/blob/[0-9a-f]{{40}}/suite/workloads/ops/gemm/gemm_', text)
        assert bool(links) == bool(known and ours)
    environment.cache_clear()
