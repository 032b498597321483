"""The wheel, as somebody gets it who has no checkout: in an empty home, with the system's folders on PATH."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from suite.environments import ROOT, uv
from tests.strangers import PACKAGE, SLOWER, WRONG, repository

pytestmark = [pytest.mark.release, pytest.mark.stacks]
KEPT = re.compile(r"(UV|PIP|SSL)_\w+|\w+_proxy", re.IGNORECASE)  # how this machine reaches its package index


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty home, with a virtual environment `empty` that has the wheel."""
    folder = tmp_path_factory.mktemp("home")
    wheel = [uv.find_uv(), "build", "--wheel", "--no-build-isolation", "--python", sys.executable, "--out-dir"]
    subprocess.run([*wheel, folder / "dist", ROOT], check=True, capture_output=True)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "empty"], check=True)
    built = next((folder / "dist").glob("*.whl"))
    assert built.stat().st_size < 5e6
    install(folder, built, "--offline")
    return folder


def install(home: Path, *what: str | Path) -> None:
    subprocess.run([uv.find_uv(), "pip", "install", "--python", home / "empty" / "bin" / "python", *what], check=True)


def variables(home: Path) -> dict[str, str]:
    environ = {name: value for name, value in os.environ.items() if KEPT.fullmatch(name)}
    environ |= {"HOME": str(home), "PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"}
    environ |= {"COLUMNS": "300"}
    return environ | {"UV_CACHE_DIR": cache(), "XDG_CONFIG_HOME": str(Path.home() / ".config")}


def test_a_run_without_a_checkout(home: Path) -> None:
    """Results lie in the folder of the caller."""
    python, folder, environ = home / "empty" / "bin" / "python", home / "folder", variables(home)
    folder.mkdir()
    words = ["run", "--preset=tiny", "--workload=ffn", "--stack=numpy", "--engine=local", "--force", "--json"]
    command = [python.with_name("stackwars"), *words]
    for _ in range(2):  # the second finds everything made
        done = subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (folder / told["set"] / "report.html").is_file()
    plan = json.loads((folder / told["set"] / "plan.json").read_text())
    assert plan["command"].startswith("stackwars run ")
    assert "Making environment" not in done.stderr
    for words in ([python, "-m", "stackwars"], [python.with_name("stack-wars")]):
        done = subprocess.run([*words, "--version"], env=environ, capture_output=True, text=True, check=False)
        assert done.stdout == "Stack Wars 0.2.0\n", done.stderr
    asks = """import stackwars
asked = stackwars.ask(numpy=["x + 1", "1 + x"], input="x=f32[64]", check=True, engine="local", force=True)
print(sorted(asked["stack"]), asked["outcome"], asked.page.is_file())"""
    done = subprocess.run([python, "-c", asks], cwd=folder, env=environ, capture_output=True, text=True, check=False)
    assert done.stdout == "['numpy:1', 'numpy:2'] ['ok', 'ok'] True\n", done.stderr
    assert len([*(home / ".cache" / "stack-wars").iterdir()]) == 2  # the source, and all environments


TESTS = """import pytest

OPTIONS = {"stack": "numpy", "engine": "local", "force": True, "repeats": 5}

def test_changed(stackwars):
    stackwars.not_slower("bench/total.py", than="v1.0", by=1.3, **OPTIONS)

def test_decided(stackwars):
    stackwars.not_slower("bench/total.py", than="v1.0", by=1.3, decided=True, **OPTIONS | {"repeats": 1})

def test_frame(stackwars):
    asked = stackwars.ask(numpy=["x + 1", "1 + x"], input="x=f32[64]", check=True, engine="local", force=True)
    assert asked["outcome"] == ["ok", "ok"]

def test_nothing():
    import sys
    assert not any(name.startswith("suite") or name == "stackwars" for name in sys.modules)
"""


def test_a_test_of_somebody_s_fails_if_a_change_made_a_question_slower(home: Path) -> None:
    install(home, "pytest")
    root = repository(home / "stranger")
    (root / "test_speed.py").write_text(TESTS)

    def tested(*words: str) -> str:
        command = [home / "empty" / "bin" / "python", "-m", "pytest", "-rA", "test_speed.py", *words]
        done = subprocess.run(command, cwd=root, env=variables(home), capture_output=True, text=True, check=False)
        return done.stdout + done.stderr

    said = tested()
    assert "stackwars: tests that measure, 3 here, are skipped without --stackwars" in said
    assert "1 passed, 3 skipped" in said, said

    (root / "stranger.py").write_text(SLOWER)
    said = tested("--stackwars", "-k", "not nothing")
    assert "FAILED test_speed.py::test_changed - Failed: numpy:total on total forward: after takes" in said, said
    assert "slower by more than 1.30×" in said
    assert "FAILED test_speed.py::test_decided" in said, "one block has no interval"
    assert "2 failed, 1 passed" in said

    (root / "stranger.py").write_text(WRONG)
    assert "results differ in after" in tested("--stackwars", "-k", "changed")

    (root / "stranger.py").write_text(PACKAGE + "# the same\n")
    said = tested("--stackwars", "-k", "changed")
    assert "PASSED test_speed.py::test_changed" in said and "of the time of before" in said, said


def cache() -> str:
    """So that the test downloads nothing that this machine has already."""
    return subprocess.run([uv.find_uv(), "cache", "dir"], check=True, capture_output=True, text=True).stdout.strip()
