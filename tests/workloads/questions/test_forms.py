"""Functions that several dialects run, or that are compiled in two ways: what becomes of them, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from suite.errors import UserError
from suite.plan import preset
from suite.plan.planning import Selection, make
from suite.run.start.packages import asked_packages
from suite.stacks.catalog import STACKS, adapter_class
from suite.workloads.catalog import find, load
from tests.worker.processes import case_of

BEGIN = "from suite.ask import normal\ndef inputs(n=4):\n    return {'x': normal(n), 'k': 2}\n"
FORMS = f"""import jax
import keras
import numba
{BEGIN}
def xp_sum(xp, x, k):
    return xp.sum(x) * k

def numba_loop(x, k):
    return x.sum() * k

@numba.njit(fastmath=True)
def numba_own(x, k):
    return x.sum() * k

numba_made = numba.njit(numba_loop)

def keras_sum(x, k):
    return keras.ops.sum(x) * k

def jax_sum(x, k):
    return x.sum() * k
"""


def question(folder: Path, text: str) -> Any:
    (folder / "forms.py").write_text(text, encoding="utf-8")
    return load(folder / "forms.py")


def of(stack: str, implementation: str, **fields: Any) -> Any:
    dims = {"n": 4}
    return case_of(stack=stack, workload="forms", size="asked", dims=dims, implementation=implementation, **fields)


def test_a_form_becomes_implementations_of_the_dialects_that_run_it(tmp_path: Path) -> None:
    asked = question(tmp_path, FORMS)
    assert asked.written == {
        "numpy": ("xp_sum",),
        "torch": ("xp_sum",),
        "jax": ("xp_sum", "sum"),
        "numba": ("loop", "loop.parallel", "own", "made"),
        "keras": ("sum",),
    }
    assert [*asked.digests] == ["asked", "xp_sum", "jax_sum", "numba_loop", "numba_own", "numba_made", "keras_sum"]
    packages = {dialect: asked.imports(dialect) for dialect in asked.dialects}
    assert packages["torch"] == {"array_api_compat"} and packages["numpy"] == packages["jax"] == set()


def test_pytorch_s_environments_alone_get_the_package_by_which_it_follows_the_standard(tmp_path: Path) -> None:
    question(tmp_path, FORMS)
    workloads = find([tmp_path / "forms.py"])
    stacks = ("numpy", "torch_eager", "jax_jit", "numba", "keras_torch")
    selection = Selection(workloads=("forms",), passes=("forward",), stacks=stacks)
    asked = make("set", preset.load("ask"), selection, workloads, None, lambda *_: None)
    files = asked_packages(asked, workloads, "cpu")
    # Keras's stack on PyTorch shares its environment, but has no such function.
    assert files == {"torch": {tmp_path / "forms.py": ("array-api-compat",)}}


def test_a_function_by_the_standard_gets_the_namespace_of_its_arrays(tmp_path: Path) -> None:
    asked = question(tmp_path, FORMS)
    form = asked.code("numpy", "numpy", of("numpy", "xp_sum"))
    assert form.forward({}, {}, x=np.arange(4.0)) == 12.0


def test_numpy_takes_no_gradients_without_the_file_s_own(tmp_path: Path) -> None:
    asked = question(tmp_path, FORMS)
    case = of("numpy", "xp_sum", pass_="gradient")
    assert asked.unsupported("numpy", case) == "NumPy takes no gradients, and forms.py has no numpy_xp_sum_gradient"
    own = "\ndef numpy_xp_sum_gradient(x, k):\n    return x.sum() * k, {'x': 0 * x + k}\n"
    asked = question(tmp_path, FORMS + own)
    assert asked.unsupported("numpy", case) is None
    total, gradients = asked.code("numpy", "numpy", case).loss_and_gradients({}, {}, x=np.ones(4))
    assert total == 8.0 and gradients["x"].tolist() == [2.0] * 4


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("def xp_a(xp, x):\n    return x", r"line 4: a function takes the array namespace first, and all .*take k"),
        ("def xp_a(x, k):\n    return x", r"line 4: .*xp_a doesn't take x"),
        ("def xp_a():\n    return 1", r"line 4: .*xp_a doesn't take x"),
        ("def torch_xp_a(x, k):\n    return x", "torch_xp_a would be called like xp_a"),
        ("def numba_model():\n    return 1", "a model is of torch, jax or keras as yet; numba_model isn't"),
    ],
)
def test_what_no_form_takes_is_refused(text: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=words):
        question(tmp_path, f"{BEGIN}{text}\n")


@pytest.mark.parametrize("stack", [name for name, row in STACKS.items() if row.dialect == "keras"])
def test_a_function_of_keras_runs_as_the_native_stack_s_do(stack: str) -> None:
    function, model = adapter_class(stack, "sum"), adapter_class(stack)
    native = adapter_class(str(STACKS[stack].native))
    assert issubclass(function, native) and function.family == native.family and model.family == "keras"
    assert function.packages == model.packages
    case = of(stack, "sum")
    environ = function.environ(case, "/caches")
    assert environ["KERAS_BACKEND"] == STACKS[stack].environment and environ["KERAS_HOME"] == "/caches/keras"
    assert adapter_class("jax_jit", "sum") is adapter_class("jax_jit")
