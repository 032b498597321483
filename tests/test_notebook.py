"""`stackwars.ask` and the cell magic, from a Python that has nothing of this project but a file or its wheel."""

from __future__ import annotations

import functools
import math
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stackwars
import stackwars_notebook
from stackwars_functions import Refused, question, written
from suite.cli.values import typed
from suite.environments import ROOT, venv
from suite.workloads.catalog import load
from suite.workloads.questions.loading import loaded
from suite.workloads.tensors import generate
from tests import typed as ours  # a file of one's own

TWO = 2
ARRAY = np.ones(3)
X = np.arange(6, dtype="float64").reshape(2, 3)


def halved(x: Any) -> Any:
    return x / TWO


again = halved


def decorated(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def inner(*given: Any, **named: Any) -> Any:
        return function(*given, **named)

    return inner


def numpy_root(x: Any, k: Any = TWO) -> Any:
    return np.sqrt(again(x)) + math.pi * k


def of_array(x: Any) -> Any:
    return x * ARRAY


def of_file(x: Any) -> Any:
    return ours.answered(x)


def inner_of(n: int) -> Callable[..., Any]:
    def multiplied(x: Any) -> Any:
        return x * n

    return multiplied


def numpy_halved(x: Any) -> Any:
    return halved(x)


def test_options_are_the_command_s() -> None:
    assert typed("stack", ["torch_*", "jax_jit"]) == ["--stack=torch_*", "--stack=jax_jit"]
    assert typed("limit_memory", "6GiB") == ["--limit-memory=6GiB"]
    assert typed("check", value=True) == ["--check"] and typed("check", value=False) == []


def test_functions_become_a_question_with_all_that_they_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    file = written(question([("", numpy_root), ("numpy", np.sin), ("numpy", halved)], {"x": X}))
    asked = load(file)
    assert asked.implementations("numpy") == ("root", "sin", "halved")
    (tensor,) = asked.arguments({}).values()
    assert np.array_equal(generate(tensor, "x", 0), X) and tensor.dtype == "float64"
    module = loaded(file, ("numpy_root", "numpy_sin", "numpy_halved"))
    assert np.array_equal(module.numpy_root(x=X), numpy_root(X))
    assert np.array_equal(module.numpy_sin(x=X), np.sin(X)) and np.array_equal(module.numpy_halved(x=X), X / 2)


@pytest.mark.parametrize(
    ("function", "why"),
    [
        (lambda x: x, "A lambda's source"),
        (inner_of(2), "multiplied uses n of the function around it"),
        (of_array, "of_array uses ARRAY, an array"),
        (of_file, "of_file uses ours, a file of your own"),
        (decorated(halved), "halved is more than its source, as jax.vmap"),
        (np.ones(3).sum, "not a function with source"),
        (3, "3 is no function"),
    ],
)
def test_what_cant_be_sent_is_refused_in_words(function: Any, why: str) -> None:
    with pytest.raises(Refused, match=why):
        question([("numpy", function)], {"x": X})


def test_a_function_needs_a_framework_and_inputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(Refused, match="halved is in no framework by its name"):
        question([("", halved)], {"x": X})
    with pytest.raises(Refused, match="Two functions would be called numpy_halved"):
        question([("numpy", halved), ("numpy", numpy_halved)], {"x": X})
    with pytest.raises(Refused, match="two things called halved"):
        question([("numpy", halved), ("numpy", decorated(halved))], {"x": X})
    with pytest.raises(Refused, match="inputs are lacking"):
        stackwars.ask(numpy_root)
    with pytest.raises(Refused, match="choose one"):
        stackwars.ask("layernorm.py", inputs={"x": X})
    with pytest.raises(Refused, match="x_1 is a object"):
        question([("", numpy_root)], {"x": [X, object()]})


def test_a_mistake_is_raised_in_the_command_s_words(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="There is no file"):
        stackwars.ask(tmp_path / "nowhere.py", force=True)


@pytest.mark.stacks
def test_another_python_asks_and_a_check_has_no_times(tmp_path: Path) -> None:
    """That Python has NumPy alone; it is the one that is measured."""
    python = venv.ensure("numpy", "cpu").python
    program = f"""
import sys; sys.path.insert(0, {str(ROOT)!r})
import numpy, stackwars
def numpy_minus(x): return 0 - x
def torch_minus(x): return -x
asked = stackwars.ask(numpy_minus, torch_minus, numpy=numpy.negative, inputs={{"x": numpy.ones((3, 4))}}, check=True,
                      force=True, python="current")
print(asked.exit_code, sorted(asked["stack"]), asked["flags"][0], [n for n in asked.rows[0] if "second" in n])
print(asked._repr_html_().count("<tr>"), asked.page.is_file(), " ms" in repr(asked) + asked._repr_html_(), asked)
"""
    (tmp_path / "asks.py").write_text(program)
    done = subprocess.run([python, "asks.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    first, second, *_ = done.stdout.splitlines()
    assert first.startswith("0 ['numpy:minus', 'numpy:negative'] [") and first.endswith("'unpinned'] []")
    assert second.startswith("3 True False ")
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("Left out")]
    assert line.endswith(
        "lacks their packages: torch_eager (torch), torch_inductor (torch), torch_xla (torch_xla), "
        "torchax_jit (torchax)."
    )


def test_inputs_keep_their_form_under_any_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    asked = load(written(question([("", numpy_root)], {"x": {"Dense/kernel": X}, "k": (X, [X], ())})))
    tree = asked.module.inputs()
    assert [*tree["x"]] == ["Dense/kernel"] and (type(tree["k"]), type(tree["k"][1]), tree["k"][2]) == (tuple, list, ())


def test_a_question_that_was_changed_since_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    file = written("TOLERANCE = 1\n")
    assert written("TOLERANCE = 1\n") == file
    file.write_text("TOLERANCE = 2\n")
    with pytest.raises(Refused, match="changed since"):
        written("TOLERANCE = 1\n")


def test_a_cell_is_a_question_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(Refused, match="has no function `inputs`"):
        stackwars_notebook.cell("--python locked --stack=numpy --force", "def numpy_sum(x):\n    return x.sum()\n")
    (file,) = tmp_path.glob("question_*.py")
    assert "numpy_sum" in file.read_text()


def test_a_module_is_the_command(tmp_path: Path) -> None:
    """By another Python than this checkout's own, from elsewhere."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "empty"], check=True)
    program = [tmp_path / "empty" / "bin" / "python", "-m", "stackwars", "--version"]
    done = subprocess.run(
        program, env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"}, cwd=tmp_path, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (0, "Stack Wars 0.2.0\n"), done.stderr
