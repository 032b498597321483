"""Stacks from outside the repository: what makes one, what is refused, and that a set never runs its own copy."""

from __future__ import annotations

from pathlib import Path

import pytest

from suite.cli.project.catalogue import listed
from suite.environments import venv
from suite.errors import UserError
from suite.plan import preset
from suite.plan.planning import Selection, make
from suite.stacks import catalog
from suite.stacks.catalog import STACKS, adapter_class
from suite.workloads import catalog as catalog_of_workloads
from suite.workloads.catalog import find
from tests.scenes import FAKE, FAKE_ADAPTER
from tests.worker.processes import attempt_of, case_of, columns_of, of, request, run_worker

EXAMPLE = Path(__file__).parents[2] / "docs" / "example"
WHOLE = """
from suite.stacks.catalog import Stack
from suite.stacks.numpy import numpy_adapter

STACK = Stack("{name}", "NumPy again", "numpy", "numpy", targets=("cpu",), precisions=("f32",))


class Adapter(numpy_adapter.Adapter):
    pass
"""


def written(folder: Path, name: str = "again", text: str = WHOLE) -> Path:
    """An adapter's file."""
    folder.mkdir(exist_ok=True)
    file = folder / f"{name}_adapter.py"
    file.write_text(text.replace("{name}", name), encoding="utf-8")
    return file


def test_a_stack_is_in_the_catalogue_once_it_is_added(tmp_path: Path) -> None:
    file = written(tmp_path)
    catalog.add([file])
    catalog.add([tmp_path, file])  # once more changes nothing
    assert STACKS["again"].file == file.resolve()
    assert issubclass(adapter_class("again"), adapter_class("numpy"))
    chosen = preset.load("tiny")
    made = make("set", chosen, Selection(workloads=("gemm",)), find(), None, lambda *_: None)
    assert {planned.case.stack for planned in made.cases} == {
        name
        for name, stack in STACKS.items()
        if "cpu" in stack.targets and not (stack.on_request or stack.of_questions)
    }, "globs reach it"


def test_a_folder_may_have_several(tmp_path: Path) -> None:
    written(tmp_path, "one")
    written(tmp_path, "two")
    catalog.add([tmp_path, FAKE])
    assert {"one", "two", "fake"} < set(STACKS)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("again", "STACK = 3", "lacks STACK"),
        ("again", WHOLE.replace("class Adapter", "class Other"), "or Adapter"),
        ("again", "import nothing_of_this_name", "can't be loaded: ModuleNotFoundError"),
        ("again", "raise RuntimeError('no')", "can't be loaded: RuntimeError: no"),
        ("again", WHOLE.replace("{name}", "other"), "its file is called <stack>_adapter.py"),
        ("a@b", WHOLE, "its file is called <stack>_adapter.py"),
        ("numpy", WHOLE, "Two stacks are called 'numpy': this program's own and"),
    ],
)
def test_what_is_no_stack_is_refused(name: str, text: str, said: str, tmp_path: Path) -> None:
    before = dict(STACKS)
    with pytest.raises(UserError, match=said):
        catalog.add([written(tmp_path, name, text)])
    assert before == STACKS


def test_two_stacks_have_two_names(tmp_path: Path) -> None:
    catalog.add([written(tmp_path / "one")])
    with pytest.raises(UserError, match=r"Two stacks are called 'again': .*one.* and .*two"):
        catalog.add([written(tmp_path / "two")])


def test_a_path_without_an_adapter_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(UserError, match=r"--stack-path .*: no file there is called <stack>_adapter\.py"):
            catalog.add([path])


def test_the_example_of_the_docs_is_a_stack() -> None:
    catalog.add([EXAMPLE])
    stack = STACKS["torch_traced"]
    assert (stack.eager, stack.compiled) == ("torch_eager", True)
    assert issubclass(adapter_class("torch_traced"), adapter_class("torch_eager"))


@pytest.mark.stacks
def test_the_example_of_the_docs_passes_the_gate(tmp_path: Path) -> None:
    made = venv.ensure("torch", "cpu")
    case = case_of(stack="torch_traced", workload="ffn", pass_="train")
    file = request(
        attempt_of(case),
        catalog_of_workloads.HOME / "ops" / "ffn",
        tmp_path,
        changes={"stack_file": str(EXAMPLE / "torch_traced_adapter.py")},
    )
    done, told = run_worker(file, made.python)
    assert done.returncode == 0, done.stderr
    assert of(told, "wrong") == []
    assert columns_of(told)["relative_error"] < 2e-5


def test_the_list_shows_it() -> None:
    catalog.add([EXAMPLE])
    (shown,) = [stack for stack in listed([])["stacks"] if stack["name"] == "torch_traced"]
    assert shown["title"] == STACKS["torch_traced"].title


def test_the_tests_own_stack_is_in_no_catalogue_but_theirs() -> None:
    assert "fake" not in STACKS
    catalog.add([FAKE_ADAPTER])
    assert STACKS["fake"].environment == "orchestrator"
