"""The trees of the revisions in which a question is asked: what is in them, what a set keeps of them, and refusals."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from suite.environments import locks, revisions, variants, venv
from suite.errors import UserError
from suite.workloads.catalog import load
from suite.workloads.questions.loading import TREE, is_tested
from tests.strangers import PACKAGE, QUESTION, SLOWER, commit, git, repository


@pytest.fixture
def stranger(tmp_path: Path) -> Path:
    return repository(tmp_path / "stranger")


def trees(root: Path) -> int:
    return len(git(root, "worktree", "list").splitlines()) - 1


def test_both_sides_are_trees_which_are_gone_at_the_end(stranger: Path) -> None:
    first = git(stranger, "rev-parse", "HEAD")
    second = commit(stranger, "slower", stranger=SLOWER)
    with revisions.of_question(stranger / "bench" / "total.py", "v1.0"):
        before, after = (revisions.KNOWN[name] for name in ("before", "after"))
        assert (before.name, after.name) == (first, second)
        assert before.folder and (before.folder / "stranger.py").read_text() == PACKAGE
        assert after.folder and (after.folder / "stranger.py").read_text() == SLOWER
        assert trees(stranger) == 2
        assert revisions.variants_of(["numpy", "jax_*:f"]) == (
            *("numpy@before", "numpy@after"),
            *("jax_*@before:f", "jax_*@after:f"),
        )
        assert variants.flags("numpy@before", "cpu") == {"STACKWARS_REVISION": first}
        assert locks.newest("numpy@after", "cpu").path == locks.newest("numpy", "cpu").path
        assert venv.place(locks.newest("numpy@after", "cpu")) == venv.place(locks.newest("numpy", "cpu"))
        assert revisions.variables(before)[TREE] == f"{stranger}:{before.folder}"
    assert trees(stranger) == 0 and not revisions.KNOWN and TREE not in os.environ
    assert not before.folder.exists() and not after.folder.exists()
    assert variants.flags("numpy@before", "cpu") == {}


@pytest.mark.parametrize("raised", [KeyboardInterrupt, UserError])
def test_nothing_is_left_however_it_ends(stranger: Path, raised: type[BaseException]) -> None:
    with pytest.raises(raised), revisions.of_question(stranger / "bench" / "total.py", "main"):
        raise raised
    assert trees(stranger) == 0 and not revisions.KNOWN and git(stranger, "status", "--porcelain") == ""


def test_uncommitted_changes_and_new_files_are_in_what_is_after(stranger: Path) -> None:
    (stranger / "stranger.py").write_text(SLOWER)
    (stranger / "more.py").write_text("a = 1\n")
    (stranger / ".gitignore").write_text("ignored.py\n")
    (stranger / "ignored.py").write_text("a = 1\n")
    (stranger / "results" / "set").mkdir(parents=True)
    (stranger / "results" / "set" / "total.py").write_text(QUESTION)
    with revisions.of_question(stranger / "bench" / "total.py", "HEAD"):
        before, after = (revisions.KNOWN[name] for name in ("before", "after"))
        assert after.name == f"{before.name}-dirty" and before.folder and after.folder
        assert (before.folder / "stranger.py").read_text() == PACKAGE
        assert (after.folder / "stranger.py").read_text() == SLOWER
        assert (after.folder / "more.py").exists() and not (after.folder / "ignored.py").exists()
        assert not (after.folder / "results").exists()
    assert (stranger / "stranger.py").read_text() == SLOWER and git(stranger, "stash", "list") == ""


def test_a_folder_is_before(stranger: Path, tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    shutil.copy(stranger / "stranger.py", tmp_path / "old")
    with revisions.of_question(stranger / "bench" / "total.py", str(tmp_path / "old")):
        before = revisions.KNOWN["before"]
        assert before.name.startswith("folder-") and before.folder and before.folder.is_symlink()
        named = before.name
    assert (tmp_path / "old" / "stranger.py").exists()
    (tmp_path / "old" / "stranger.py").write_text(SLOWER)
    with revisions.of_question(stranger / "bench" / "total.py", str(tmp_path / "old")):
        assert revisions.KNOWN["before"].name != named


def test_a_release_has_no_tree_and_needs_no_repository(stranger: Path, tmp_path: Path) -> None:
    (tmp_path / "alone.py").write_text(QUESTION)
    with revisions.of_question(tmp_path / "alone.py", "einops==0.8.0"):
        assert revisions.KNOWN["before"].requirements == ("einops==0.8.0",)
        assert {each.folder for each in revisions.KNOWN.values()} == {None}
        assert os.environ[TREE] == ""
    with revisions.of_question(stranger / "bench" / "total.py", "einops==0.8.0"):
        assert revisions.KNOWN["before"].places == [] != revisions.KNOWN["after"].places


def test_tags_are_variants_in_the_order_of_their_versions(stranger: Path) -> None:
    for tag in ("v1.10", "v1.2", "v2.0", "v1/odd"):
        commit(stranger, tag)
        git(stranger, "tag", tag)
    with revisions.of_question(stranger / "bench" / "total.py", over="v1*"):
        assert [*revisions.KNOWN] == ["v1.0", "v1.2", "v1.10", "v1_odd"]
    assert trees(stranger) == 0


def test_no_hook_of_a_repository_runs(stranger: Path) -> None:
    hook = stranger / ".git" / "hooks" / "post-checkout"
    hook.write_text(f"#!/bin/sh\ntouch {stranger}/ran\n")
    hook.chmod(0o755)
    with revisions.of_question(stranger / "bench" / "total.py", "HEAD"):
        assert not (stranger / "ran").exists()


def test_modules_under_test_never_come_from_the_file_s_own_folder(stranger: Path) -> None:
    """At the repository's top, in src, or in a package; beside a question elsewhere they are the question's own."""
    package = stranger / "src" / "inner"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    with revisions.of_question(stranger / "bench" / "total.py", "HEAD"):
        tested = [stranger, stranger / "src", package, stranger / "bench"]
        assert [is_tested(folder) for folder in tested] == [True, True, True, False]
    assert not is_tested(stranger)
    (stranger / "total.py").write_text(QUESTION)
    assert [path.name for path in load(stranger / "total.py").data_files({"n": 3})] == ["stranger.py"]
    with revisions.of_question(stranger / "total.py", "HEAD"):
        assert load(stranger / "total.py").data_files({"n": 3}) == []


def test_code_under_test_does_not_say_what_is_right(stranger: Path) -> None:
    plain = QUESTION.replace("import stranger", "import numpy as np").replace("stranger.total(x)", "np.cumsum(x)")
    (stranger / "bench" / "both.py").write_text(
        plain + "\n\ndef numpy_b(x):\n    import stranger\n    return stranger.total(x)\n"
    )
    with revisions.of_question(stranger / "bench" / "total.py", "HEAD"):
        assert load(stranger / "bench" / "total.py").right == ""
        assert load(stranger / "bench" / "both.py").right == "numpy_total"
    assert load(stranger / "bench" / "both.py").right == "numpy_total"


@pytest.mark.parametrize(
    ("file", "words", "said"),
    [
        ("bench/total.py", {"before": "v9"}, "no commit, branch or tag"),
        ("bench/total.py", {"before": "--all"}, "no commit, branch or tag"),
        ("bench/total.py", {"over": "v1*"}, "needs two tags"),
        ("bench/total.py", {"over": "x*"}, "matches none"),
        ("bench/lonely.py", {"before": "HEAD"}, "imports nothing that lies in"),
        ("../outside.py", {"before": "HEAD"}, "lies in no git repository"),
        ("../outside.py", {"over": "v*"}, "lies in no git repository"),
    ],
)
def test_what_cannot_be_compared_is_refused(stranger: Path, file: str, words: dict[str, str], said: str) -> None:
    for name in ("bench/lonely.py", "../outside.py"):
        (stranger / name).write_text(QUESTION.replace("import stranger", "import numpy as stranger"))
    with pytest.raises(UserError, match=said), revisions.of_question((stranger / file).resolve(), **words):
        pass
    assert trees(stranger) == 0


def test_a_variant_has_no_revisions(stranger: Path) -> None:
    with pytest.raises(UserError, match="is a variant"), revisions.of_question(stranger / "bench" / "total.py", "HEAD"):
        revisions.variants_of(["jax_jit@0.10"])
