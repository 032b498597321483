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

pytestmark = [pytest.mark.release, pytest.mark.stacks]
KEPT = re.compile(r"(UV|PIP|SSL)_\w+|\w+_proxy", re.IGNORECASE)  # how this machine reaches its package index


def test_a_run_without_a_checkout(tmp_path: Path) -> None:
    """Results lie in the folder of the caller."""
    wheel = [uv.find_uv(), "build", "--wheel", "--no-build-isolation", "--python", sys.executable, "--out-dir"]
    subprocess.run([*wheel, tmp_path / "dist", ROOT], check=True, capture_output=True)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "empty"], check=True)
    python, folder = tmp_path / "empty" / "bin" / "python", tmp_path / "folder"
    built = next((tmp_path / "dist").glob("*.whl"))
    assert built.stat().st_size < 5e6
    subprocess.run([uv.find_uv(), "pip", "install", "--offline", "--python", python, built], check=True)
    folder.mkdir()
    environ = {name: value for name, value in os.environ.items() if KEPT.fullmatch(name)}
    environ |= {"HOME": str(tmp_path), "PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"}
    environ |= {"UV_CACHE_DIR": cache(), "XDG_CONFIG_HOME": str(Path.home() / ".config")}
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
    assert len([*(tmp_path / ".cache" / "stack-wars").iterdir()]) == 2  # the source, and all environments


def cache() -> str:
    """So that the test downloads nothing that this machine has already."""
    return subprocess.run([uv.find_uv(), "cache", "dir"], check=True, capture_output=True, text=True).stdout.strip()
