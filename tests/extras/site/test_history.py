"""One case over many sets: a change that was made is found where it was made, and no other."""

from __future__ import annotations

import dataclasses
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from suite.errors import UserError
from suite.extras.archive.publish import publish
from suite.extras.archive.storage import Storage
from suite.extras.site import history_page
from suite.extras.site.history import Point, changes, history
from suite.guard.out import write_out
from suite.results import load
from suite.sets.comparability import FACTS, REFUSED, SAID, SERIES
from suite.sets.result_set import ResultSet
from tests.cli.terminal.test_plain_text import CONTROLS, EVIL
from tests.plan_files import plan_file
from tests.results.rows import attempt_of, record, row_of
from tests.sets.test_comparability import VALUES, stored

STORED = Path(__file__).parents[2] / "results" / "sets" / "three_questions"


def made(folder: Path, day: int, seconds: float, machine: str = "a-machine", version: str = "1.0") -> ResultSet:
    """A whole set of one day; its processes differ by 1 %."""
    name = f"set-{day}-{machine}"
    plan = plan_file(set_id=name, created_at=f"2026-03-{day:02d}T12:00:00+00:00")
    store = ResultSet.create(folder / name, plan)
    random = np.random.default_rng(day)
    for stack in ("numpy", "jax_jit"):
        for block in (1, 2, 3):
            pace = seconds if stack == "jax_jit" else 0.01
            row = row_of(
                attempt_of(stack, block),
                pace * float(np.exp(random.normal(0, 0.01))),
                machine_id=machine,
                versions=json.dumps({"jax": version, "python": "3.11", "numpy": "2.0"}),
            )
            store.write_attempt(f"b{block:02d}-{stack}-r1-timed-a1", row)
    for block in (1, 2, 3):
        store.write_block(block, 1, record(block, 1))
    store.commit()
    return store


@pytest.fixture(scope="module")
def sets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ten days on one machine, slower by a fifth from the sixth on; one day on another."""
    folder = tmp_path_factory.mktemp("sets")
    for day in range(1, 11):
        made(folder, day, 0.01 if day < 6 else 0.012, version="1.0" if day < 6 else "1.1")
    made(folder, 3, 0.05, "b-machine")
    made(folder, 11, 0.01).folder.joinpath("manifest.json").unlink()  # not whole
    return folder


def test_a_change_is_found_where_it_was_made(sets: Path) -> None:
    points = history(sets, None, "gemm", "jax_*", print)
    assert [(each.machine_id, each.created_at[8:10]) for each in points] == [
        *(("a-machine", f"{day:02d}") for day in range(1, 11)),
        ("b-machine", "03"),
    ]
    (change,) = [each for each in points if each.ratio]
    assert change.created_at.startswith("2026-03-06") and change.ratio == pytest.approx(1 / 1.2, rel=0.03)
    assert (points[0].versions, change.versions) == ("jax 1.0, python 3.11", "jax 1.1, python 3.11")
    assert all(each.interval and each.interval[0] < each.seconds < each.interval[1] for each in points)
    assert not any(each.ratio for each in history(sets, None, "g*", "numpy", print))


def test_no_such_case_is_said(sets: Path) -> None:
    with pytest.raises(UserError, match=r"None of 11 whole sets in .* has times of --workload=gpt2"):
        history(sets, None, "gpt2", "*", print)


def test_archives_are_read_where_they_lie(sets: Path, bucket: Storage) -> None:
    for day in (4, 5, 6, 7):
        publish(sets / f"set-{day}-a-machine", bucket, lambda text: None)
    found = history(Path("nowhere"), bucket, "gemm", "jax_jit", print)
    assert [each.ratio for each in found] == [None, None, pytest.approx(1 / 1.2, rel=0.03), None]
    assert found[0].set_name.startswith("2026-03-04.cpu.")


def with_everything(folder: Path) -> ResultSet:
    """A set whose processes took turns, or were sampled alone; some samples were disturbed, the baseline has a twin,
    whose pace is another, and one process crashed after its samples."""
    store = ResultSet.create(folder / "set", plan_file(set_id="set"))
    turns = {"sampling": "rounds", "synced_warmup": 1, "synced_rounds": [0, 0, 1, 1, 2, 2]}
    busy = {"synced_others": [0.0, 0.9, 0.0, 0.0, 0.9, 0.0]}
    ways: dict[tuple[str, int], dict[str, Any]] = {
        ("numpy", 1): {},
        ("numpy", 2): {},
        ("jax_jit", 1): turns,
        ("tf_xla", 1): turns | busy,
        ("tf_eager", 1): {"synced_warmup": 2} | busy,
    }
    for (stack, replicate), way in ways.items():
        for block in (1, 2, 3):
            samples = [replicate * block * pace for pace in (0.9, 0.05, 0.01, 0.012, 0.07, 0.014)]
            ended = {"outcome": "crashed"} if (stack, block) == ("tf_eager", 3) else {}
            row = row_of(attempt_of(stack, block, replicate=replicate), samples, **way, **ended)
            store.write_attempt(f"b{block:02d}-{stack}-r{replicate}-timed-a1", row)
    for block in (1, 2, 3):
        store.write_block(block, 1, record(block, 1))
    store.commit()
    return store


def test_a_median_is_the_one_that_the_report_has(tmp_path: Path) -> None:
    store = with_everything(tmp_path)
    shutil.copytree(STORED, tmp_path / "old")
    points = {(each.case_id, each.stack): each for each in history(tmp_path, None, "*", "*", print)}
    reported = {
        (row["case_id"], figures.stack): figures
        for folder in (store.folder, tmp_path / "old")
        for analysis in [load(folder).analysis()]
        for comparison in analysis.comparisons
        for figures in comparison.timed
        for row in analysis.counted
        if (row["comparison_id"], row.stack_name) == (comparison.id, figures.stack)
    }
    assert {place: point.seconds for place, point in points.items()} == {
        place: pytest.approx(figures.median_seconds, rel=1e-12) for place, figures in reported.items()
    }
    processes = {each.stack: len(each.logs) for each in points.values() if each.created_at.startswith("2026-03-01")}
    assert processes == {"numpy": 3, "jax_jit": 3, "tf_xla": 3, "tf_eager": 2}


def test_sets_of_earlier_versions_are_read(tmp_path: Path) -> None:
    shutil.copytree(STORED, tmp_path / "old")
    points = history(tmp_path, None, "ffn", "numpy", print)
    assert points and all("-full-" in each.question and each.seconds > 0 for each in points)


def drawn(seed: int, count: int, spread: float) -> list[Point]:
    """Sets of three processes that differ by 1 %, on days that differ by `spread`."""
    random = np.random.default_rng(seed)
    return [
        Point(f"{day}", f"{day:03d}", "m", "", "c", "q", "s", "", tuple(random.normal(pace, 0.01, 3)), {})
        for day, pace in enumerate(random.normal(0, spread, count))
    ]


@pytest.mark.parametrize("spread", [0.0, 0.05])
def test_equal_sets_seldom_change(spread: float) -> None:
    """Also where days differ by more than the processes of one set."""
    called = sum(any(each.ratio for each in changes(drawn(seed, 20, spread))) for seed in range(100))
    assert called <= 12


@pytest.mark.parametrize("count", [2, 3])
def test_few_sets_don_t_say_how_much_days_differ(count: int) -> None:
    assert not any(each.ratio for seed in range(50) for each in changes(drawn(seed, count, 0.05)))


def test_one_process_a_set_is_enough_where_there_are_many() -> None:
    alone = [
        Point("", "", "m", "", "c", "q", "s", "", (value,), {}) for value in (0.0, 0.01, 0.02, 0.01, 0.0, 0.5, 0.51)
    ]
    assert [bool(each.ratio) for each in changes(alone)] == [False] * 5 + [True, False]


def test_a_history_is_a_page_and_a_table(sets: Path, tmp_path: Path) -> None:
    points = history(sets, None, "gemm", "*", print)
    (tmp_path / "history.html").write_text(history_page.page("History", "", points), encoding="utf-8")
    text = (tmp_path / "history.html").read_text(encoding="utf-8")
    assert text.count("<section") == 2, "a machine each, for its two stacks"
    assert "jax_jit became 1.2" in text and "script-src" in text
    (tmp_path / "history.parquet").write_bytes(history_page.parquet(points))
    table = pq.read_table(tmp_path / "history.parquet").to_pylist()
    assert len(table) == 22 and [row["change"] for row in table if row["change"]] == [pytest.approx(1 / 1.2, rel=0.03)]


def test_one_pass_alone(tmp_path: Path) -> None:
    shutil.copytree(STORED, tmp_path / "old")
    both, train = (history(tmp_path, None, "*", "numpy", lambda text: None, passes) for passes in ((), ("train",)))
    assert 0 < len(train) < len(both) and train == [each for each in both if "-train-" in each.question]
    with pytest.raises(UserError, match=r"--stack=numpy --pass=backward\."):
        history(tmp_path, None, "*", "numpy", lambda text: None, ("backward",))


def test_a_page_of_history(tmp_path: Path) -> None:
    point = Point(
        set_name=f"set{EVIL}",
        created_at="2026-03-01T12:00:00",
        machine_id="m",
        machine=EVIL,
        case_id="c",
        question=f"question{EVIL}",
        stack=f"stack{EVIL}",
        versions=EVIL,
        logs=(0.0, 0.1),
        facts={},
        apart=EVIL,
        since=EVIL,
    )
    points = [point, dataclasses.replace(point, created_at="2026-03-02")]
    write_out(tmp_path / "page.html", history_page.page("History", "", points))
    assert not CONTROLS.search((tmp_path / "page.html").read_text(encoding="utf-8"))


@pytest.mark.parametrize("fact", FACTS)
def test_a_fact_that_differs_begins_another_series_or_is_said(tmp_path: Path, fact: str) -> None:
    for day, value in enumerate(VALUES[fact], 1):
        stored(tmp_path, f"set-{day}", day, fact, value)
    points, consequence = history(tmp_path, None, "gemm", "*", print), FACTS[fact].consequence
    assert len({point.series for point in points}) == (2 if consequence in (REFUSED, SERIES) else 1)
    in_manifests = fact != "protocol"  # histories read manifests
    assert bool(points[1].since) == (consequence is SAID and in_manifests)


def test_what_is_unknown_joins_nothing_that_is_refused(tmp_path: Path) -> None:
    for day, way in enumerate(("rounds", None, "alone"), 1):
        stored(tmp_path, f"set-{day}", day, "sampling", way)
    points = history(tmp_path, None, "gemm", "*", print)
    assert [(point.set_name[:10], point.kind) for point in points] == [
        ("2026-03-01", 0),
        ("2026-03-02", 0),
        ("2026-03-03", 1),
    ]
    assert points[2].apart == "way of sampling rounds → alone"


def test_two_cases_of_one_name_have_two_headings(sets: Path) -> None:
    points = [point for point in history(sets, None, "*", "jax_jit", print) if point.machine_id == "a-machine"]
    other = [dataclasses.replace(point, case_id="another") for point in points]  # a default of its inputs changed
    titles = [table.title for table in history_page.tables([*points, *other])]
    assert len({*titles}) == 2 and any("(another)" in title for title in titles)
