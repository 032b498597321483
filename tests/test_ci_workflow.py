"""The action, its scripts and the workflows of docs/ci, as far as no forge is needed: their steps run as a forge would
run them, for a branch and for a fork. In place of the forge's command line is a program that keeps comments."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from suite.environments import venv
from tests.strangers import PACKAGE, SLOWER, commit, git, repository
from tests.typed import parsed

ROOT = Path(__file__).parents[1]
CI = ROOT / "docs" / "ci"
ACTION, BENCHMARK, COMMENT = (
    yaml.safe_load(path.read_text(encoding="utf-8"))
    for path in (ROOT / "action.yml", CI / "benchmark.yml", CI / "comment.yml")
)
MAKES = ("-Es", "-m", "suite.environments", "orchestrator")
LEFT_OUT = {".git", ".venv", ".environments", "results", "ci-results"}  # of the checkout's own folder
REGRESSION, USAGE = 5, 2  # exit codes
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
GH = f"""#!{sys.executable}
import json, os, pathlib, sys
kept = pathlib.Path(os.environ["COMMENTS"])
comments = json.loads(kept.read_text()) if kept.exists() else []
words = sys.argv[1:]
assert words.pop(0) == "api" and os.environ["GH_TOKEN"]
options, path = dict(), None
while words:
    word = words.pop(0)
    if word == "--paginate":
        continue
    if word.startswith("--"):
        options.setdefault(word, []).append(words.pop(0))
    else:
        path = word
method = options.get("--method", ["GET"])[0]
if path.endswith("/pulls"):
    assert "head=somebody:main" in options["--raw-field"], options
    print(2)
elif method == "GET":
    number = path.split("/")[-2]
    print(*(n for n, (of, body) in enumerate(comments) if of == number and body.startswith("<!-- stackwars -->")))
else:
    body = pathlib.Path(options["--field"][0].removeprefix("body=@")).read_text()
    if method == "POST":
        comments.append((path.split("/")[-2], body))
    else:
        comments[int(path.split("/")[-1])][1] = body
    kept.write_text(json.dumps(comments))
"""


def test_what_the_action_calls_exists() -> None:
    runs = [step["run"] for step in ACTION["runs"]["steps"] if "run" in step]
    called = {name for run in runs for name in re.findall(r"\$GITHUB_ACTION_PATH/(\S+?)\"", run)}
    assert called == {"docs/ci/compare.sh", "docs/ci/comment.sh"}
    assert all(os.access(ROOT / name, os.X_OK) for name in called)
    assert parsed(
        [
            "ask",
            "bench.py",
            "--before=HEAD",
            "--engine=local",
            *re.findall(r"--\S+=\S+(?= |$)", ACTION["inputs"]["options"]["description"]),
        ]
    )
    given = BENCHMARK["jobs"]["stackwars"]["steps"][-1]["with"].keys()
    assert {name for name, of in ACTION["inputs"].items() if of.get("required")} <= given <= ACTION["inputs"].keys()


def test_what_comments_has_no_code_of_the_change() -> None:
    """Nor any word of it in a shell's program: only in variables."""
    (job,) = COMMENT["jobs"].values()
    uses = [step["uses"] for step in job["steps"] if "uses" in step]
    assert [name.partition("@")[0] for name in uses] == ["actions/checkout", "actions/download-artifact"]
    assert job["steps"][0]["with"] == {"repository": "OWNER/stack-wars"}
    assert not any("${{" in step.get("run", "") for step in job["steps"])
    assert COMMENT["permissions"] == {"actions": "read", "pull-requests": "write"}
    assert not any("${{" in step.get("run", "") for step in ACTION["runs"]["steps"])


def test_no_clone_runs_the_workflows_unasked() -> None:
    own = ROOT / ".github" / "workflows"
    assert {path.name for path in own.iterdir()} == {"ci.yml", "docs.yml"}, "of this project, not of a benchmark"


@pytest.mark.parametrize("words", [(), ("HEAD",), ("HEAD", "--stack=numpy")])
def test_a_mistake_is_answered_with_the_usage(words: tuple[str, ...], tmp_path: Path) -> None:
    done = subprocess.run([CI / "compare.sh", *words], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == USAGE and "compare.sh COMMIT FILE" in done.stderr


class Forge:
    """Two bare repositories, one a fork of the other, and what a forge does with a change."""

    def __init__(self, place: Path) -> None:
        self.place, self.comments = place, place / "comments.json"
        self.action = place / "action"  # this very source, whatever is committed here
        shutil.copytree(ROOT, self.action, ignore=lambda at, names: LEFT_OUT if Path(at) == ROOT else ())
        for name, text in (("python", LENT), ("gh", GH)):
            (place / "bin").mkdir(exist_ok=True)
            (place / "bin" / name).write_text(text)
            (place / "bin" / name).chmod(0o755)
        git(repository(place / "own"), "clone", "-q", "--bare", ".", str(place / "host.git"))
        git(place, "clone", "-q", "--bare", "host.git", "fork.git")

    def change(self, host: str, branch: str, text: str) -> None:
        """Somebody pushes a change."""
        clone = self.place / f"clone-{host}-{branch}"
        if not clone.exists():
            git(self.place, "clone", "-q", f"{host}.git", str(clone))
            git(clone, "checkout", "-q", "-B", branch)
        commit(clone, "a change", stranger=text)
        git(clone, "push", "-q", "origin", f"HEAD:{branch}")

    def measured(self, host: str, branch: str, number: int) -> tuple[int, Path]:
        """The exit code of the job of a change, and its folder: the change merged into main, and the action's steps."""
        job = Path(self.place / f"job-{number}")
        shutil.rmtree(job, ignore_errors=True)
        git(self.place, "clone", "-q", "host.git", str(job))
        base = git(job, "rev-parse", "HEAD")
        git(job, "fetch", "-q", str(self.place / f"{host}.git"), branch)
        git(job, "merge", "-q", "--no-ff", "-m", "merged", "FETCH_HEAD")
        inputs = {name: of.get("default", "") for name, of in ACTION["inputs"].items()}
        inputs |= {"files": "bench/total.py", "before": base, "threshold": "1.3"}
        words = {f"inputs.{name}": value for name, value in inputs.items()}
        words |= {"inputs.options": "--stack=num* --repeats=5 --force", "github.token": "token"}
        words |= {"steps.python.outputs.python-path": str(self.place / "bin" / "python")}
        words |= {"github.event.pull_request.number": str(number)}
        codes = [
            self.step(step, job, words)
            for step in ACTION["runs"]["steps"]
            if "run" in step and ("full_name" not in step.get("if", "") or host == "host")
        ]
        assert not any(codes[1:])
        return codes[0], job

    def step(self, step: dict[str, Any], folder: Path, words: dict[str, str]) -> int:
        variables = {
            name: re.sub(r"\$\{\{ (.*?) \}\}", lambda found: words[found[1]], text)
            for name, text in step.get("env", {}).items()
        }
        path = f"{self.place / 'bin'}{os.pathsep}{os.environ['PATH']}"
        variables |= {"PATH": path, "COMMENTS": str(self.comments), "GITHUB_ACTION_PATH": str(self.action)}
        variables |= {"GITHUB_STEP_SUMMARY": str(folder / "summary.md"), "GITHUB_REPOSITORY": "owner/stranger"}
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
        return subprocess.run(command, cwd=folder, env=os.environ | variables, check=False).returncode

    def comment(self, job: Path) -> int:
        """The second workflow, on what a job has kept."""
        (steps,) = (of["steps"] for of in COMMENT["jobs"].values())
        shutil.copytree(job / "ci-results", self.action / "measured")
        words = {"env": {"GH_TOKEN": "token", "HEAD": "somebody:main"}}
        return self.step(steps[-1] | words, self.action, {})

    @property
    def told(self) -> list[list[str]]:
        """[number of a change, its comment] of each comment."""
        told: list[list[str]] = json.loads(self.comments.read_text()) if self.comments.exists() else []
        return told


@pytest.mark.release
@pytest.mark.stacks
def test_changes_are_measured_and_commented_from_a_branch_and_from_a_fork(tmp_path: Path) -> None:
    venv.ensure("numpy", "cpu")
    forge = Forge(tmp_path)
    forge.change("host", "slower", SLOWER)
    code, job = forge.measured("host", "slower", 1)
    assert code == REGRESSION
    ((number, body),) = forge.told
    assert (
        number == "1"
        and body.startswith("<!-- stackwars -->\n# bench/total.py")
        and "slower by more than 1.30×" in body
    )
    assert "| numpy:total |" in body and (job / "summary.md").read_text() == body
    assert "</html>" in (job / "ci-results" / "bench-total.html").read_text(encoding="utf-8")
    assert len(git(job, "worktree", "list").splitlines()) == 1

    forge.change("host", "slower", PACKAGE + "# mended\n")
    code, job = forge.measured("host", "slower", 1)
    assert code == 0
    ((number, body),) = forge.told  # changed, not a second one
    assert number == "1" and "slower by more than" in body

    forge.change("fork", "main", PACKAGE + "# from a fork\n")
    code, job = forge.measured("fork", "main", 2)
    assert code == 0 and len(forge.told) == 1, "it has no right to comment"
    assert forge.comment(job) == 0
    assert [number for number, _ in forge.told] == ["1", "2"]
    assert (ROOT / ".environments").is_dir(), "what was lent is still here"
