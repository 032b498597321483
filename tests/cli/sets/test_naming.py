"""A set is found by every name that is listed of it and by each unique beginning, wherever a set is named."""

from __future__ import annotations

import errno
import json
import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from suite import results
from suite.cli.measure.reproduce import reproduce
from suite.cli.measure.run import run
from suite.cli.options import RunOptions
from suite.cli.sets import compare, naming, programs, report
from suite.cli.sets.listing import sets
from suite.cli.sets.naming import named
from suite.errors import UserError
from suite.sets import listing, manifest
from suite.sets.result_set import ResultSet
from tests.plan_files import plan_file
from tests.results.rows import attempt_of, make_set, record, row_of
from tools.pitfalls import pitfalls

FIRST, SECOND = "20260301-123000-quick-cpu-1a2b", "20260301-170000-quick-cpu-3c4d"
SHORT, OTHER = "20260301-12", "20260301-17"


def made(folder: Path, name: str, seconds: float) -> ResultSet:
    """A whole set of one day."""
    rows = [row_of(attempt_of(stack, block), seconds) for stack in ("numpy", "jax_jit") for block in (1, 2)]
    store = make_set(folder / name, rows, [record(1, 1), record(2, 1)])
    store.settle(plan_file(set_id=name))
    store.commit()
    return store


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two sets in results/, the second the latest, where the commands are typed."""
    for name, seconds in ((FIRST, 0.01), (SECOND, 0.02)):
        made(tmp_path / "results", name, seconds)
    (tmp_path / "results" / "latest").symlink_to(SECOND)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def archive_name(name: str) -> str:
    return manifest.read(Path("results") / name).name


def test_every_name_and_unique_beginning_is_the_set(home: Path) -> None:
    folder = Path("results") / FIRST
    other = archive_name(FIRST)
    common = next(i for i, (a, b) in enumerate(zip(other, archive_name(SECOND), strict=True)) if a != b)
    for text in (
        FIRST,
        SHORT,
        f"results/{FIRST}",
        f"results/{SHORT}",
        other,
        other[: common + 1],
        f"results/{other[: common + 1]}",
        str(home / "results" / SHORT),
    ):
        assert named(text).resolve() == folder.resolve(), text
    assert named("latest").resolve() == named("results/latest").resolve() == (home / "results" / SECOND)
    shutil.move("results", "elsewhere")
    assert named(SHORT, Path("elsewhere")) == named(f"elsewhere/{SHORT}") == Path("elsewhere") / FIRST


def test_this_project_s_own_sets_have_a_prefix(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(naming, "OWN", home / "nowhere")
    with pytest.raises(UserError, match="in its checkout alone"):
        named(f"sets:{SHORT}")
    monkeypatch.setattr(naming, "OWN", home / "results")
    assert named(f"sets:{SHORT}", Path("elsewhere")) == home / "results" / FIRST


@pytest.mark.parametrize("beginning", ["20260301-1", "2026-03-01.cpu.", "results/2026", "2"])
def test_an_ambiguous_beginning_is_refused_with_the_candidates(home: Path, beginning: str) -> None:
    with pytest.raises(UserError, match="2 sets have a name that begins with") as refused:
        named(beginning)
    for name in (FIRST, SECOND):
        assert name in str(refused.value) and archive_name(name) in str(refused.value)


def test_what_no_set_is_called_is_refused_with_the_near_match(home: Path) -> None:
    with pytest.raises(UserError, match=rf"no result set at 20260302-12.*\n?.*Did you mean '{FIRST}'\?"):
        named("20260302-123000-quick-cpu-1a2b")


def test_a_set_that_isn_t_whole_or_is_damaged_has_its_folder_s_name(home: Path) -> None:
    (Path("results") / FIRST / "manifest.json").unlink()
    (Path("results") / SECOND / "manifest.json").write_text("{")
    assert named(SHORT) == Path("results") / FIRST and named(OTHER) == Path("results") / SECOND


# Each takes a beginning of the first set's name; what has no answer for such a set refuses it as the set that it is.
COMMANDS: dict[str, tuple[Callable[[str], object], str]] = {
    "report": (lambda text: report.report(set=text, format="json", out="told.json"), ""),
    "report --compare": (lambda text: report.report(compare=(text, OTHER), format="md"), ""),
    "compare": (lambda text: compare.compare(set=(text, OTHER), format="md"), ""),
    "compare --by": (lambda text: compare.compare(set=(text,), by="track"), "two values of track"),
    "ir": (lambda text: programs.ir(set=text), f"results/{FIRST} has kept no programs"),
    "pitfalls": (lambda text: pitfalls(set=text, times=text), f"results/{FIRST} has no probes"),
    "run --resume": (
        lambda text: run(options=RunOptions(resume=text)),
        f"results/{FIRST} was begun on another machine",
    ),
    "run --fits": (
        lambda text: run(options=RunOptions(preset="oom", fits=text, dry_run=True)),
        f"--fits=results/{FIRST}: no curve",
    ),
    "reproduce": (lambda text: reproduce(set=text, against=OTHER, json=True), ""),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_takes_a_beginning(home: Path, command: str) -> None:
    call, refusal = COMMANDS[command]
    if refusal:
        with pytest.raises(UserError, match=refusal):
            call(SHORT)
    else:
        call(SHORT)


def test_latest_is_the_newest_set_where_there_is_no_link(home: Path) -> None:
    """On a file system without links; and beside a copy of what the link led to."""
    for name, when in ((FIRST, 1), (SECOND, 2)):
        store = ResultSet.open(home / "results" / name)
        store.settle(replace(store.plan_file, created_at=f"2026-03-0{when}T00:00:00+00:00"))
        store.commit()
    latest = home / "results" / "latest"
    latest.unlink()
    assert named("results/latest") == named("latest") == Path("results") / SECOND
    shutil.copytree(home / "results" / FIRST, latest)
    ResultSet.open(home / "results" / SECOND).make_latest()
    assert named("results/latest") == Path("results") / SECOND and not latest.is_symlink()
    assert [Path(listed.where).name for listed in listing.here(Path("results"))] == [FIRST, SECOND]


def test_a_run_goes_on_where_no_link_can_be_made(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unable(*_: object) -> None:
        raise OSError(errno.EOPNOTSUPP, "no links here")

    monkeypatch.setattr(Path, "symlink_to", unable)
    store = ResultSet.open(home / "results" / FIRST)
    store.make_latest()
    assert not os.path.lexists(store.latest)


def test_a_link_to_a_removed_set_says_so_and_names_the_newest(home: Path) -> None:
    shutil.rmtree(home / "results" / SECOND)
    with pytest.raises(UserError, match=rf"results/latest is a link to {SECOND}, .* newest set there is .*{FIRST}"):
        named("results/latest")


def test_a_set_whose_rows_are_lost_is_not_listed_as_ok(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / "results" / SECOND / "results.parquet").unlink()
    (home / "results" / FIRST / "plan.json").unlink()
    sets(json=True)
    first, second = sorted(json.loads(capsys.readouterr().out)["sets"], key=lambda entry: entry["where"])
    assert not first["whole"] and not second["whole"] and second["outcomes"] is None
    with pytest.raises(UserError, match=r"results\.parquet is missing"):
        results.load(home / "results" / SECOND)
