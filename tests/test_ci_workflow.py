"""The workflow of docs/ci, as far as no forge is needed: its commands exist, and its script measures and compares."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from suite.environments import venv
from suite.sets.archive.publish import publish
from suite.sets.archive.storage import Storage
from tests.typed import parsed

ROOT = Path(__file__).parents[1]
WORKFLOW = (ROOT / "docs" / "ci" / "benchmark.yml").read_text(encoding="utf-8")
SCRIPT = "docs/ci/compare.sh"
TINY = (
    "--engine=local",
    "--preset=tiny",
    "--workload=gemm",
    "--pass=forward",
    "--stack=numpy",
    "--baseline=numpy",
    "--repeats=2",
    "--force",
)
MAKES = ("-Es", "-m", "suite.environments", "orchestrator")
LEFT_OUT = {".git", ".venv", ".environments", "results", "ci-results"}  # of the checkout's own folder


def scripts() -> list[list[str]]:
    """The words of every call of the script in the workflow, expressions of the forge replaced."""
    flat = re.sub(r"\$\{\{.*?\}\}", "COMMIT", WORKFLOW)
    calls = re.findall(rf"{SCRIPT}[^\n]*(?:\n +--[^\n]*)*", flat)
    return [shlex.split(call) for call in calls]


def test_what_the_workflow_calls_exists() -> None:
    calls = scripts()
    assert [call[1] for call in calls] == ["revision", "stored"]
    for call in calls:
        assert parsed(["run", *(word for word in call if word.startswith("--"))])[0] == "run"
    assert os.access(ROOT / SCRIPT, os.X_OK)


def test_no_clone_runs_the_workflow_unasked() -> None:
    own = ROOT / ".github" / "workflows"
    assert {path.name for path in own.iterdir()} == {"ci.yml", "docs.yml"}, "of this project, not of a benchmark"


def test_the_files_that_the_workflow_shows_are_those_that_the_script_writes() -> None:
    script = (ROOT / SCRIPT).read_text(encoding="utf-8")
    shown = set(re.findall(r"ci-results/([\w.]+)", WORKFLOW))
    assert shown == {"comparison.md", "compare.html", "after"}
    assert all(f"$out/{name}" in script or f'" {name} ' in script for name in shown)


def run(folder: Path, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """The script in a checkout."""
    return subprocess.run(
        [folder / SCRIPT, *words], cwd=folder, capture_output=True, text=True, check=False, env=os.environ | variables
    )


@pytest.mark.parametrize("words", [(), ("revision",), ("stored", "NAME"), ("yesterday", "x")])
def test_a_mistake_is_answered_with_the_usage(words: tuple[str, ...], tmp_path: Path) -> None:
    done = run(ROOT, *words, OUT=str(tmp_path / "out"))
    assert done.returncode == 2 and "compare.sh revision COMMIT" in done.stderr


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """This very source as a repository of its own, whatever is committed here."""
    folder = tmp_path_factory.mktemp("ci") / "checkout"
    shutil.copytree(ROOT, folder, ignore=lambda place, names: LEFT_OUT if Path(place) == ROOT else ())
    git = ["git", "-C", str(folder), "-c", "user.name=test", "-c", "user.email=test@localhost"]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "as it is"]):
        subprocess.run([*git, *words], check=True, capture_output=True)
    return folder


LENT = f"""#!/bin/sh
# In place of a Python that makes a checkout's environments: lends it those that are here, with its own source.
[ "$*" = "{" ".join(MAKES)}" ] || exit 2
mkdir -p .venv/bin
ln -sfn {ROOT}/.environments .environments
cat > .venv/bin/stackwars <<END
#!/bin/sh
PYTHONPATH=$PWD exec {sys.executable} -P -m suite.cli "\\$@"
END
chmod +x .venv/bin/stackwars
"""


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> str:
    """For the script: a gigabyte is lent to each checkout, not installed in it."""
    program = tmp_path_factory.mktemp("lent") / "python"
    program.write_text(LENT)
    program.chmod(0o755)
    return str(program)


@pytest.mark.release
@pytest.mark.stacks
def test_equal_revisions_are_measured_and_compared(checkout: Path, python: str) -> None:
    """Toy sizes on a shared machine: `--threshold` is wide, for what is tried is the way there."""
    venv.ensure("numpy", "cpu")
    done = run(checkout, "revision", "HEAD", *TINY, THRESHOLD="100", PYTHON=python)
    assert done.returncode == 0, done.stderr
    out = checkout / "ci-results"
    told = (out / "comparison.md").read_text(encoding="utf-8")
    assert told.count("| numpy |") == 1 and "speedup" in told and "cases changed" in told
    assert "</html>" in (out / "compare.html").read_text(encoding="utf-8")
    assert not (out / "checkout").exists()
    assert (ROOT / ".environments").is_dir(), "what was lent is still here"
    left = subprocess.run(["git", "-C", checkout, "worktree", "list"], capture_output=True, text=True, check=True)
    assert len(left.stdout.splitlines()) == 1

    stored = out / "before" / "latest"
    archive = checkout.parent / "archive"
    name = publish(stored.resolve(), Storage.of(str(archive)), lambda text: None).name
    done = run(checkout, "stored", name, str(archive), *TINY, THRESHOLD="100", PYTHON=python, OUT="against-stored")
    assert done.returncode == 0, done.stderr
    assert "| numpy |" in (checkout / "against-stored" / "comparison.md").read_text(encoding="utf-8")
