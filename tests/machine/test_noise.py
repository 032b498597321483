"""The canary, what makes a block noisy, and what disturbs a run from its start."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path

import pytest

from suite.errors import UserError
from suite.machine import noise
from suite.protocol import Protocol

PROTOCOL = Protocol(canary_drift_max=0.05, steal_share_max=0.01)
QUIET = noise.NoiseReading(canary_seconds=0.1, stolen=100, jiffies=10_000, throttled=3, load=0.2, mhz=None)


def after(**changes: float | None) -> noise.NoiseReading:
    """A second look, 10,000 jiffies later."""
    return dataclasses.replace(QUIET, **{"jiffies": 20_000} | changes)


def test_a_quiet_block_has_no_reasons() -> None:
    record = noise.compare(QUIET, after(canary_seconds=0.104, stolen=199), PROTOCOL)
    assert record["reasons"] == []
    assert record["canary_seconds"] == [0.1, 0.104]
    assert record["steal_share"] == pytest.approx(0.0099)
    assert record["throttled"] == 0


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"canary_seconds": 0.106}, "drifted by +6.0%"),
        ({"canary_seconds": 0.094}, "drifted by -6.0%"),
        ({"stolen": 300}, "took 2.0% of the CPU time"),
        ({"throttled": 5}, "throttled 2 periods"),
    ],
)
def test_each_disturbance_is_a_reason(changes: dict[str, float], said: str) -> None:
    (reason,) = noise.compare(QUIET, after(**changes), PROTOCOL)["reasons"]
    assert said in reason


def test_what_the_kernel_hides_is_unknown() -> None:
    assert noise.compare(QUIET, after(throttled=None), PROTOCOL)["throttled"] is None


def test_the_canary_takes_time_on_every_core() -> None:
    assert noise.canary(1) > 0.001


@pytest.fixture
def mark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A mark of this test's own on a quiet machine."""
    monkeypatch.setattr(noise, "USER_FOLDER", tmp_path / "own")
    monkeypatch.setattr(os, "getloadavg", lambda: (0.9, 0.0, 0.0))
    return tmp_path / "own" / "run.lock"


def test_a_second_run_on_this_machine_is_refused(mark: Path) -> None:
    with noise.alone(cores=2) as first:
        assert first == []
        with pytest.raises(UserError, match=rf"\(process {os.getpid()}\).*--force"), noise.alone(cores=2):
            pass
        with noise.alone(force=True, cores=2) as beside:
            assert beside == [f"Another run is going on here (process {os.getpid()}): each disturbs the other."]
    with noise.alone(cores=2) as again:
        assert again == []


def test_a_busy_machine_is_noticed(mark: Path) -> None:
    with noise.alone(cores=1) as found:
        assert found == ["This machine is busy: a load of 0.9 on 1 cores. Its figures will be noisy."]


def test_the_mark_is_the_user_s_own_and_gone_afterwards(mark: Path) -> None:
    with noise.alone(cores=2):
        assert mark.read_text(encoding="ascii") == str(os.getpid())
        assert mark.parent.stat().st_mode & 0o777 == 0o700 and mark.stat().st_mode & 0o777 == 0o600
    assert list(mark.parent.iterdir()) == []


@pytest.mark.parametrize("laid", ["a link", "a file", "a folder for all"])
def test_what_somebody_else_has_laid_in_its_place_is_refused(laid: str, mark: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    if laid == "a link":
        mark.parent.symlink_to(elsewhere)
    elif laid == "a file":
        mark.parent.write_text("")
    else:
        mark.parent.mkdir()
        mark.parent.chmod(0o777)
    with pytest.raises(UserError, match="isn't a folder in which you alone can write"), noise.alone(cores=2):
        pass
    assert list(elsewhere.iterdir()) == []


def test_a_link_at_the_mark_leads_nowhere(mark: Path, tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("precious")
    noise.user_folder()
    mark.symlink_to(tmp_path / "precious")
    with pytest.raises(OSError, match="symbolic links"), noise.alone(cores=2):
        pass
    assert (tmp_path / "precious").read_text() == "precious"
