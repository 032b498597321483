"""`history` and `site` as typed: what is told and written, and the exit codes."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from suite.cli.app import APP, USAGE, code_of
from tests.cli.sets.test_out import three_sizes
from tests.cli.test_json import home as json_home
from tests.cli.test_json import told
from tests.extras.archive.test_command import NAME, archive_of, home, invoke

__all__ = ["home", "json_home"]  # fixtures


def test_a_set_that_was_fetched_is_counted_once(home: Path) -> None:
    before = invoke(home, "history", "--workload=gemm")
    assert before.returncode == 0 and before.stdout.count("2026-03-01 12:30") == 2, "one line a stack"
    assert invoke(home, "fetch", f"--set={NAME[:8]}", "--from=shelf").returncode == 0
    assert len(list((home / "results").iterdir())) == 2
    after = invoke(home, "history", "--workload=gemm")
    assert after.stdout == before.stdout


def test_a_site_of_the_sets_here_or_of_an_archive(home: Path) -> None:
    here = invoke(home, "site")
    assert (here.returncode, here.stdout) == (0, "site/index.html  1 set\n"), here.stderr
    name = archive_of(home).name
    assert f"sets/{name}/report.html" in here.stderr
    assert invoke(home, "site").stdout == "site/index.html  1 set\n"
    of_archive = invoke(home, "site", "--from=shelf", "--out=public")
    assert of_archive.stdout == "public/index.html  1 set\n"
    assert (home / "public" / "sets" / name / "report.html").read_bytes() == (
        home / "site" / "sets" / name / "report.html"
    ).read_bytes()
    (archive_of(home) / "plan.json").write_text("{}")
    damaged = invoke(home, "site", "--from=shelf", "--out=public")
    assert damaged.returncode == 0 and damaged.stdout == "public/index.html  no set, 1 not shown\n"
    assert f"{name} isn't shown: " in damaged.stderr
    assert invoke(home, "site", "--from=nowhere").returncode == invoke(home, "site", "--from=results").returncode == 2


def test_a_history(json_home: Path) -> None:
    points = told(json_home, "history", "--workload=gemm", "--pass=forward")["points"]
    assert [(each["stack"], each["processes"]) for each in points] == [("jax_jit", 2), ("numpy", 2)]
    assert not any(each["change"] for each in points)
    assert all(each["low_seconds"] < each["seconds"] < each["high_seconds"] for each in points)


def test_a_history_goes_to_any_file_and_new_folder_in_the_order_of_its_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    three_sizes(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert code_of(APP, ["history", "gemm", "--out=new/er/history.parquet"]) == 0
    seen = pl.read_parquet("new/er/history.parquet")["question"].unique(maintain_order=True).to_list()
    assert ["n=96" in seen[0], "n=200" in seen[1], "n=1000" in seen[2]] == [True] * 3, seen
    assert code_of(APP, ["history", "gemm", "--out=/proc/file.parquet"]) == USAGE
    assert "/proc/file.parquet can't be written to" in capsys.readouterr().err
    assert code_of(APP, ["site", "--out=-"]) == USAGE
    assert len(capsys.readouterr().err.strip().splitlines()) == 1


def test_a_place_that_is_not_there_is_a_usage_mistake(home: Path) -> None:
    done = invoke(home, "history", "--workload=gemm", "--from=nowhere")
    assert (done.returncode, done.stdout) == (2, "") and "./stackwars archive --to=nowhere" in done.stderr
