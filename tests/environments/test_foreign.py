"""Locks and variables of others are data: what an installer or a loader could obey in them is refused or named."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suite import environments
from suite.environments import checkout, foreign, pythons
from suite.environments.locks import Lock
from suite.errors import Damaged
from tests.environments.six_lock import HERE, SIX

DIGEST = "0" * 64
HOSTILE = (
    "evil @ https://example.com/evil-1.0.tar.gz \\",
    "https://example.com/evil-1.0-py3-none-any.whl",
    "file:///evil",
    "./evil-1.0.tar.gz",
    "-e ./evil",
    "--index-url https://example.com",
    "-i https://example.com",
    "-r /etc/passwd",
    "--find-links /somewhere",
    "--extra-index-url=https://example.com",
    "--no-binary :all:",
    "-c other.txt",
    "evil[all]==1.0 \\",
    "evil==1.0 ; python_version > '3' \\",
    "evil>=1.0 \\",
    "evil==1.* \\",
    "evil \\",
    "evil==1.0",
    "six==1.17.0 \\ --index-url https://example.com",
    " --index-url https://example.com",
    "\\",
    "",
    f"    --hash=sha256:{DIGEST}",
    "    --hash=md5:00",
    "# a comment \u202e",
    "# a comment\rsix==2 \\",
    "\u017fix==1.0 \\",
)


@pytest.mark.parametrize("line", HOSTILE)
@pytest.mark.parametrize("place", [0, 1, 2])
def test_what_an_installer_could_obey_is_no_lock(line: str, place: int, tmp_path: Path) -> None:
    lines = SIX.splitlines()
    lock = tmp_path / "six.lock.txt"
    lock.write_bytes("\n".join([*lines[:place], line, *lines[place:], ""]).encode())
    with pytest.raises(Damaged, match=r"six\.lock\.txt(, line \d| ends in the middle)"):
        foreign.check_lock(lock)


@given(st.text(alphabet=st.sampled_from("six=1.0 \\\n-#:/@[];'\"\r\t\x0b\x85\u2028eh256"), max_size=80))
def test_only_names_versions_and_hashes_pass(text: str) -> None:
    """Whatever passes is made of lines that have no word of an installer's."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(foreign.plain_files, "read", lambda path, most: text.encode())
        try:
            foreign.check_lock(Path("a lock"))
        except Damaged:
            return
    for line in filter(None, text.split("\n")):
        assert line.startswith(("#", "    --hash=sha256:")) or "==" in line


def test_a_lock_too_large_to_be_one_and_a_pipe(tmp_path: Path) -> None:
    lock = tmp_path / "lock.txt"
    lock.write_text("#\n" * 3_000_000)
    with pytest.raises(Damaged, match="Larger than"):
        foreign.check_lock(lock)


def test_every_lock_of_ours_is_of_that_form() -> None:
    ours = list((environments.ROOT / "docker" / "locks").glob("*/*.txt"))
    assert len(ours) > 20
    for lock in ours:
        foreign.check_lock(lock)
        assert foreign.is_ours(Lock(lock.stem, lock.parent.name, lock))


@pytest.fixture
def history(root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout whose lock was changed once: the older one's file, outside of it."""
    monkeypatch.setattr(checkout, "ROOT", root)
    lock, older = root / "docker" / "locks" / "cpu" / "six.txt", root.parent / "older.txt"
    git = ["git", "-C", str(root), "-c", "user.name=a", "-c", "user.email=b@c"]
    older.write_text(SIX.replace("1.17.0", "1.16.0"))
    for text in (older.read_text(), SIX):
        lock.write_text(text)
        for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "a lock"]):
            subprocess.run([*git, *words], check=True)
    return older


def test_a_lock_of_the_project_s_history_is_ours(history: Path, tmp_path: Path) -> None:
    assert foreign.is_ours(Lock("six", "cpu", history))
    history.write_text(history.read_text().replace("1.16.0", "1.15.0"))
    assert not foreign.is_ours(Lock("six", "cpu", history))
    assert list(foreign.differences(Lock("six", "cpu", history))) == ["six 1.17.0 → 1.15.0"]


def test_without_a_history_todays_locks_alone_are_ours(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkout, "ROOT", root)
    copy = root / "copy.txt"
    copy.write_text(HERE)
    assert foreign.is_ours(Lock("six", "cpu", copy))
    copy.write_text(f"{HERE}evil==1.0 \\\n    --hash=sha256:{DIGEST}\n")
    assert not foreign.is_ours(Lock("six", "cpu", copy))
    assert list(foreign.differences(Lock("six", "cpu", copy))) == ["evil none → 1.0"]
    copy.write_text(HERE.replace("4721f", "00000"))
    assert foreign.is_ours(Lock("six", "cpu", copy)), "ours is installed in its place"
    assert list(foreign.differences(Lock("six@theirs", "cpu", copy))) == [
        "the same versions, but other files: the hashes differ"
    ]
    assert list(foreign.differences(Lock("unheard", "cpu", copy))) == [
        f"python none → {pythons.running()}",
        "six none → 1.17.0",
    ]


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("XLA_FLAGS", "--xla_cpu_enable_fast_math=true --xla_gpu_autotune_level=4"),
        ("OMP_NUM_THREADS", "2"),
        ("TF_ENABLE_ONEDNN_OPTS", "0"),
    ],
)
def test_what_can_only_compute_otherwise_is_harmless(variable: str, value: str) -> None:
    assert foreign.strange_variables("jax@theirs", "cpu", {variable: value}) == {}


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("LD_PRELOAD", "inputs/preset.toml"),
        ("PJRT_NAMES_AND_LIBRARY_PATHS", "x:inputs/preset.toml"),
        ("PYTHONPATH", "."),
        ("TF_XLA_FLAGS", "--tf_xla_auto_jit=2"),
        ("JAX_PLATFORMS", "x"),
        ("OMP_NUM_THREADS", "2\n"),
        ("XLA_FLAGS", "--xla_dump_to=/root"),
        ("XLA_FLAGS", "--xla_cpu_enable_fast_math=true --xla_dump_to=/root"),
        ("XLA_FLAGS", "--xla_gpu_cuda_data_dir=/evil"),
        ("XLA_FLAGS", ""),
        ("XLA_FLAGS", "--flagfile=/evil"),
    ],
)
def test_what_loads_code_or_writes_files_is_named(variable: str, value: str) -> None:
    assert foreign.strange_variables("jax@theirs", "cpu", {variable: value}) == {variable: value}


def test_a_variable_that_our_variant_has_is_ours(root: Path) -> None:
    file = root / "docker" / "locks" / "cpu" / "six@dump.toml"
    file.write_text('[environ]\nXLA_FLAGS = "--xla_dump_to=/tmp/ours"\n')
    ours, theirs = ({"XLA_FLAGS": f"--xla_dump_to=/tmp/{whose}"} for whose in ("ours", "theirs"))
    assert foreign.strange_variables("six@dump", "cpu", ours) == {}
    assert foreign.strange_variables("six@dump", "cpu", theirs) == theirs
