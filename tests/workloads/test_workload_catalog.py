"""Finding workloads, the suite's and a user's, and what is said about broken ones."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from suite.errors import UserError
from suite.workloads import catalog

GEMM = catalog.HOME / "ops" / "gemm"


def copy(folder: Path, name: str) -> Path:
    """A copy of gemm under another name."""
    home = folder / name
    home.mkdir(parents=True)
    for path in GEMM.glob("*.py"):
        shutil.copy(path, home / path.name.replace("gemm", name))
    return home


def test_a_folder_outside_is_found_as_itself_and_from_its_parent(tmp_path: Path) -> None:
    folder = copy(tmp_path, "product")
    for place in (folder, tmp_path):
        found = catalog.find([place])["product"]
        assert found.folder == folder
        assert found.dialects == ("numpy", "jax", "torch", "tf", "keras")
        assert "forward" in dir(found.dialect("numpy"))
    assert "gemm" in catalog.find([folder])


def test_two_folders_of_one_file_name_do_not_collide(tmp_path: Path) -> None:
    one, two = copy(tmp_path / "a", "product"), copy(tmp_path / "b", "product")
    spec = two / "spec.py"
    spec.write_text(spec.read_text().replace('"n": 64', '"n": 32'))
    assert catalog.load(one).sizes["tiny"] == {"n": 64}
    assert catalog.load(two).sizes["tiny"] == {"n": 32}


def test_a_taken_name_is_refused(tmp_path: Path) -> None:
    folder = copy(tmp_path, "gemm")
    with pytest.raises(UserError, match=f"Two workloads are called 'gemm'.*{folder}"):
        catalog.find([folder])


def test_a_place_without_workloads_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"--workload-path .*no spec\.py"):
        catalog.find([tmp_path])
    with pytest.raises(UserError, match=r"--workload-path"):
        catalog.find([tmp_path / "nowhere"])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("def (", "line 1: invalid syntax"),
        ("1 / 0", "ZeroDivisionError"),
        ("import no_such_module", "ModuleNotFoundError"),
        ("TITLE = ''", "lacks SIZES, PASSES, OPTIMIZER, parameters, inputs, target, flops, bytes_floor, items"),
    ],
)
def test_a_broken_spec_is_named(text: str, said: str, tmp_path: Path) -> None:
    folder = copy(tmp_path, "product")
    (folder / "spec.py").write_text(text)
    with pytest.raises(UserError, match=said) as caught:
        catalog.find([folder])
    assert str(folder / "spec.py") in str(caught.value)


def test_a_broken_spec_is_not_remembered(tmp_path: Path) -> None:
    folder = copy(tmp_path, "product")
    good = (folder / "spec.py").read_text()
    (folder / "spec.py").write_text("1 / 0")
    with pytest.raises(UserError):
        catalog.load(folder)
    (folder / "spec.py").write_text(good)
    assert catalog.load(folder).name == "product"


def test_a_missing_dialect_is_not_listed(tmp_path: Path) -> None:
    folder = copy(tmp_path, "product")
    (folder / "product_tf.py").unlink()
    assert catalog.load(folder).dialects == ("numpy", "jax", "torch", "keras")
