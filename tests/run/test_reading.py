"""Which environment reads what a process left, and what is said where none can."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from suite.environments import pythons
from suite.environments.locks import Locks, all_locks
from suite.errors import UserError
from suite.ir import files
from suite.launch.local import Local
from suite.protocol import Protocol
from suite.run.reading import Reading, readers
from suite.stacks.catalog import READER
from tests.launch.programs import write_program

OLDEST = all_locks(READER, "cpu")[-1]
MADE_BY_JAX = {"jax": "0.12.0.1", "numpy": "2.4.6"}


@pytest.fixture
def locks(tmp_path: Path) -> Callable[..., Locks]:
    """Locks of environments that have these versions of JAX."""

    def made(**versions: str) -> Locks:
        chosen = {name.replace("_at_", "@"): tmp_path / f"{name}.txt" for name in versions}
        for (name, version), path in zip(versions.items(), chosen.values(), strict=True):
            path.write_text(f"# Python 3.11\n{'jax' if version else name}=={version or '1.0'} \\\n", encoding="utf-8")
        return Locks("cpu", chosen)

    return made


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Sets which Pythons this machine has."""

    def has(*versions: str) -> None:
        monkeypatch.setattr(pythons, "find", lambda version: version if version in versions else None)

    return has


def test_the_newest_jax_of_a_run_reads_and_older_ones_stand_by(locks: Callable[..., Locks]) -> None:
    newer = locks(jax="0.99.0", jax_at_nightly="0.100.0.dev20261124", jax_at_old="0.9.2", torchax="0.99.0", numpy="")
    names = ("jax@old", "jax@nightly", "numpy", "torchax")
    assert readers(names, newer)[0] == ("jax@nightly", "jax", "jax@old")


def test_a_variant_older_than_the_default_leaves_reading_to_the_default(locks: Callable[..., Locks]) -> None:
    assert readers(["jax@old"], locks(jax="0.99.0", jax_at_old="0.10.2"))[0] == ("jax", "jax@old")


def test_what_no_python_here_reads_is_said_with_its_maker(found: Callable[..., None]) -> None:
    found(OLDEST.python)
    newer = [lock.python for lock in all_locks(READER, "cpu")[-2::-1]]
    hint = Reading(Local, Protocol(), [0], *readers([READER], Locks("cpu", {READER: OLDEST.path}))).hint  # type: ignore[arg-type]
    words = f"reading it needs Python {' or '.join(newer)} here"
    assert hint(MADE_BY_JAX) == f"made by the XLA of JAX 0.12; {words}"
    assert hint({"tensorflow-cpu": "2.21.0"}) == f"made by the XLA of TensorFlow 2.21; {words}"
    assert hint({"torch": "2.9.1", "torch_xla": "2.9.0"}) == f"made by the XLA of PyTorch/XLA 2.9; {words}"
    assert hint({"torch": "2.13.0"}) == ""


@pytest.mark.parametrize("chosen", [{}, {READER: OLDEST.path}])
def test_no_python_is_asked_for_that_is_here_or_that_would_not_help(
    chosen: dict[str, Path], found: Callable[..., None]
) -> None:
    found(*(lock.python for lock in all_locks(READER, "cpu")))
    assert readers([READER], Locks("cpu", chosen))[1] == ""


def reading_by(place: Path, **programs: str) -> tuple[Reading, list[str]]:
    """Reads with programs in place of environments' Pythons; and which of them were asked for, in their order."""
    asked: list[str] = []

    def engine(name: str) -> Local:
        asked.append(name)
        return Local(write_program(place / name, programs[name]))

    return Reading(engine, Protocol(timeout_seconds=60.0), [0], tuple(programs), "3.12 or 3.13"), asked


REFUSES = "print(f'no: {sys.argv[4]}' if sys.argv[4:] else 'no', file=sys.stderr); sys.exit(1)"
READS = f"open(f'{{sys.argv[3]}}/{files.ATTRIBUTED}', 'w').write('{{}}')"


@pytest.fixture
def traced(tmp_path: Path) -> Path:
    folder = tmp_path / "process" / files.PROFILE
    folder.mkdir(parents=True)
    (folder / files.ASKED).touch()
    return folder


def test_an_older_reader_is_tried_where_the_newest_fails(traced: Path, tmp_path: Path) -> None:
    reader, asked = reading_by(tmp_path, newest=REFUSES, older=READS, oldest=READS)
    assert reader.profile(traced, MADE_BY_JAX) == {"profile": {}}
    assert asked == ["newest", "older"]


def test_where_all_fail_the_first_reason_stands_with_what_would_help(traced: Path, tmp_path: Path) -> None:
    reader, asked = reading_by(tmp_path, newest=REFUSES, older="sys.exit(1)")
    hint = "made by the XLA of JAX 0.12; reading it needs Python 3.12 or 3.13 here"
    reason = f"its profiler's trace couldn't be read: no: {hint}"
    assert reader.profile(traced, MADE_BY_JAX) == {"outcome": "error", "reason": reason}
    assert asked == ["newest", "older"]
    plain = dataclasses.replace(reader, names=("newest",), newer="")
    assert plain.profile(traced, MADE_BY_JAX)["reason"] == "its profiler's trace couldn't be read: no"


def test_a_reader_that_can_t_be_made_is_a_reason_of_its_row(traced: Path) -> None:
    def engine(name: str) -> Any:
        raise UserError(f"Python 3.99, for {name}, could not be installed.\nInstall it.")

    reader = Reading(engine, Protocol(), [0])
    reason = "its profiler's trace couldn't be read: Python 3.99, for jax, could not be installed."
    assert reader.profile(traced, {}) == {"outcome": "error", "reason": reason}
