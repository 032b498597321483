"""Every command that writes a file takes any file and new folder, and its lines are in the order of their numbers."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import polars as pl
import pytest

from suite.cli.app import APP, USAGE, code_of
from tests.plan_files import plan_file
from tests.results.rows import attempt_of, make_set, record, row_of

SIZES = (1000, 96, 200)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with one set of three sizes."""
    asked = [(n, stack, block) for n in SIZES for stack in ("numpy", "jax_jit") for block in (1, 2)]
    rows = [row_of(attempt_of(stack, block, dims={"n": n}, size="custom"), 0.01) for n, stack, block in asked]
    store = make_set(tmp_path / "results" / "a-set", [], [record(1, 1), record(2, 1)])
    for place, row in enumerate(rows):
        store.write_attempt(f"b{row['block']:02d}-{place:03d}-a1", row)
    store.settle(plan_file(set_id="a-set"))
    store.commit()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_lines_are_in_the_order_of_their_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    wanted = ["n = 96", "n = 200", "n = 1,000"]
    assert code_of(APP, ["report", "--set=results/a-set", "--format=csv", "--out=-"]) == 0
    lines = [line["question"] for line in csv.DictReader(io.StringIO(capsys.readouterr().out))]
    assert [line.partition("(")[2].rstrip(")") for line in lines[::2]] == wanted
    assert code_of(APP, ["history", "gemm", "--out=history.parquet"]) == 0
    seen = pl.read_parquet("history.parquet")["question"].unique(maintain_order=True).to_list()
    assert ["n=96" in seen[0], "n=200" in seen[1], "n=1000" in seen[2]] == [True] * 3, seen


@pytest.mark.parametrize(
    "words",
    [
        *(["report", "--set=results/a-set", f"--format={form}"] for form in ("html", "md", "csv", "json")),
        ["history", "gemm"],
    ],
)
def test_a_new_folder_is_made_and_an_impossible_one_is_a_sentence(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    suffix = "parquet" if words[0] == "history" else "out"
    assert code_of(APP, [*words, f"--out=new/er/file.{suffix}"]) == 0
    assert Path(f"new/er/file.{suffix}").stat().st_size
    assert code_of(APP, [*words, f"--out=/proc/file.{suffix}"]) == USAGE
    assert f"/proc/file.{suffix} can't be written to" in capsys.readouterr().err


def test_a_folder_that_can_t_be_made_is_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["archive", "results/a-set", "/proc/archive"], ["site", "--out=-"], ["doctor", "--pack=/proc/pack"]):
        assert code_of(APP, words) == USAGE
        assert len(capsys.readouterr().err.strip().splitlines()) == 1
