"""The packages that a question file names by PEP 723: who gets which, and what is refused in words."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from suite import environments
from suite.environments import dependencies, locks, venv
from suite.environments.locks import Lock
from suite.errors import UserError

KNOWN = ("jax", "numpy", "torch")


def read(folder: Path, *lines: str, head: str = "") -> dependencies.Dependencies:
    path = folder / "question.py"
    block = "\n".join(["# /// script", *(f"# {line}".rstrip() for line in lines), "# ///"])
    path.write_text(f"{head}{block}\n'''A question?'''\n", encoding="utf-8")
    return dependencies.read(path, KNOWN)


def test_a_file_without_a_block_names_nothing(tmp_path: Path) -> None:
    (tmp_path / "question.py").write_text("# // script\n# dependencies = ['einops']\n")
    assert dependencies.read(tmp_path / "question.py", KNOWN).packages == ()


def test_an_environment_gets_what_its_functions_import_and_what_no_function_imports_by_name(tmp_path: Path) -> None:
    asked = read(
        tmp_path,
        "requires-python = '>=3.11'",
        'dependencies = ["Einops>=0.8", "timm", "scikit-learn"]',
        "",
        "[tool.stackwars]",
        'jax = ["flax"]',
        "[tool.uv]",
        "exclude-newer = '2026-01-01T00:00:00Z'",
        head="#!/usr/bin/env python\n",
    )
    assert asked.packages == ("einops", "timm", "scikit-learn", "flax")
    every = {"einops", "timm", "sklearn"}
    assert asked.of("torch", {"einops", "timm"}, every) == ("Einops>=0.8", "timm", "scikit-learn")
    assert asked.of("jax", {"einops"}, every) == ("Einops>=0.8", "scikit-learn", "flax")
    assert asked.of("numpy", set(), every) == ("scikit-learn",)


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (["dependencies = ["], "isn't understood"),
        (["dependencies = 'einops'"], "isn't understood"),
        (["dependencies = ['einops @ https://example.org/einops.whl']"], "isn't a package of an index"),
        (["dependencies = ['--index-url=x']"], "isn't a package of an index"),
        (["dependencies = ['./mine']"], "isn't a package of an index"),
        (["[tool.stackwars]", "pytorch = ['timm']"], "no environment 'pytorch'"),
    ],
)
def test_a_bad_block_is_refused_in_words(tmp_path: Path, lines: list[str], words: str) -> None:
    with pytest.raises(UserError, match=words):
        read(tmp_path, *lines)


def test_two_blocks_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="has 2 blocks"):
        read(tmp_path, "dependencies = []", head="# /// script\n# dependencies = []\n# ///\nimport sys\n")


@pytest.fixture
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the locks of questions go in these tests."""
    monkeypatch.setattr(dependencies, "folder", lambda target: tmp_path / "questions" / target)
    return tmp_path / "questions"


def test_a_lock_on_top_keeps_every_version_and_is_made_once(own_folder: Path, tmp_path: Path) -> None:
    base = venv.fit("numpy", "cpu")
    made = dependencies.extended(base, ["einops"], tmp_path / "question.py")
    (lock,) = dependencies.kept("numpy", "cpu")
    assert lock.path == made and base.pins.items() < lock.pins.items() and "einops" in lock.pins
    assert re.search(r"^einops==\S+ \\\n    --hash=sha256:", lock.text, re.MULTILINE)
    assert str(environments.ROOT) not in lock.text and "://" not in lock.text
    written = made.stat().st_mtime_ns
    assert dependencies.extended(base, ["einops"], tmp_path / "question.py") == made
    assert made.stat().st_mtime_ns == written


@pytest.mark.parametrize("name", ["numpy", "jax"])
def test_a_lock_on_top_has_the_wheels_of_its_own_python(name: str, own_folder: Path, tmp_path: Path) -> None:
    for base in locks.all_locks(name, "cpu"):
        made = dependencies.extended(base, ["einops"], tmp_path / "question.py")
        packages = re.findall(r"^\S+==.*(?:\n    --hash.*)+", base.text, re.MULTILINE)
        assert packages and all(package in made.read_text(encoding="utf-8") for package in packages), base.path


def test_a_package_that_doesnt_fit_is_told_with_both_sides(own_folder: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError) as refused:
        dependencies.extended(venv.fit("numpy", "cpu"), ["numpy<2"], tmp_path / "question.py")
    said = str(refused.value)
    assert "question.py: numpy<2 can't be added to environment numpy" in said and "numpy==" in said
    assert "\n" not in said and not [*own_folder.rglob("*.txt")]


@pytest.mark.parametrize("name", ["torchvision", "torchaudio"])
@pytest.mark.parametrize(
    ("torch", "version", "fits"),
    [("2.13.0+cpu", "0.28.0", False), ("2.13.0+cpu", "0.28.0+cpu", True), ("2.15.0", "0.29.2", True)],
)
def test_a_package_of_another_build_of_pytorch_is_refused(
    tmp_path: Path, name: str, torch: str, version: str, fits: bool
) -> None:
    base, more = tmp_path / "torch.txt", tmp_path / "more.txt"
    base.write_text(f"# Python 3.11\ntorch=={torch} \\\n    --hash=sha256:00\n")
    more.write_text(f"{base.read_text()}{name}=={version} \\\n    --hash=sha256:00\n")
    locks = Lock("torch", "cpu", base), Lock("torch", "cpu", more)
    if fits:
        dependencies.check_build(*locks, tmp_path / "question.py")
        return
    with pytest.raises(UserError, match=rf"question.py: {name} 0.28.0 .* beside 2.13.0\+cpu of environment torch: .*"):
        dependencies.check_build(*locks, tmp_path / "question.py")
