"""Shares become one set, whichever way they are named; what doesn't belong together is refused."""

from __future__ import annotations

import dataclasses
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from suite import results
from suite.errors import UserError
from suite.extras.machines import command
from suite.extras.machines.collect import collect
from suite.page.formats.render import render
from suite.page.report import report
from suite.plan.shards import Shard, share
from suite.run.start.reopen import reopen
from suite.sets.comparability import FACTS
from suite.sets.plan import Plan
from suite.sets.result_set import ResultSet
from suite.sets.rows import Row
from suite.stacks import catalog
from tests.page.parts import found
from tests.pipeline import make_plan, make_session
from tests.scenes import FAKE

SCENES = ("calm", "slow", "raise")
MACHINE = {"machine_id": "m", "cpu_model": "A processor", "cpu_flags": ["sse4_2", "avx2"], "cores_usable": [0, 1]}


def measure(
    folder: Path,
    shard: Shard | None,
    machine: dict[str, object] | None = None,
    *,
    plan: Plan | None = None,
    set_id: str = "",
) -> Path:
    """A share, on a machine of its own, as a finished set."""
    name = set_id or f"20260102-03040{shard.index if shard else 0}-test-cpu-aaaa"
    whole = dataclasses.replace(plan or make_plan(SCENES, ("fake", "fake@slow")), set_id=name)
    session = make_session(folder / name, share(whole, shard) if shard else whole)
    session.store.machine = MACHINE | (machine or {})
    session.runner.machine_id = str(session.store.machine["machine_id"])
    session.run()
    return folder / name


@pytest.fixture(autouse=True)
def fake_stack() -> None:
    """The stack of the shares is known, as with --stack-path."""
    catalog.add([FAKE])


@pytest.fixture(scope="module")
def shares(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("shares")
    return [measure(folder, Shard(index, 3), {"machine_id": f"m{index}"}) for index in (1, 2, 3)]


def test_all_rows_are_there_once_however_often_and_in_which_order_shares_are_named(
    shares: list[Path], tmp_path: Path
) -> None:
    store = collect([shares[2], *shares, shares[0]], tmp_path)
    loaded = results.load(store.folder)
    keys = [(r["case_id"], r["block"], r["replicate"], r["purpose"], r["retry"]) for r in loaded.rows]
    assert len(keys) == len(set(keys)) == sum(len(results.load(path).rows) for path in shares) == 6
    assert (
        loaded.plan_file is not None and len(loaded.plan_file.plan.cases) == 6 and len(loaded.plan_file.collected) == 3
    )
    assert {str(record["shard"]) for record in loaded.blocks} == {"1/3", "2/3", "3/3"}
    assert ResultSet.open(store.folder).problems() == []
    before = sorted((path, path.read_bytes()) for path in store.folder.rglob("*") if path.is_file())
    assert collect(shares, tmp_path).folder == store.folder
    assert sorted((path, path.read_bytes()) for path in store.folder.rglob("*") if path.is_file()) == before
    assert len([*tmp_path.iterdir()]) == 1, "nothing is left beside it"


def test_the_page_shows_them_as_one_run(shares: list[Path], tmp_path: Path) -> None:
    loaded = results.load(collect(shares, tmp_path).folder)
    page = render(loaded.path).read_text(encoding="utf-8")
    assert all(scene in page for scene in SCENES) and "Of part" in page
    assert {*found(report(loaded), "blocks").table["shard"]} == {"1/3", "2/3", "3/3"}
    with pytest.raises(UserError, match="nothing to complete"):
        reopen(next(tmp_path.iterdir()))


@pytest.mark.release
def test_a_share_that_is_missing_twice_or_of_another_run_is_refused(shares: list[Path], tmp_path: Path) -> None:
    with pytest.raises(UserError, match="Shares are missing: 2/3"):
        collect([shares[0], shares[2]], tmp_path)
    twice = measure(tmp_path / "again", Shard(2, 3), set_id="20260102-030409-test-cpu-bbbb")
    with pytest.raises(UserError, match="are both share 2/3"):
        collect([*shares, twice], tmp_path)
    other = measure(tmp_path / "other", Shard(2, 3), plan=make_plan(SCENES, ("fake", "fake@slow"), samples_min=21))
    with pytest.raises(UserError, match=r"aren't shares of one run: they differ in plan"):
        collect([shares[0], other, shares[2]], tmp_path)
    whole = measure(tmp_path / "whole", None)
    with pytest.raises(UserError, match="no share of a plan"):
        collect([*shares, whole], tmp_path)
    half = measure(tmp_path / "half", Shard(1, 2))
    with pytest.raises(UserError, match="one of 3 shares"):
        collect([*shares, half], tmp_path)
    assert not [*tmp_path.glob("*collected*")]


def test_a_stack_that_is_not_known_here_is_named(shares: list[Path], tmp_path: Path) -> None:
    del catalog.STACKS["fake"]
    with pytest.raises(UserError, match=r"doesn't know the stack fake\. Name its adapter with --stack-path=FILE"):
        collect(shares, tmp_path)


@pytest.mark.parametrize(("fact", "value"), [("cpu_model", "B"), ("cpu_flags", ["sse4_2"]), ("cores_usable", [0])])
def test_unlike_machines_are_refused_and_named(shares: list[Path], tmp_path: Path, fact: str, value: object) -> None:
    other = measure(tmp_path, Shard(2, 3), {fact: value})
    with pytest.raises(UserError, match=f"unlike machines: they differ in {FACTS[fact].words}\\."):
        collect([shares[0], other, shares[2]], tmp_path)


def test_a_share_that_was_changed_or_cut_short_is_refused(shares: list[Path], tmp_path: Path) -> None:
    changed = measure(tmp_path, Shard(2, 3))
    plan = changed / "plan.json"
    plan.write_text(json.dumps(json.loads(plan.read_text()) | {"seed": 1}))
    with pytest.raises(UserError, match=r"plan\.json was changed"):
        collect([shares[0], changed, shares[2]], tmp_path)
    (changed / "manifest.json").unlink()
    with pytest.raises(UserError, match="the run didn't finish"):
        collect([shares[0], changed, shares[2]], tmp_path)


# --- shares that somebody has forged: sealed, so that they are intact ---


def forged(share: Path, folder: Path, change: Callable[[Path], object]) -> Path:
    """A copy of a share in which something was changed and then sealed."""
    copy = shutil.copytree(share, folder / share.name)
    change(copy)
    ResultSet.open(copy).seal()
    return copy


def of_plan(**fields: object) -> Callable[[Path], object]:
    """A change of a share's plan."""

    def change(folder: Path) -> None:
        path = folder / "plan.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | fields))

    return change


def of_rows(**columns: object) -> Callable[[Path], object]:
    """A change of a share's rows."""
    return lambda folder: write_rows(folder, [row | columns for row in results.load(folder).rows])


def write_rows(folder: Path, rows: list[Row]) -> None:
    ResultSet.open(folder).write_rows(rows)


def test_a_share_of_another_seed_is_refused(shares: list[Path], tmp_path: Path) -> None:
    """The other samples were measured on other numbers."""
    plan = json.loads((shares[1] / "plan.json").read_text())
    attempts = [attempt | {"seed": 12345} for attempt in plan["attempts"]]
    other = forged(shares[1], tmp_path, of_plan(seed=12345, attempts=attempts))
    with pytest.raises(UserError, match=r"differ in seed|attempts aren't those of its plan"):
        collect([shares[0], other, shares[2]], tmp_path)
    assert not [*tmp_path.glob("*collected*")]


def test_a_share_of_other_attempts_is_refused(shares: list[Path], tmp_path: Path) -> None:
    other = forged(shares[1], tmp_path, of_plan(attempts=[]))
    with pytest.raises(UserError, match="its attempts aren't those of its plan"):
        collect([shares[0], other, shares[2]], tmp_path)


@pytest.mark.parametrize(("column", "word"), [("set_id", "set"), ("machine_id", "machine"), ("threads", "case")])
def test_a_share_with_rows_of_another_is_refused(shares: list[Path], tmp_path: Path, column: str, word: str) -> None:
    value = 7 if column == "threads" else "another"
    other = forged(shares[1], tmp_path, of_rows(**{column: value}))
    with pytest.raises(UserError, match=f"it has a row of another {word}"):
        collect([shares[0], other, shares[2]], tmp_path)


def test_a_share_that_stands_in_for_another_s_samples_is_refused(shares: list[Path], tmp_path: Path) -> None:
    """Rows of a case that another share measured would have replaced its own."""
    first, second = (results.load(share).rows for share in shares[:2])
    theirs = [row | {"set_id": second[0]["set_id"], "machine_id": second[0]["machine_id"]} for row in first]
    other = forged(shares[1], tmp_path, lambda folder: write_rows(folder, [*second, *theirs]))
    with pytest.raises(UserError, match="it has a row of another case"):
        collect([shares[0], other, shares[2]], tmp_path)


@pytest.mark.parametrize("name", ["logs/stolen", "ir"])
def test_a_share_with_a_link_is_refused(shares: list[Path], tmp_path: Path, name: str) -> None:
    """What it leads to would be copied into the set, and published with it."""
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "key").write_text("-----BEGIN OPENSSH PRIVATE KEY-----")
    other = forged(shares[1], tmp_path, lambda folder: (folder / name).symlink_to(tmp_path / "private"))
    with pytest.raises(UserError, match=rf"{name}: Neither a file nor a folder|neither a file nor a folder"):
        collect([shares[0], other, shares[2]], tmp_path)
    assert not [*tmp_path.glob("*collected*")]


def test_the_command_takes_the_beginning_of_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = measure(tmp_path / "results", None).name
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match=f"results/{name} is no share of a plan"):
        command.collect(set=(name[:12],))
