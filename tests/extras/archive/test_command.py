"""`sets`, `verify` and `fetch` as typed: what is told, and the exit codes."""

from __future__ import annotations

from pathlib import Path
from subprocess import CompletedProcess

import pytest

from suite.extras.archive.publish import publish
from suite.extras.archive.storage import Storage
from tests.plan_files import plan_file
from tests.results.rows import attempt_of, make_set, record, row_of
from tests.typed import answered

NAME = "20260301-123000-quick-cpu-1a2b"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Where commands are typed: with one set in results/, and in the archive `shelf`."""
    rows = [row_of(attempt_of(stack, block)) for stack in ("numpy", "jax_jit") for block in (1, 2)]
    store = make_set(tmp_path / "results" / NAME, rows, [record(1, 1), record(2, 1)])
    store.settle(plan_file(set_id=NAME))
    store.commit()
    publish(store.folder, Storage.of(str(tmp_path / "shelf")), lambda text: None)
    return tmp_path


def invoke(home: Path, *words: str) -> CompletedProcess[str]:
    return answered(*words, cwd=home)


def archive_of(home: Path) -> Path:
    (folder,) = (path for path in (home / "shelf").iterdir() if not path.name.startswith("."))
    return folder


@pytest.mark.parametrize("damage", ["", "{", "[1, 2]", '{"files": {"plan.json": 3}}'])
@pytest.mark.parametrize("file", ["manifest.json", "plan.json"])
def test_damaged_json_is_a_finding(home: Path, file: str, damage: str) -> None:
    for folder, words in (
        (home / "results" / NAME, [f"--set={NAME}"]),
        (archive_of(home), [f"--set={archive_of(home).name}", "--from=shelf"]),
    ):
        intact = invoke(home, "verify", *words)
        assert (intact.returncode, ": intact. " in intact.stdout) == (0, True), intact.stderr
        (folder / file).write_text(damage)
        found = invoke(home, "verify", *words)
        assert (found.returncode, found.stderr) == (3, ""), found.stderr
        assert file.partition(".")[0] in found.stdout
        assert "problem(s)" in found.stdout.splitlines()[-1]


def test_without_a_name_every_set_of_an_archive_is_checked(home: Path) -> None:
    name = archive_of(home).name
    intact = invoke(home, "verify", "--from=shelf")
    assert (intact.returncode, intact.stdout.partition(":")[0]) == (0, name)
    (home / "shelf" / name / "plan.json").write_text("{}")
    assert invoke(home, "verify", "--from=shelf").returncode == 3
    (home / "empty").mkdir()
    refused = invoke(home, "verify", "--from=empty")
    assert refused.returncode == 2 and "no published set" in refused.stderr


def test_what_is_no_set_is_no_finding(home: Path) -> None:
    (home / "empty").mkdir()
    for words, refusal in (
        (["--set=nowhere"], "nowhere"),
        (["--set=empty"], "empty"),
        (["--set=2027", "--from=shelf"], "'2027'"),
        (["--set=2026-03-01.cpu.0000000", "--from=shelf"], "has no set"),
        (["--set=2026", "--from=nowhere"], "nowhere"),
    ):
        done = invoke(home, "verify", *words)
        assert (done.returncode, done.stdout) == (2, "") and refusal in done.stderr


def test_a_place_that_is_not_there_is_a_usage_mistake(home: Path) -> None:
    for words in (["sets"], ["verify"], ["fetch", "--set=2026"]):
        done = invoke(home, *words, "--from=nowhere")
        assert (done.returncode, done.stdout) == (2, "")
        assert "./stackwars archive --to=nowhere" in done.stderr
    (home / "empty").mkdir()
    assert invoke(home, "sets", "--from=empty").stdout.count("\n") == 1
    assert invoke(home, "sets", "--results=empty").returncode == 0
