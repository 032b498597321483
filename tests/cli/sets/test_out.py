"""Every command that writes a file takes any file and new folder, and its lines are in the order of their numbers."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from suite.cli.app import APP, USAGE, code_of
from tests.plan_files import plan_file
from tests.results.rows import attempt_of, make_set, record, row_of

SIZES = (1000, 96, 200)


def three_sizes(folder: Path) -> None:
    """Write one set of three sizes into a folder."""
    asked = [(n, stack, block) for n in SIZES for stack in ("numpy", "jax_jit") for block in (1, 2)]
    rows = [row_of(attempt_of(stack, block, dims={"n": n}, size="custom"), 0.01) for n, stack, block in asked]
    store = make_set(folder / "results" / "a-set", [], [record(1, 1), record(2, 1)])
    for place, row in enumerate(rows):
        store.write_attempt(f"b{row['block']:02d}-{place:03d}-a1", row)
    store.settle(plan_file(set_id="a-set"))
    store.commit()


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    three_sizes(tmp_path)
    monkeypatch.chdir(tmp_path)


def test_lines_are_in_the_order_of_their_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    wanted = ["n = 96", "n = 200", "n = 1,000"]
    assert code_of(APP, ["report", "--set=results/a-set", "--format=csv", "--out=-"]) == 0
    lines = [line["question"] for line in csv.DictReader(io.StringIO(capsys.readouterr().out))]
    assert [line.partition("(")[2].rstrip(")") for line in lines[::2]] == wanted


@pytest.mark.parametrize("form", ["html", "md", "csv", "json"])
def test_a_new_folder_is_made_and_an_impossible_one_is_a_sentence(
    form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["report", "--set=results/a-set", f"--format={form}"]
    assert code_of(APP, [*words, "--out=new/er/file.out"]) == 0
    assert Path("new/er/file.out").stat().st_size
    assert code_of(APP, [*words, "--out=/proc/file.out"]) == USAGE
    assert "/proc/file.out can't be written to" in capsys.readouterr().err


def test_a_folder_that_can_t_be_made_is_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["archive", "results/a-set", "/proc/archive"], ["doctor", "--pack=/proc/pack"]):
        assert code_of(APP, words) == USAGE
        assert len(capsys.readouterr().err.strip().splitlines()) == 1
