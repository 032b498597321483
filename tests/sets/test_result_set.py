"""A result set on disk: written once, whole or not at all, and honest about what is missing."""

from __future__ import annotations

import errno
import json
import os
import random
import shutil
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suite.case import Flag, Purpose
from suite.errors import UserError
from suite.results.outcomes import exit_code
from suite.sets import files
from suite.sets.files import sha256
from suite.sets.parquet import read_rows
from suite.sets.result_set import ResultSet
from suite.sets.rows import Row, accepted
from tests.plan_files import plan_file
from tests.results.rows import attempt_of, make_set, record, row_of

JAX = "jax_jit"


Key = tuple[str, int, int]


def key_of(row: Row) -> Key:
    return row["stack"], row["block"], row["retry"]


def flags(rows: Iterable[Row]) -> dict[Key, set[str]]:
    return {key_of(row): set(row["flags"]) for row in rows}


# --- the folder ---


def test_create_then_open(tmp_path: Path) -> None:
    made = ResultSet.create(tmp_path / "new" / "a-set", plan_file(command="invoke run"))
    assert ResultSet.open(made.folder).plan_file == made.plan_file == plan_file(command="invoke run")
    assert {path.name for path in made.folder.iterdir()} >= {"plan.json", "inputs", "attempts", "blocks", "logs"}
    assert made.read() == ([], [])
    assert made.blocks() == []


def test_opening_something_else_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"no result set.*plan\.json"):
        ResultSet.open(tmp_path)
    (tmp_path / "plan.json").write_text('{"schema_ver')
    with pytest.raises(UserError, match="can't be read"):
        ResultSet.open(tmp_path)
    (tmp_path / "plan.json").write_text(json.dumps(plan_file(schema_version=99).to_json()))
    with pytest.raises(UserError, match="99"):
        ResultSet.open(tmp_path)


class Usage(NamedTuple):
    total: int
    used: int
    free: int


def test_no_disk_space_is_said_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files.shutil, "disk_usage", lambda place: Usage(10**12, 10**12 - 2**20, 2**20))
    with pytest.raises(UserError, match=r"1 MiB free.*--results"):
        ResultSet.create(tmp_path / "a-set", plan_file())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("code", [errno.EACCES, errno.EROFS, errno.ENOSPC, errno.EDQUOT])
def test_an_unwritable_folder_is_said_at_once(code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Root may write anywhere, so the refusal is the file system's word."""
    original = Path.open

    def refuse(self: Path, mode: str = "r", *arguments: Any, **options: Any) -> Any:
        if "w" in mode or "x" in mode:
            raise OSError(code, os.strerror(code), str(self))
        return original(self, mode, *arguments, **options)

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(UserError, match=r"can't be written.*--results"):
        ResultSet.create(tmp_path / "a-set", plan_file())
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_can_t_even_be_searched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tidying up after the refusal fails as well: it must not replace the message."""

    def refuse(self: Path, *arguments: Any, **options: Any) -> Any:
        raise PermissionError(errno.EACCES, "Permission denied", str(self))

    monkeypatch.setattr(Path, "open", refuse)
    monkeypatch.setattr(Path, "unlink", refuse)
    with pytest.raises(UserError, match="can't be written"):
        ResultSet.create(tmp_path / "a-set", plan_file())


@pytest.mark.parametrize("below", ["a-set", "more/a-set"])
def test_a_file_in_the_way_is_said_at_once(below: str, tmp_path: Path) -> None:
    (tmp_path / "results").write_text("a file")
    with pytest.raises(UserError, match=r"is no folder|can't be written"):
        ResultSet.create(tmp_path / "results" / below, plan_file())


# --- attempts ---


def test_attempts_are_immutable(tmp_path: Path) -> None:
    store = ResultSet.create(tmp_path / "a-set", plan_file())
    store.write_attempt("one", row_of(attempt_of()))
    with pytest.raises(FileExistsError, match=r"one\.parquet"):
        store.write_attempt("one", row_of(attempt_of(), outcome="error"))
    assert [row["outcome"] for row in store.read()[0]] == ["ok"]
    assert [path.name for path in (store.folder / "attempts").iterdir()] == ["one.parquet"]


def test_a_row_that_doesn_t_fit_leaves_no_file(tmp_path: Path) -> None:
    store = ResultSet.create(tmp_path / "a-set", plan_file())
    with pytest.raises((KeyError, ValueError), match="colour"):
        store.write_attempt("one", row_of(attempt_of(), colour="red"))
    assert list((store.folder / "attempts").glob("*.parquet")) == []


def test_a_name_with_dots_keeps_them(tmp_path: Path) -> None:
    store = ResultSet.create(tmp_path / "a-set", plan_file())
    store.write_attempt("jax_jit@0.10.2-a1", row_of(attempt_of()))
    store.write_attempt("jax_jit@0.10.3-a1", row_of(attempt_of()))
    assert len(store.read()[0]) == 2


def test_drafts_of_a_killed_run_are_no_attempts(tmp_path: Path) -> None:
    store = make_set(tmp_path / "a-set", [row_of(attempt_of())], [record(1, 1)])
    (store.folder / "attempts" / "two.draft").write_bytes(b"PAR1 half")
    assert len(store.read()[0]) == 1
    store.commit()
    assert "attempts/two.draft" not in json.loads((store.folder / "manifest.json").read_text())["files"]


def test_a_truncated_attempt_is_named_and_set_aside(tmp_path: Path) -> None:
    rows = [row_of(attempt_of(stack)) for stack in ("numpy", JAX)]
    store = make_set(tmp_path / "a-set", rows, [record(1, 1)])
    broken = sorted((store.folder / "attempts").glob("*.parquet"))[0]
    whole = broken.read_bytes()
    for length in (0, 3, 4, len(whole) // 2, len(whole) - 1):
        broken.write_bytes(whole[:length])
        kept, damaged = store.read()
        assert len(kept) == 1
        assert [path.name for path in damaged] == [broken.name]
        assert damaged[0].parent.name == "damaged" and damaged[0].read_bytes() == whole[:length]
        assert not broken.exists()
        assert store.read() == (kept, [])  # said once


def test_an_unfinished_set_of_somebody_else_is_read_too(tmp_path: Path) -> None:
    rows = [row_of(attempt_of(stack, block)) for stack in ("numpy", JAX) for block in (1, 2)]
    store = make_set(tmp_path / "a-set", rows, [record(1, 1)])
    theirs = ResultSet.open(shutil.copytree(store.folder, tmp_path / "theirs"))
    assert not theirs.begun_here and theirs.read() == store.read()
    broken = sorted((theirs.folder / "attempts").glob("*.parquet"))[0]
    broken.write_bytes(broken.read_bytes()[:-1])
    kept, damaged = theirs.read()
    assert len(kept) == 3 and [path.name for path in damaged] == [broken.name]


def test_reading_damaged_files_never_raises(tmp_path: Path) -> None:
    """Bytes changed by the disk: the file is set aside, or what Parquet can still decode is a row."""
    store = make_set(tmp_path / "a-set", [row_of(attempt_of())], [record(1, 1)])
    (path,) = (store.folder / "attempts").glob("*.parquet")
    whole = path.read_bytes()
    rng = random.Random(7)
    for _ in range(300):
        data = bytearray(whole)
        for _ in range(rng.choice((1, 1, 4, 64))):
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        path.write_bytes(data)
        rows, damaged = store.read()
        assert len(rows) + len(damaged) == 1
        path.unlink(missing_ok=True)


# --- what the end of a block tells ---

INCOMPLETE, NOISY, REJECTED, UNVERIFIED = {"incomplete_block"}, {"noisy"}, {"noisy", "rejected_block"}, {"unverified"}
STEAL = ("steal",)
# {what: (the rows' (stack, block, try), the blocks' records, the flags of rows that get any, the rows that count)}
ENDS: dict[str, tuple[list[Key], list[dict[str, Any]], dict[Key, set[str]], set[Key]]] = {
    "a block that was cut short is run whole, and isn't paired before": (
        [("numpy", 1, 1), ("numpy", 1, 2), (JAX, 1, 2), ("numpy", 2, 1)],
        [record(1, 2)],
        {("numpy", 1, 1): INCOMPLETE, ("numpy", 2, 1): INCOMPLETE},
        {("numpy", 1, 2), (JAX, 1, 2)},
    ),
    "half of a second try isn't mixed with the other half of the first": (
        [("numpy", 1, 1), (JAX, 1, 1), ("numpy", 1, 2)],
        [record(1, 1, "rejected", STEAL)],
        {("numpy", 1, 1): REJECTED, (JAX, 1, 1): REJECTED, ("numpy", 1, 2): INCOMPLETE},
        {("numpy", 1, 1), (JAX, 1, 1)},
    ),
    "a noisy block is kept beside the one that counts": (
        [("numpy", 1, 1), (JAX, 1, 1), ("numpy", 1, 2), (JAX, 1, 2)],
        [record(1, 1, "rejected", STEAL), record(1, 2)],
        {("numpy", 1, 1): REJECTED, (JAX, 1, 1): REJECTED},
        {("numpy", 1, 2), (JAX, 1, 2)},
    ),
    "where every try was rejected the last counts": (
        [("numpy", 1, 1), ("numpy", 1, 2)],
        [record(1, 1, "rejected", STEAL), record(1, 2, "rejected", STEAL)],
        {("numpy", 1, 1): REJECTED, ("numpy", 1, 2): REJECTED},
        {("numpy", 1, 2)},
    ),
    "a last try is accepted, noisy as it is": (
        [("numpy", 1, 1), ("numpy", 1, 2)],
        [record(1, 1, "rejected", STEAL), record(1, 2, "accepted", STEAL)],
        {("numpy", 1, 1): REJECTED, ("numpy", 1, 2): NOISY},
        {("numpy", 1, 2)},
    ),
    "a case run again in a finished block has no record of its own": (
        [("numpy", 1, 1), (JAX, 1, 1), (JAX, 1, 2)],
        [record(1, 1)],
        {},
        {("numpy", 1, 1), (JAX, 1, 2)},
    ),
    "records of other blocks say nothing": (
        [("numpy", 2, 1)],
        [record(1, 1), record(3, 1)],
        {("numpy", 2, 1): INCOMPLETE},
        set(),
    ),
}


@pytest.mark.parametrize("what", ENDS)
def test_rows_have_the_flags_and_the_noise_of_their_blocks(what: str, tmp_path: Path) -> None:
    asked, records, expected, counting = ENDS[what]
    found = make_set(tmp_path / "a-set", [row_of(attempt_of(*key)) for key in asked], records).merged()
    assert flags(found) == {key: set() for key in asked} | expected
    assert {key_of(row) for row in accepted(found)} == counting
    for row in found:
        noise = (None, None) if "incomplete_block" in row["flags"] else ([0.1, 0.1 + row["block"] / 1000], 0.001)
        assert row["canary_seconds"] == noise[0] and bool(row["steal_share"]) == bool(noise[1])


def test_what_had_no_process_is_not_noisy_and_a_row_s_own_flags_stay(tmp_path: Path) -> None:
    rows = [row_of(attempt_of(), flags=["assumed", "noisy"]), row_of(attempt_of("tf_xla"))]
    rows.append(row_of(attempt_of(JAX), outcome="unsupported", reason="x", synced_seconds=None))
    found = make_set(tmp_path / "a-set", rows, [record(1, 1, reasons=STEAL)]).merged()
    assert flags(found) == {("numpy", 1, 1): {"assumed", "noisy"}, ("tf_xla", 1, 1): NOISY, (JAX, 1, 1): set()}


def test_a_case_that_nothing_verifies_is_flagged_whichever_row_of_it_came_first(tmp_path: Path) -> None:
    first, later = row_of(attempt_of()), row_of(attempt_of(retry=2))
    wrong = row_of(attempt_of(JAX), outcome="wrong", reason="x")
    block = record(1, 1) | {"unverified": [first["case_id"], wrong["case_id"]]}
    found = make_set(tmp_path / "a-set", [first, later, wrong], [block]).merged()
    assert flags(found) == {("numpy", 1, 1): UNVERIFIED, ("numpy", 1, 2): UNVERIFIED, (JAX, 1, 1): set()}


# --- which rows count ---

row_flags = st.sets(st.sampled_from([Flag.INCOMPLETE_BLOCK, Flag.REJECTED_BLOCK, Flag.NOISY, Flag.ASSUMED]))
tries = st.tuples(
    st.sampled_from(["numpy", JAX]),
    st.integers(1, 3),
    st.integers(1, 2),
    st.sampled_from([Purpose.TIMED, Purpose.PRIME]),
    st.integers(1, 4),
)


@given(st.dictionaries(tries, row_flags, max_size=24), st.randoms(use_true_random=False))
def test_exactly_one_try_of_each_counts(asked: dict[Any, set[Flag]], order: random.Random) -> None:
    rows = [
        {
            "case_id": stack,
            "block": block,
            "replicate": replicate,
            "purpose": str(purpose),
            "retry": retry,
            "flags": sorted(map(str, marks)),
        }
        for (stack, block, replicate, purpose, retry), marks in asked.items()
    ]
    order.shuffle(rows)
    found = accepted(rows)

    def question(row: Row) -> tuple[Any, ...]:
        return row["case_id"], row["block"], row["replicate"], row["purpose"]

    whole = [row for row in rows if "incomplete_block" not in row["flags"]]
    assert {question(row) for row in found} == {question(row) for row in whole}
    assert len({question(row) for row in found}) == len(found)
    for row in found:
        others = [other for other in whole if question(other) == question(row)]
        good = [other for other in others if "rejected_block" not in other["flags"]]
        assert row["retry"] == max(other["retry"] for other in good or others)


@pytest.mark.parametrize(
    ("outcomes", "code"),
    [
        (["ok"], 0),
        (["ok", "timeout", "oom_host", "oom_device", "oom_compile", "unsupported"], 0),
        (["ok", "error"], 3),
        (["crashed"], 3),
        (["wrong", "ok"], 3),
        (["unsupported", "unsupported"], 4),
        ([], 4),
    ],
)
def test_exit_code(outcomes: list[str], code: int) -> None:
    rows = [row_of(attempt_of(block=b), outcome=outcome) for b, outcome in enumerate(outcomes, 1)]
    assert exit_code(rows) == code


def test_exit_code_is_that_of_the_rows_that_count() -> None:
    rows = [row_of(attempt_of(), outcome="error"), row_of(attempt_of(retry=2))]
    assert exit_code(rows) == 0
    rows = [row_of(attempt_of(), outcome="error", flags=["incomplete_block"]), row_of(attempt_of(retry=2))]
    assert exit_code(rows) == 0


# --- merged file and manifest ---


def test_a_committed_set_is_intact(stored: ResultSet) -> None:
    assert stored.problems() == []
    assert read_rows(stored.results_path, trusted=True) == read_rows(stored.results_path) == stored.merged()
    assert list(stored.folder.rglob("*.draft")) == []
    listed = json.loads((stored.folder / "manifest.json").read_text())["files"]
    assert {"plan.json", "results.parquet", "inputs/quick.toml", "blocks/b01-a1.json"} <= set(listed)
    assert not any(name.startswith("attempts/") for name in listed), "their rows are all in results.parquet"
    path = stored.folder / "inputs" / "quick.toml"
    assert listed["inputs/quick.toml"] == {"bytes": path.stat().st_size, "sha256": sha256(path)}


def test_logs_are_not_part_of_the_result(stored: ResultSet) -> None:
    (stored.folder / "logs" / "late.log").write_text("noise")
    assert stored.problems() == []


@pytest.mark.parametrize("name", ["plan.json", "results.parquet", "blocks/b02-a1.json", "inputs/quick.toml"])
def test_the_manifest_finds_a_missing_and_a_changed_file(stored: ResultSet, name: str) -> None:
    path = stored.folder / name
    whole = path.read_bytes()
    path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    assert stored.problems() == [f"{name} was changed"]
    path.unlink()
    assert stored.problems() == [f"{name} is missing"]


@pytest.mark.parametrize("name", ["ir/more.json", "blocks/b09-a1.json", "inputs/deep/more.txt"])
def test_the_manifest_finds_an_added_file(stored: ResultSet, name: str) -> None:
    (stored.folder / name).parent.mkdir(exist_ok=True)
    (stored.folder / name).write_text("more")
    assert stored.problems() == [f"{name} isn't in the manifest"]


def test_without_a_manifest_the_set_isn_t_whole(stored: ResultSet) -> None:
    (stored.folder / "manifest.json").unlink()
    (problem,) = stored.problems()
    assert "manifest.json is missing" in problem and "--resume" in problem


def test_a_commit_that_fails_leaves_no_mark(stored: ResultSet, monkeypatch: pytest.MonkeyPatch) -> None:
    """The old manifest must not vouch for a half-written merge."""

    def fail(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(pq, "write_table", fail)
    with pytest.raises(OSError, match="No space"):
        stored.commit()
    assert not (stored.folder / "manifest.json").exists()


def test_a_later_commit_lists_what_is_new_and_does_not_vouch_for_what_was_changed_or_deleted(stored: ResultSet) -> None:
    stored.write_block(3, 1, record(3, 1))
    stored.settle(replace(stored.plan_file, command="invoke run --repeats=9"))
    stored.commit()
    assert stored.problems() == [], "what the program wrote is listed"
    (stored.folder / "inputs" / "quick.toml").write_text("title = 'another'\n")
    (stored.folder / "blocks" / "b01-a1.json").unlink()
    stored.commit()
    assert stored.problems() == ["blocks/b01-a1.json is missing", "inputs/quick.toml was changed"]


def test_committing_twice_changes_nothing(stored: ResultSet) -> None:
    before = {path: path.read_bytes() for path in stored.folder.rglob("*") if path.is_file()}
    stored.commit()
    assert {path: path.read_bytes() for path in stored.folder.rglob("*") if path.is_file()} == before


def test_a_foreign_file_is_refused_by_name(stored: ResultSet, tmp_path: Path) -> None:
    path = tmp_path / "other.parquet"
    path.write_text("no parquet")
    with pytest.raises(UserError, match=r"other\.parquet can't be read"):
        read_rows(path)
    table = pq.read_table(stored.folder / "results.parquet").drop_columns(["outcome", "metrics"])
    pq.write_table(table, path)
    with pytest.raises(UserError, match="lacks the columns outcome, metrics"):
        read_rows(path)


def test_a_column_of_another_program_is_ignored(stored: ResultSet, tmp_path: Path) -> None:
    table = pq.read_table(stored.folder / "results.parquet")
    pq.write_table(table.append_column("colour", [["red"] * table.num_rows]), tmp_path / "more.parquet")
    assert read_rows(tmp_path / "more.parquet") == stored.merged()
