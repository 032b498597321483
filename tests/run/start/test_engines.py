"""Which engine a run gets, and what is said about it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from suite import results
from suite.environments import images, venv
from suite.environments.locks import Locks
from suite.errors import UserError
from suite.run.start import engines
from tests.engine import images_or_skip
from tests.runs import STACKWARS

NOWHERE = "unix:///nowhere/docker.sock"


def choose(asked: str, *names: str, python: str | None = None, build: bool = False) -> engines.Choice:
    return engines.choose(asked, names, Locks("cpu"), python, build=build)


def test_without_a_daemon_auto_is_local_and_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", NOWHERE)
    found = choose("auto", "numpy")
    assert (found.name, found.why) == ("local", f"Engine: local. No Docker engine answers at {NOWHERE}.")
    with pytest.raises(UserError, match="No Docker engine answers"):
        choose("docker", "numpy")
    assert choose("local", "numpy").name == "local"
    with pytest.raises(UserError, match="Did you mean 'docker'"):
        choose("doker", "numpy")


def test_without_a_trace_of_docker_its_library_isnt_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "SOCKET", tmp_path / "docker.sock")
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in engines.SETTINGS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(images, "connect", None)  # calling it would fail
    why = f"Engine: local. No Docker engine answers at unix://{tmp_path}/docker.sock."
    assert choose("auto", "numpy").why == why


def test_this_program_s_own_environment_has_no_image() -> None:
    with pytest.raises(UserError, match="--engine=local"):
        choose("docker", "orchestrator")
    assert choose("auto", "orchestrator").name == "local"


def test_with_images_auto_is_docker() -> None:
    images_or_skip("numpy")
    found = choose("auto", "numpy")
    assert found.name == "docker"
    assert found.client is not None
    assert found.why == f"Engine: docker {found.client.version()['Version']}."


def test_a_dry_run_builds_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    images_or_skip()
    monkeypatch.setattr(images, "find", lambda *_: None)
    assert choose("docker", "numpy", "jax").why.endswith("; to be built: jax, numpy.")


def test_an_image_that_cant_be_built_makes_auto_local(monkeypatch: pytest.MonkeyPatch) -> None:
    images_or_skip()

    def refuse(*_: Any) -> str:
        raise UserError("The image x could not be built.\nand why")

    monkeypatch.setattr(images, "find", lambda *_: None)
    monkeypatch.setattr(images, "build", refuse)
    assert choose("auto", "numpy", build=True).why == "Engine: local. The image x could not be built."
    with pytest.raises(UserError, match="and why"):
        choose("docker", "numpy", build=True)


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--engine=docker", "--dry-run"], 2, f"No Docker engine answers at {NOWHERE}.\n"),
        (["--engine=auto", "--dry-run"], 0, f"Engine: local. No Docker engine answers at {NOWHERE}.\n"),
        (["--engine=dokcer", "--dry-run"], 2, "Did you mean 'docker'?"),
    ],
)
def test_what_was_asked_for_is_had_or_refused_in_one_line(words: list[str], code: int, said: str) -> None:
    done = subprocess.run(
        [*STACKWARS, "run", "--stack=numpy", "--baseline=numpy", *words],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"DOCKER_HOST": NOWHERE},
    )
    assert done.returncode == code, done.stderr
    assert said in done.stdout + done.stderr
    if code:
        assert done.stderr.count("\n") == 1


def test_a_python_without_numpy_is_refused(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "bare"], check=True)
    with pytest.raises(UserError, match="is no Python with NumPy: ModuleNotFoundError"):
        engines.interpreter(str(tmp_path / "bare" / "bin" / "python"), "auto")


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--python=/nowhere/python"], "--python=/nowhere/python can't be run: no such program."),
        (["--python=/bin/false"], "is no Python with NumPy"),
        (["--python=/bin/true", "--engine=docker"], "--python is for the local engine"),
    ],
)
def test_an_interpreter_of_ones_own_is_tried_first(words: list[str], complaint: str) -> None:
    done = subprocess.run([*STACKWARS, "run", "--dry-run", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert complaint in done.stderr


def test_a_python_with_none_of_the_packages_is_refused(tmp_path: Path) -> None:
    words = ["ask", "--torch=-x", "--tf=-x", "--input=x=f32[2]", "--dry-run", f"--python={venv.ensure('numpy').python}"]
    done = subprocess.run([*STACKWARS, *words], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "has the packages of none of these stacks: torch_eager (torch), " in done.stderr
    assert "tf_xla (tensorflow)" in done.stderr


@pytest.mark.parametrize("name", ["", "python", "current"])
def test_rows_of_an_interpreter_of_ones_own_are_unpinned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    python = venv.ensure("numpy", "cpu").python
    if name:  # as a shell would find it
        monkeypatch.setenv("PATH", f"{python.parent}:/usr/bin:/bin")
        python = Path(name)
    words = [
        "run",
        "--preset=tiny",
        "--workload=gemm",
        "--pass=forward",
        "--stack=numpy",
        f"--python={python}",
        f"--results={tmp_path}",
        "--json",
    ]
    done = subprocess.run([*STACKWARS, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "not pinned by any lock" in done.stderr
    (row,) = results.load(Path(json.loads(done.stdout)["set"])).rows
    assert (row["outcome"], row["engine"], row["lock_sha256"]) == ("ok", "local", None)
    assert "unpinned" in row["flags"]


class Described:
    """An engine that says this of itself."""

    def __init__(self, **about: Any) -> None:
        self.about = about

    def info(self) -> dict[str, Any]:
        return self.about


@pytest.mark.parametrize(
    ("about", "able"),
    [
        ({"Runtimes": {"runc": {}}}, False),
        ({"Runtimes": {"runc": {}, "nvidia": {}}}, True),
        ({"Runtimes": {"runc": {}}, "DiscoveredDevices": [{"ID": "nvidia.com/gpu=0"}]}, True),
    ],
)
def test_gpus_take_nvidias_runtime(about: dict[str, Any], able: bool) -> None:
    client: Any = Described(**about)
    assert (engines.lacks(client, "cuda") is None) is able
    assert engines.lacks(client, "cpu") is engines.lacks(client, "tpu") is None


def test_an_interpreter_is_tried_as_its_workers_are_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "numpy.py").write_text("raise RuntimeError('a shadow')\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert engines.interpreter(sys.executable, "local") == sys.executable


def test_an_interpreter_with_jax_alone_runs_jax_s_stacks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "jax").mkdir()
    (tmp_path / "jax" / "__init__.py").touch()
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert engines.lacking(sys.executable, ["numpy", "jax_jit", "torchax_jit"]) == {"torchax_jit": "torchax"}
