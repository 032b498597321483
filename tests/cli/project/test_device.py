"""A device check on the fake stack: what it writes, that it goes on where it was cut off, and that a failure is named.
What each check finds is tested in tests/answers/test_device_checks.py."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from suite.answers import device_checks
from suite.case import TARGETS
from suite.cli.options import RunOptions
from suite.cli.project import device, pack
from suite.environments import venv
from suite.errors import UserError
from suite.plan.planning import make
from suite.sets.result_set import ResultSet
from suite.stacks import catalog
from suite.workloads.catalog import find as workloads
from suite.workloads.catalog import load_module
from tests.scenes import FAKE, SCENARIOS


def step(name: str, scene: str) -> device.Step:
    catalog.add([FAKE])
    options = RunOptions(
        preset=str(SCENARIOS / "story.toml"),
        workload_path=(str(SCENARIOS),),
        stack_path=(str(FAKE),),
        engine="local",
        size=(scene,),
        repeats=1,
        force=True,
    )
    return device.Step(name, options, (device_checks.right,))


@pytest.fixture
def two_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "steps", lambda *_: [step("well", "calm"), step("not well", "wrong")])


def document(folder: Path) -> dict[str, Any]:
    [file] = folder.glob(f"*/{device.FOUND}")
    read: dict[str, Any] = json.loads(file.read_text())
    return read


@pytest.mark.usefixtures("two_steps")
def test_a_failed_check_is_named_on_page_and_console(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert device.check_device("cpu", None, tmp_path, as_json=False) == 3
    checked = {check["step"]: check["ok"] for check in document(tmp_path)["checks"]}
    assert checked == {"well": True, "not well": False}
    page = next(tmp_path.glob(f"*/{device.PAGE}"))
    for text in (page.read_text(), capsys.readouterr().out):
        assert "Failed: fake computes right (not well)." in text
    for check in document(tmp_path)["checks"]:
        assert (page.parent / check["set"] / "report.html").is_file()


def test_a_step_that_can_t_be_made_is_a_finding_and_the_others_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = step("broken", "calm")
    broken = replace(broken, options=replace(broken.options, stack=("nonesuch",)))
    monkeypatch.setattr(device, "steps", lambda *_: [broken, step("well", "calm")])
    assert device.check_device("cpu", None, tmp_path, as_json=True) == 3
    first, second = sorted(document(tmp_path)["checks"], key=lambda check: check["step"])
    assert first["ok"] is False and "nonesuch" in first["found"]
    assert second["ok"] is True


def test_what_can_t_be_judged_is_no_success(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    silent = replace(step("silent", "calm"), judges=(lambda _: iter([device_checks.Check("it", None, "unknown")]),))
    monkeypatch.setattr(device, "steps", lambda *_: [silent])
    assert device.check_device("cpu", None, tmp_path, as_json=True) == 4


@pytest.mark.usefixtures("two_steps")
def test_another_interpreter_s_check_is_another_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "measured", lambda store, *_: store.make_latest())  # as a run that is interrupted
    for python in (None, sys.executable, sys.executable, None):
        assert device.check_device("cpu", python, tmp_path, as_json=True) == 130
    kinds = sorted(folder.name.partition("-")[2][:3] for folder in tmp_path.iterdir())
    assert len(kinds) == 2 and kinds[1] == "own"


@pytest.mark.usefixtures("two_steps")
def test_a_check_that_was_cut_off_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "SECONDS_MAX", 0.0)
    assert device.check_device("cpu", None, tmp_path, as_json=True) == 130
    assert not list(tmp_path.glob("*/well/*/manifest.json"))
    monkeypatch.setattr(device, "SECONDS_MAX", 600.0)
    measured = device.measured
    monkeypatch.setattr(device, "measured", lambda store, *_: store.make_latest())  # as a run that is interrupted
    assert device.check_device("cpu", None, tmp_path, as_json=True) == 130
    monkeypatch.setattr(device, "measured", measured)
    assert device.check_device("cpu", None, tmp_path, as_json=True) == 3
    assert len(list(tmp_path.iterdir())) == 1
    assert device.check_device("cpu", None, tmp_path, as_json=True) == 3
    assert len(list(tmp_path.glob(f"*/{device.FOUND}"))) == 2  # whole: the next call begins anew


def test_a_check_ends_in_its_time_within_a_step_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(device, "steps", lambda *_: [step("long", "hang")])
    monkeypatch.setattr(device, "SECONDS_MAX", 2.0)
    assert device.check_device("cpu", None, tmp_path, as_json=True) == 130
    assert "2 s are over: call it again, and it goes on with 'long'." in capsys.readouterr().err
    [plan] = tmp_path.glob("*/long/*/plan.json")
    assert not ResultSet.open(plan.parent).is_whole


@pytest.mark.parametrize("target", TARGETS)
def test_every_step_can_be_planned(target: str) -> None:
    for each in device.steps(target, None):
        preset, options = each.options.chosen_preset(), each.options
        assert make(
            "set", preset, options.selection((0, 1)), workloads(options.workload_paths), None, lambda *_: None
        ).cases
        assert each.judges
    names = [each.name for each in device.steps(target, None)]
    assert ("ceilings" in names) == (target != "cpu")
    assert {"forward", "clock", "low precision", "memory", "afterwards", "largest batch"} <= {*names}


def test_an_interpreter_is_asked_for_the_frameworks_that_it_has() -> None:
    of_own = {step.name: step.options for step in device.steps("cpu", sys.executable)}  # it has NumPy alone
    assert of_own["clock"].stack == ("numpy",)
    assert "largest batch" not in of_own, "no compiler plans it"
    assert any(line.startswith("jax: ") for line in device.unchecked("cpu", sys.executable))
    of_locks = {step.name: step.options for step in device.steps("cpu", None)}
    assert {"jax_jit", "jax_jit_unwaited"} <= set(of_locks["clock"].stack)
    assert "torch_eager_unwaited" not in of_locks["clock"].stack, "it is for a GPU"
    assert "jax_jit_unwaited" not in of_locks["operations"].stack
    with pytest.raises(UserError, match="none of the frameworks"):
        device.steps("cuda", sys.executable)


def test_an_interpreter_that_isn_t_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such program"):
        device.check_device("cpu", str(tmp_path / "python"), tmp_path, as_json=True)


def test_the_stacks_that_forget_to_wait_are_their_stacks_otherwise() -> None:
    for file in device.UNWAITED.glob("*_adapter.py"):
        module = load_module(file)
        assert module.STACK.name == file.stem.removesuffix(catalog.SUFFIX)
        assert "wait" in vars(module.Adapter)
        assert module.STACK.environment == catalog.STACKS[module.STACK.name.removesuffix("_unwaited")].environment


def test_a_pack_is_for_a_version() -> None:
    with pytest.raises(UserError, match=r"like 3\.12"):
        pack.pack(Path("unused"), "python3")


@pytest.mark.release
@pytest.mark.stacks
def test_the_pack_runs_on_another_machines_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment with JAX, and so with NumPy and SciPy, stands for that machine. No command may reach an index."""
    monkeypatch.setattr(pack, "PRESET", 1)  # minutes less, and some more bytes
    monkeypatch.setattr(pack, "BYTES_MAX", 80 * 10**6)
    lock = venv.fit("jax", "cpu")
    archive = pack.pack(tmp_path, lock.python)
    assert archive.stat().st_size <= pack.BYTES_MAX
    python = str(venv.ensure("jax").python)
    subprocess.run([python, "-m", "tarfile", "-e", archive, tmp_path], check=True)
    words = ["run", "--preset=tiny", "--workload=gemm", "--stack=jax_jit", "--engine=local", "--force", "--repeats=1"]
    nowhere = {"UV_OFFLINE": "1", "PIP_NO_INDEX": "1", "PYTHONPATH": "site:.", "HOME": str(tmp_path)}
    done = subprocess.run(
        [python, "-m", "suite.cli", *words, f"--python={python}"],
        cwd=tmp_path / pack.NAME,
        env={"PATH": "/usr/bin:/bin", **nowhere},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert len(list((tmp_path / pack.NAME).glob("results/*/report.html"))) >= 1
