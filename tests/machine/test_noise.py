"""The canary, what makes a block noisy, and what disturbs a run from its start."""

from __future__ import annotations

import dataclasses
import os
import signal
from pathlib import Path

import pytest

from suite.errors import UserError
from suite.machine import limits, noise
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


@pytest.fixture(autouse=True)
def own_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of this test's own, on a quiet machine, in a shell without limits."""
    monkeypatch.setattr(noise, "LOCK", str(tmp_path))
    monkeypatch.setattr(os, "getloadavg", lambda: (0.9, 0.0, 0.0))
    monkeypatch.setattr(limits, "limits", dict)


def test_a_second_run_on_this_machine_is_refused() -> None:
    with noise.alone(cores=2) as first:
        assert first == []
        with pytest.raises(UserError, match=rf"\(process {os.getpid()}\).*--force"), noise.alone(cores=2):
            pass
        with noise.alone(force=True, cores=2) as beside:
            assert beside == [f"Another run is going on here (process {os.getpid()}): each disturbs the other."]
    with noise.alone(cores=2) as again:
        assert again == []


def test_a_busy_machine_is_noticed() -> None:
    with noise.alone(cores=1) as found:
        assert found == ["This machine is busy: a load of 0.9 on 1 cores. Its figures will be noisy."]


@pytest.mark.parametrize("user", ["the same", *(["another"] if os.getuid() == 0 else [])])
def test_runs_with_other_folders_or_of_other_users_see_each_other(
    user: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with noise.alone(cores=2):
        child = os.fork()
        if child == 0:
            code = 0
            try:
                os.environ["TMPDIR"] = os.environ["HOME"] = str(tmp_path)
                if user == "another":
                    os.setuid(65534)
                with noise.alone(cores=2):
                    pass
            except UserError as refused:
                code = 7 if f"(process {os.getppid()}{' of another user' * (user == 'another')})" in str(refused) else 8
            finally:
                os._exit(code)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


def test_a_killed_run_holds_nothing() -> None:
    child = os.fork()
    if child == 0:
        with noise.alone(cores=2):
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    with noise.alone(cores=2) as found:
        assert found == []


def test_a_shell_s_limits_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "limits", lambda: {"address_space_bytes": 3_072_000_000, "stack_bytes": 8 * 2**20})
    with noise.alone(cores=2) as (told,):
        assert "(ulimit -v 2.86 GiB)" in told
