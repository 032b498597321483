"""A set's plan is run here with the set's own locks, or what can't be had is said, all of it."""

from __future__ import annotations

import dataclasses
import hashlib
from pathlib import Path

import pytest

from suite.case import Planned
from suite.environments import locks
from suite.errors import UserError
from suite.run.start.reproduce import prepare_reproduction
from suite.sets.result_set import ResultSet
from tests.plan_files import plan_file
from tests.results.rows import attempt_of

OTHER = "# another lock\nnumpy==1.0\n"
DIGEST = hashlib.sha256(OTHER.encode()).hexdigest()


def stored(
    folder: Path, lock: str = DIGEST, copy: str | None = OTHER, python: str | None = None, **case: object
) -> ResultSet:
    """A set of one case, begun with a lock of the environment numpy."""
    asked = dataclasses.replace(attempt_of("numpy").case, **case)  # type: ignore[arg-type]
    store = ResultSet.create(folder / "a-set", plan_file(locks={"numpy": lock}, cases=(Planned(asked),), python=python))
    if copy is not None:
        store.lock_copy("numpy").write_text(copy)
    return store


def test_a_set_s_own_lock_is_used_where_ours_differs(tmp_path: Path) -> None:
    store = stored(tmp_path)
    run = prepare_reproduction(store, "local")
    assert run.locks.of("numpy").path == store.lock_copy("numpy").absolute()
    assert run.locks.of("numpy").sha256 == DIGEST != locks.newest("numpy", "cpu").sha256
    assert run.plan.set_id != "a-set" and "reproduction" in run.plan.set_id
    assert [planned.case.stack for planned in run.plan.cases] == ["numpy"] and run.plan.seed == 0


def test_our_lock_is_used_where_it_is_the_same(tmp_path: Path) -> None:
    own = locks.newest("numpy", "cpu").sha256
    assert own
    run = prepare_reproduction(stored(tmp_path, lock=own, copy=None), "local")
    assert run.locks.of("numpy") == locks.newest("numpy", "cpu")


def test_our_lock_is_used_in_place_of_one_with_the_same_versions_and_other_hashes(tmp_path: Path) -> None:
    older = locks.all_locks("numpy", "cpu")[1]
    theirs = older.text + f"    --hash=sha256:{DIGEST}\n"
    digest = hashlib.sha256(theirs.encode()).hexdigest()
    run = prepare_reproduction(stored(tmp_path, lock=digest, copy=theirs), "local")
    assert run.locks.of("numpy") == older


def test_an_older_lock_of_ours_is_used_where_the_set_has_it(tmp_path: Path) -> None:
    older = locks.all_locks("numpy", "cpu")[1]
    run = prepare_reproduction(stored(tmp_path, lock=str(older.sha256), copy=None), "local")
    assert run.locks.of("numpy") == older


@pytest.mark.parametrize("copy", [None, OTHER + "changed"])
def test_a_lock_that_is_not_there_is_said(tmp_path: Path, copy: str | None) -> None:
    with pytest.raises(UserError, match=f"the lock of environment numpy \\({DIGEST[:12]}\\)"):
        prepare_reproduction(stored(tmp_path, copy=copy), "local")


def test_all_that_can_t_be_had_is_said_at_once(tmp_path: Path) -> None:
    store = stored(tmp_path, copy=None, python="/a/python", threads=4096, workload="mine")
    with pytest.raises(UserError) as refused:
        prepare_reproduction(store, "local")
    for said in ("the lock of environment numpy", "no lock pins", "4096 cores", "the workload mine, code of its own"):
        assert said in str(refused.value)
