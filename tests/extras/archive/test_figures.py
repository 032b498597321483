"""`python -m tools.figures`: what it lists, measures, writes and keeps in the archive `sets`, and what it refuses."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from suite.errors import UserError
from suite.sets import manifest
from tools.figures import definitions, rules
from tools.figures.__main__ import figures
from tools.figures.markers import published_tables

SET = Path(__file__).parents[2] / "results" / "sets" / "three_questions"
TABLES = """
[sets]
mixed = "run --preset=mixed.toml"
second = "run --preset=second.toml"

[tables.one]
page = "README.md"
template = "speedups"
sets = ["mixed"]

[tables.two]
page = "README.md"
template = "comparisons"
sets = ["mixed", "second"]

[prose]
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a page of two empty tables, which is also the current folder."""
    (tmp_path / "figures.toml").write_text(TABLES)
    places = "".join(f"<!-- figures: {name} -->\n<!-- /figures -->\n" for name in ("one", "two"))
    (tmp_path / "README.md").write_text(f"# Page\n\n{places}")
    monkeypatch.setattr(definitions, "ROOT", tmp_path)
    monkeypatch.setattr(definitions, "FILE", tmp_path / "figures.toml")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_table_is_written_from_its_set(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert figures(set=(f"mixed={SET}",), write=True) == 0
    written = published_tables((home / "README.md").read_text())
    assert written["one"].origin.sets == (manifest.read(SET).called(12),)
    assert "| `jax_jit` | 1.75× [" in written["one"].text
    assert written["two"].text == ""
    said = capsys.readouterr().err
    assert "Wrote one into README.md." in said and "Not written: two needs the set 'second' too." in said


def test_without_a_set_every_table_is_written_again_from_the_kept_ones(home: Path) -> None:
    page = home / "README.md"
    assert figures(set=(f"mixed={SET}",), write=True) == 0
    first = page.read_text()
    page.write_text(first.replace("| `jax_jit` | 1.75×", "| `jax_jit` | 9.99×"))
    assert figures(write=True) == 0
    assert page.read_text() == first, "the table that no set was given for is as empty as it was"
    assert figures(set=(f"second={SET}",), write=True) == 0
    two = published_tables(page.read_text())["two"]
    assert len(two.origin.sets) == 2, "the other one is that of the kept"


def test_a_set_is_measured_by_its_command(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commands, real = [], subprocess.run

    def run(command: Sequence[Any], check: bool, **more: Any) -> subprocess.CompletedProcess[Any]:
        if more:  # a process that reads a set, and not the command
            return real(command, check=check, **more)
        commands.append([str(word) for word in command])
        (home / "results").mkdir(exist_ok=True)
        folder = Path(shutil.copytree(SET, home / "results" / f"set-{len(commands)}"))
        (home / "results" / "latest").unlink(missing_ok=True)
        (home / "results" / "latest").symlink_to(folder.name)
        return subprocess.CompletedProcess(command, 3)  # a case that is `wrong` has its row

    monkeypatch.setattr(subprocess, "run", run)
    assert figures(measure=("mixed",), write=True) == 0
    assert commands == [[str(home / "stackwars"), "run", "--preset=mixed.toml"]]
    assert published_tables((home / "README.md").read_text())["one"].origin.sets
    monkeypatch.setattr(subprocess, "run", lambda command, check: subprocess.CompletedProcess(command, 4))
    with pytest.raises(UserError, match="'mixed' wasn't measured: its command ended with exit code 4"):
        figures(measure=("mixed",))


def test_a_set_for_other_processors_is_not_measured(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = TABLES.replace('sets = ["mixed", "second"]', 'sets = ["second"]\nvendor = "Other"')
    (home / "figures.toml").write_text(other)
    monkeypatch.setattr(subprocess, "run", None)
    with pytest.raises(UserError, match="No table takes the set 'second' from this machine's processor"):
        figures(measure=("second",))


def test_a_table_that_is_refused_stays_as_it_was(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "FLOOR_MAX", 1.0)
    before = (home / "README.md").read_text()
    assert figures(set=(f"mixed={SET}",), write=True) == 3
    assert (home / "README.md").read_text() == before


@pytest.mark.parametrize("processors", ['vendor = "Intel"', 'vendor = "AMD"\nfamily = 1'])
def test_a_set_fills_the_tables_for_its_processor_alone(
    home: Path, processors: str, capsys: pytest.CaptureFixture[str]
) -> None:
    other = TABLES.replace('template = "speedups"', f'template = "speedups"\n{processors}')
    (home / "figures.toml").write_text(other)
    before = (home / "README.md").read_text()
    assert figures(set=(f"mixed={SET}",), write=True) == 3, "no table takes the set"
    label = processors.replace('vendor = "', "").replace('"\nfamily =', " family").strip('"')
    assert f"Not written: one is for {label}; the set ran on another processor." in capsys.readouterr().err
    assert (home / "README.md").read_text() == before
    three = '\n[tables.three]\npage = "README.md"\ntemplate = "speedups"\nsets = ["mixed"]\nvendor = "AMD"\n\n[prose]'
    (home / "figures.toml").write_text(other.replace("\n[prose]", three))
    (home / "README.md").write_text(f"{before}<!-- figures: three -->\n<!-- /figures -->\n")
    assert figures(set=(f"mixed={SET}",), write=True) == 0
    written = published_tables((home / "README.md").read_text())
    assert written["three"].origin.sets and not written["one"].text


def test_without_write_the_tables_are_listed(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert figures() == 0
    listed = capsys.readouterr().out
    assert "one" in listed and "mixed" in listed and "it comes from no result set" in listed


@pytest.mark.parametrize(("text", "problem"), [("mixed", "isn't understood"), ("mixd=x", "mixd")])
def test_a_set_that_is_not_named_is_refused(home: Path, text: str, problem: str) -> None:
    with pytest.raises(UserError, match=problem):
        figures(set=(text,))
