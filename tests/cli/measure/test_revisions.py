"""A stranger's repository, whose revisions are compared by real processes of NumPy."""

from __future__ import annotations

import json
import shlex
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from suite.environments import venv
from suite.sets.result_set import ResultSet
from tests.ctrl_c import on_ctrl_c
from tests.runs import STACKWARS
from tests.strangers import PACKAGE, QUESTION, SLOWER, WRONG, commit, git, repository
from tests.typed import answered

pytestmark = pytest.mark.stacks
NUMPY = ("--stack=numpy", "--engine=local", "--force")
FAILED, REGRESSION, USAGE, INTERRUPTED = 3, 5, 2, 130  # exit codes


@pytest.fixture(scope="module")
def stranger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tags: v1.0, the same again, twice as slow, another result, and one without the module."""
    root = repository(tmp_path_factory.mktemp("home") / "stranger")
    for tag, text in (("v1.1", PACKAGE + "# the same\n"), ("v1.2", SLOWER), ("wrong", WRONG)):
        commit(root, tag, stranger=text)
        git(root, "tag", tag)
    git(root, "rm", "-q", "stranger.py")
    commit(root, "lacking")
    git(root, "tag", "lacking")
    commit(root, "last", stranger=PACKAGE)
    return root


def asked(root: Path, *words: str, file: str = "bench/total.py") -> tuple[subprocess.CompletedProcess[str], Path]:
    """What the command says in the repository, and its set."""
    command = [*STACKWARS, "ask", file, *NUMPY, *words]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert len(git(root, "worktree", "list").splitlines()) == 1, "the trees are gone"
    return done, (root / "results" / "latest").resolve()


def compared(folder: Path, threshold: float = 1.3) -> tuple[int, list[dict[str, Any]]]:
    done = answered("compare", folder, "--by=variant", f"--threshold={threshold}", "--format=json")
    return done.returncode, json.loads(done.stdout)[0]["changes"]


def test_an_unchanged_revision_is_not_slower_and_its_set_names_no_place(stranger: Path) -> None:
    venv.ensure("numpy", "cpu")
    done, folder = asked(stranger, "--before=v1.1", "--repeats=2")
    assert done.returncode == 0, done.stderr
    assert "numpy:total on total forward: after takes" in done.stdout
    code, (change,) = compared(folder)
    assert code == 0 and not change["is_worse"] and change["outcomes"] == ["ok", "ok"]
    assert 0.5 < change["time_ratio"] < 2
    plan = ResultSet.open(folder).plan_file
    before, after = git(stranger, "rev-parse", "v1.1"), git(stranger, "rev-parse", "HEAD")
    assert plan.revisions == [f"{after}-dirty", before] or plan.revisions == [after, before]
    assert f"--before={before}" in plan.command and plan.workload_paths == ("bench/total.py",)
    assert {"numpy@before", "numpy@after"} == plan.locks.keys()
    rows = ResultSet.open(folder).rows()
    kept = "".join(str(row) for row in rows) + (folder / "plan.json").read_text()
    assert str(stranger) not in kept and "stackwars-" not in kept
    twins = {row.stack_name for row in rows if row["replicate"] > 1}
    assert twins == {"numpy@before:total"}
    for words in (["run", f"--resume={folder}"], ["reproduce", f"--set={folder}"]):
        refused = answered(*words)
        assert refused.returncode == USAGE and "whose code isn't in the set" in refused.stderr


def test_a_planted_slowdown_is_a_regression(stranger: Path) -> None:
    (stranger / "stranger.py").write_text(SLOWER)  # not committed
    try:
        done, folder = asked(stranger, "--before=v1.0", "--repeats=5")
    finally:
        git(stranger, "checkout", "stranger.py")
    assert "-dirty" in done.stderr
    code, (change,) = compared(folder)
    assert code == REGRESSION and change["is_worse"] and change["is_decided"]
    assert 1.3 < change["time_ratio_low"] < change["time_ratio"]


def test_tags_are_compared_with_the_oldest(stranger: Path) -> None:
    done, folder = asked(stranger, "--over=v1.*", "--repeats=2")
    assert done.returncode == 0, done.stderr
    changes = {change["revision"]: change for change in compared(folder)[1]}
    assert [*changes] == ["v1.1", "v1.2"] and {change["base"] for change in changes.values()} == {"v1.0"}
    assert changes["v1.2"]["time_ratio"] > 1.5 > changes["v1.1"]["time_ratio"]


@pytest.mark.parametrize(
    ("before", "outcomes", "said"),
    [
        ("wrong", ["differ", "differ"], "{numpy_total@before}"),
        ("lacking", ["error", "ok"], "No module named 'stranger'"),
    ],
)
def test_how_both_end_is_told(stranger: Path, before: str, outcomes: list[str], said: str) -> None:
    """A module that a revision lacks doesn't come from the repository's folder in its place."""
    (stranger / "at_the_top.py").write_text(QUESTION)
    done, folder = asked(stranger, f"--before={before}", "--check", file="at_the_top.py")
    code, (change,) = compared(folder)
    assert change["outcomes"] == outcomes and code == (REGRESSION if outcomes[1] == "differ" else 0)
    assert said in change["reason"] and done.returncode == FAILED
    assert not change["is_decided"] or code


def test_ctrl_c_leaves_no_tree(stranger: Path) -> None:
    command = [*STACKWARS, "ask", "bench/total.py", *NUMPY, "--before=v1.0"]
    with subprocess.Popen(command, cwd=stranger, stderr=subprocess.PIPE, text=True, preexec_fn=on_ctrl_c()) as running:
        assert running.stderr
        for line in running.stderr:
            if line.startswith("starts"):
                running.send_signal(signal.SIGINT)
                break
        said = running.stderr.read()
    assert running.returncode == INTERRUPTED and "The trees of the revisions are gone" in said
    assert len(git(stranger, "worktree", "list").splitlines()) == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--before=HEAD --over=v1.*", "choose one"),
        ("--install=pip", "choose one"),
        ("--before=HEAD --install=pip --engine=docker", "leave --engine=docker out"),
        ("--before=einops==0.8.0 --python=python3", "nothing is installed for it"),
        ("--before=HEAD --shard=1/2", "leave --shard and --scheduler out"),
        ("--before=HEAD --stack=numpy@0.1", "is a variant"),
        ("--before=nowhere", "no commit, branch or tag"),
        ("--before=", "choose one"),
        ("--before=HEAD --install=", "--install is empty"),
        ("--before=HEAD --install=pip\\ 'x", "No closing quotation"),
    ],
)
def test_mistakes_are_refused(stranger: Path, words: str, said: str) -> None:
    done = answered("ask", "bench/total.py", *shlex.split(words.replace("'", "\\'")), "--dry-run", cwd=stranger)
    assert done.returncode == USAGE and said in done.stderr
