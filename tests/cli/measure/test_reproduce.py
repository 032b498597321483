"""A set that may be a stranger's: what of it would run here is listed, and nothing runs before somebody has said so."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from suite.case import Planned
from suite.cli.measure import reproduce as reproducing
from suite.errors import Damaged, UserError
from suite.page.sections.whole_set.reproduce import source, steps
from suite.results.outcomes import INTERRUPTED
from suite.run.start import engines
from suite.run.start.reproduce import prepare_reproduction
from suite.run.start.run import create
from suite.sets.result_set import ResultSet
from tests.environments.six_lock import SIX
from tests.plan_files import plan_file
from tests.results.rows import attempt_of, record, row_of


def a_set(folder: Path, lock: str = "", **plan: Any) -> ResultSet:
    """A whole set of one row, with a lock of its own."""
    locks = {"numpy": hashlib.sha256(lock.encode()).hexdigest()} if lock else {}
    asked: dict[str, Any] = {"locks": locks, "cases": (Planned(attempt_of().case),)}
    store = ResultSet.create(folder / "there", plan_file(**asked | plan))
    if lock:
        store.lock_copy("numpy").write_text(lock)
    store.write_attempt("b01-numpy-a1", row_of(attempt_of()))
    store.write_block(1, 1, record(1, 1))
    store.commit()
    return store


def reproduced(store: ResultSet, capsys: pytest.CaptureFixture[str], **asked: Any) -> tuple[int, str]:
    """The exit code, and what stands on standard output."""
    settings: dict[str, Any] = {"set": str(store.folder), "results": str(store.folder.parent), "force": True}
    code = reproducing.reproduce(**settings | asked)
    return code, capsys.readouterr().out


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The sets that would have been run, had nobody stopped it; nothing is."""
    sets: list[Path] = []

    def run(there: Path, *rest: object, **more: object) -> Path:
        sets.append(there)
        return there

    monkeypatch.setattr(reproducing, "run", run)
    return sets


@pytest.mark.parametrize("as_json", [False, True])
def test_a_run_that_was_interrupted_is_compared_with_nothing(
    as_json: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object, **__: object) -> int:
        print("a table of the new set")
        return INTERRUPTED

    monkeypatch.setattr(reproducing, "carry_out", interrupted)
    code, printed = reproduced(a_set(tmp_path), capsys, json=as_json)
    assert (code, bool(printed)) == (INTERRUPTED, not as_json)


def test_a_lock_of_theirs_is_listed_and_runs_with_consent_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], begun: list[Path]
) -> None:
    store = a_set(tmp_path, SIX)
    code, out = reproduced(store, capsys)
    assert (code, begun) == (reproducing.UNTRUSTED, [])
    assert "environment numpy" in out and "six none → 1.17.0" in out and "numpy 2." in out
    code, out = reproduced(store, capsys, json=True)
    assert code == 6 and "six none" in json.loads(out)["untrusted"][0]
    reproduced(store, capsys, trust=True)
    assert begun == [store.folder]


def test_variables_of_theirs_are_listed_before_a_framework_sees_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], begun: list[Path]
) -> None:
    """A "preset" that was a library, and a variable that had it loaded."""
    flags = {"jax@theirs": {"LD_PRELOAD": "inputs/evil.toml", "XLA_FLAGS": "--xla_cpu_enable_fast_math=true"}}
    store = a_set(tmp_path, flags=flags)
    code, out = reproduced(store, capsys)
    assert (code, begun) == (6, []) and "LD_PRELOAD=inputs/evil.toml" in out and "jax@theirs" in out
    assert "XLA_FLAGS" not in out


def test_no_file_of_theirs_but_locks_is_kept(tmp_path: Path) -> None:
    store = a_set(tmp_path)
    (store.folder / "inputs" / "evil.toml").write_bytes(b"\x7fELF")
    made = create(prepare_reproduction(store, "local"), None, ["reproduce"], tmp_path / "here")
    kept = {path.name for path in (made.folder / "inputs").iterdir()}
    assert kept == {"revision.txt", "diff.patch", "numpy.lock.txt"}


def test_a_lock_that_an_installer_could_obey_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], begun: list[Path]
) -> None:
    store = a_set(tmp_path, "--index-url https://example.com\n" + SIX)
    for trust in (False, True):
        with pytest.raises(Damaged, match=r"numpy\.lock\.txt, line 1: '--index-url"):
            reproduced(store, capsys, trust=trust)
    assert begun == []


@pytest.mark.parametrize("theirs", ["local", "docker", "unheard"])
def test_their_engine_and_scheduler_are_nothing_to_this_machine(
    theirs: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def choose(engine: str, *rest: object, **more: object) -> engines.Choice:
        asked.append(engine)
        return engines.Choice(engines.LOCAL, "")

    monkeypatch.setattr(engines, "choose", choose)
    run = prepare_reproduction(a_set(tmp_path, engine=theirs, scheduler="ray"), engines.AUTO)
    assert (asked, run.python, run.scheduler, run.workload_paths) == ([engines.AUTO], None, "", ())


@pytest.mark.parametrize(
    ("case", "said"),
    [
        ({"stack": "unheard"}, "the stack unheard"),
        ({"dims": {"rows": 64}}, "no dim 'rows'"),
        ({"workload": "unheard"}, "the workload unheard"),
        ({"workload": "ffn", "dims": {"batch": 1}}, "the dims hidden, seq, width of ffn"),
    ],
)
def test_a_case_that_this_version_can_t_ask_is_said(case: dict[str, Any], said: str, tmp_path: Path) -> None:
    asked = dataclasses.replace(attempt_of().case, **case)
    with pytest.raises(UserError, match=said):
        prepare_reproduction(a_set(tmp_path, cases=(Planned(asked),)), "local")


def test_a_revision_that_a_shell_would_obey_is_in_no_recipe(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="is no revision"):
        plan_file(revision="0123456;id")
    store = a_set(tmp_path)
    (store.folder / "inputs" / "revision.txt").write_text("0123456;id")
    made = steps(store.plan_file, *source(store.folder / "inputs"))
    assert made and not any("checkout" in step for step in made)


def test_an_interpreter_of_theirs_is_not_run(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="an interpreter that no lock pins"):
        prepare_reproduction(a_set(tmp_path, python="/tmp/evil"), "local")
