"""A question file as a workload: what is found in it, and every kind of bad file refused with its line."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from suite.errors import UserError
from suite.reference.finite import doubts
from suite.workloads.catalog import find, load
from suite.workloads.tensors import generate
from tests.worker.processes import case_of

GOOD = '''"""Which is faster?

More words.
"""
import numpy as np
import torch
import torch.nn as nn
from jax import jit
from suite.ask import integers, normal

TOLERANCE = 1e-3

class Layer(nn.Module):
    pass

@jit
def helper(x):
    return x

def inputs(rows=4, columns=3):
    return {"x": normal(rows, columns), "w": {"up": normal(columns), "ids": integers(rows, high=9)}, "k": 2}

def torch_b(x, w, k):
    return torch.sum(x)

def torch_a(x, w, k):
    return x

def numpy_sum(x, w, k):
    return {"sum": np.sum(x) * k, "up": w["up"]}
'''


def question(tmp_path: Path, text: str = GOOD, name: str = "asked") -> Any:
    path = tmp_path / f"{name}.py"
    path.write_text(text, encoding="utf-8")
    return load(path)


def test_a_file_is_a_workload_though_its_frameworks_are_missing(tmp_path: Path) -> None:
    asked = question(tmp_path)
    assert (asked.name, asked.spec.TITLE) == ("asked", "Which is faster?")
    assert asked.dialects == ("torch", "numpy")
    assert asked.implementations("torch") == ("b", "a"), "in the order of the file"
    assert asked.dims("asked", {"rows": 5}) == {"rows": 5, "columns": 3}
    assert "torch" not in sys.modules and "jax" not in sys.modules, "no placeholder is left behind"


def test_tensors_of_a_pass(tmp_path: Path) -> None:
    asked = question(tmp_path)
    forward = asked.tensors({"rows": 5, "columns": 3}, "forward")
    assert {name: tensor.shape for name, tensor in forward.batch.items()} == {"x": (5, 3), "w/up": (3,), "w/ids": (5,)}
    gradient = asked.tensors({"rows": 5, "columns": 3}, "gradient")
    assert [*gradient.parameters] == ["x", "w/up"] and [*gradient.batch] == ["w/ids"]


def test_numpy_is_the_reference_and_static_values_reach_it(tmp_path: Path) -> None:
    asked = question(tmp_path)
    batch = {"x": np.ones((4, 3)), "w/up": np.arange(3.0), "w/ids": np.zeros(4, int)}
    answer = asked.spec.reference({"rows": 4, "columns": 3}, {}, **batch)
    assert float(answer["output"]["sum"]) == 24.0 and "loss" not in answer
    answer = asked.spec.reference({"rows": 4, "columns": 3}, batch, target=None)
    assert float(answer["loss"]) == pytest.approx(24.0**3 + (0 + 1 + 8) / 3)


def test_an_implementation_that_stands_for_a_reference_wraps_as_its_declared_type(tmp_path: Path) -> None:
    text = (
        "from suite.ask import integers\ndef inputs(n=4):\n"
        "    return {{'b': integers(n, low=-128, high=128, dtype='int8')}}\n"
        "def {}(b):\n    return b * b\ndef numpy_square(b):\n    return b * b\n"
    )
    values = {"b": np.array([16, 100, -128, 3])}
    by_numpy, own = (question(tmp_path, text.format(name), name) for name in ("numpy_other", "reference"))
    assert by_numpy.spec.reference({"n": 4}, {}, **values)["output"].tolist() == [0, 16, 0, 9]
    assert own.spec.reference({"n": 4}, {}, **values)["output"].tolist() == [256, 10_000, 16_384, 9]


def test_a_reference_may_be_nan_or_infinite_everywhere(tmp_path: Path) -> None:
    text = (
        "import numpy as np\nfrom suite.ask import normal\ndef inputs(n=4):\n    return {'x': normal(n)}\n"
        "def reference(x):\n    return x * np.inf\ndef torch_a(x):\n    return x\n"
    )
    (said,) = doubts([question(tmp_path, text, "infinite")])
    assert "4 of its 4 values at size asked are NaN or infinite. They are compared by place and sign." in said


def test_find_takes_a_file_beside_folders(tmp_path: Path) -> None:
    question(tmp_path)
    assert find([tmp_path / "asked.py"])["asked"].spec.SIZES == {"asked": {"rows": 4, "columns": 3}}


@pytest.mark.parametrize("name", ["in_place", "gemm", "fusion", "transfer", "prng"])
def test_a_file_may_be_called_like_a_workload_of_the_suite(tmp_path: Path, name: str) -> None:
    question(tmp_path, name=name)
    found = find([tmp_path / f"{name}.py"])
    assert found[name].is_ours and not found[name].is_question
    assert found[f"{name}.py"].is_question and found[f"{name}.py"].name == f"{name}.py"
    assert load(tmp_path / f"{name}.py").name == f"{name}.py", "in the worker, which loads nothing else"


def test_what_no_name_may_have_in_it_is_replaced(tmp_path: Path) -> None:
    for name, said in (
        ("my question", "my_question"),
        ("größe", "gr__e"),
        (".hidden", "_hidden"),
        ("n" * 200, "n" * 96),
    ):
        assert question(tmp_path, name=name).name == said


def test_decorated_functions_are_found_though_their_framework_is_missing(tmp_path: Path) -> None:
    text = (
        "from functools import partial\nimport jax\nimport jax.numpy as jnp\nimport torch\n"
        "from suite.ask import integers\nHALF = 1 / jnp.sqrt(4.0)\n"
        "def inputs(n=4):\n    return {'ids': integers(n, high=9)}\n"
        "@jax.jit\ndef jax_plain(ids):\n    return ids\n"
        "@partial(jax.jit, static_argnames='k')\ndef jax_static(ids, k=1):\n    return ids\n"
        "def torch_typed(ids: torch.Tensor | None):\n    return ids\n"
    )
    asked = question(tmp_path, text)
    assert asked.implementations("jax") == ("plain", "static") and asked.implementations("torch") == ("typed",)
    case = case_of(workload="asked", dims={"n": 4}, size="asked", pass_="gradient", implementation="plain")
    assert "no input is a floating-point one" in asked.unsupported("jax", case)
    assert asked.unsupported("jax", replace(case, pass_="forward")) is None


# The tops of files whose packages the orchestrator lacks; each once failed, or hung, while the file was loaded.
TOPS = (
    "import einops\n",
    "import timm\nMODEL = timm.create_model('vit_tiny_patch16_224')\n",
    "import torch\nMODEL = torch.nn.Linear(4, 4)\nCOUNT = sum(p.numel() for p in MODEL.parameters())\n",
    "import torch\ntorch.set_num_threads(1)\nassert torch.get_num_threads() == 1\n",
    "import torch\nwith torch.no_grad():\n    W = torch.ones(3)\nfor w in W:\n    print(w)\n",
    "import torch\nclass Net(torch.nn.Module):\n    layer: torch.nn.Linear\nNET = Net().eval()\n",
    "from transformers import BertConfig, BertModel\nMODEL = BertModel(BertConfig(num_hidden_layers=1))\n",
    "try:\n    import jax\nexcept ImportError:\n    jax = None\n",
    "import jax, torch\nfrom jax import random as r, numpy as jnp\nKEY = r.split(r.key(0), 2)[0]\n",
    "import torch\ntorch_device = torch.device('cpu')\n",
)


@pytest.mark.parametrize("top", TOPS)
def test_what_only_a_frameworks_function_needs_is_loaded_with_it_alone(tmp_path: Path, top: str) -> None:
    asked = question(
        tmp_path,
        f"{top}from suite.ask import normal\ndef inputs(n=4):\n    return {{'x': normal(n)}}\n"
        "def torch_a(x: 'torch.Tensor') -> torch.Tensor:\n    return x\n",
    )
    assert asked.written == {"torch": ("a",)} and asked.arguments({"n": 4})["x"].shape == (4,)


def test_lambdas_and_functions_that_others_make_are_implementations(tmp_path: Path) -> None:
    text = (
        "import torch\nfrom suite.ask import normal\ndef inputs(n=4):\n    return {'x': normal(n)}\n"
        "SCALE = 2\ndef plain(x):\n    return SCALE * x\nnumpy_twice = lambda x: plain(x)\n"
        "torch_twice = torch.compile(plain)\ntorch_scale = SCALE\n"
        "def torch_gradient(x):\n    return x\ndef numpy_twice_gradient(x):\n    return 0, {'x': x}\n"
    )
    asked = question(tmp_path, text)
    assert asked.written == {"numpy": ("twice",), "torch": ("twice", "gradient")}
    answer = asked.spec.reference({"n": 4}, {}, x=np.ones(4))
    assert answer["output"].tolist() == [2.0] * 4


def test_a_module_beside_the_file_is_imported_and_travels_with_it(tmp_path: Path) -> None:
    (tmp_path / "beside_models").mkdir()
    (tmp_path / "beside_models" / "__init__.py").write_text("from beside_shapes import WIDTH\n")
    (tmp_path / "beside_models" / "net.py").write_text("import no_such_framework\n")
    (tmp_path / "beside_shapes.py").write_text("WIDTH = 7\n")
    (tmp_path / "unused.py").write_text("1 // 0\n")
    text = (
        "from beside_models import WIDTH, net\nfrom suite.ask import normal\n"
        "def inputs(n=4):\n    return {'x': normal(n, WIDTH)}\ndef torch_a(x):\n    return net.forward(x)\n"
    )
    asked = question(tmp_path, text)
    assert asked.arguments({"n": 4})["x"].shape == (4, 7)
    assert {file.relative_to(tmp_path).as_posix() for file in asked.data_files({"n": 4})} == {
        "beside_models/__init__.py",
        "beside_models/net.py",
        "beside_shapes.py",
    }


def test_a_module_that_would_not_be_imported_is_refused(tmp_path: Path) -> None:
    (tmp_path / "random.py").write_text("")
    with pytest.raises(UserError, match=r"random has the name of an installed package"):
        question(tmp_path, f"import random\n{GOOD}")


def test_an_array_of_a_file_is_found_beside_the_question(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.arange(3.0))
    text = (
        "from suite.ask import from_file\ndef inputs():\n    return {'x': from_file('x.npy')}\n"
        "def torch_a(x):\n    return x"
    )
    tensor = question(tmp_path, text).tensors({}, "forward").batch["x"]
    assert tensor.dtype == "float64" and generate(tensor, "x", 0).tolist() == [0.0, 1.0, 2.0]


BAD = {
    "argument": (
        (
            "from suite.ask import normal\ndef inputs(n=1):\n    return {'x': normal(n), 'k': 2}\n"
            "def torch_a(x):\n    return x"
        ),
        r"line 4: .*by name \(x, k\); torch_a doesn't take k",
    ),
    "unknown argument": (
        (
            "from suite.ask import normal\ndef inputs(n=1):\n    return {'x': normal(n)}\n"
            "def torch_a(x, y):\n    return x"
        ),
        "torch_a takes y, which isn't one of them",
    ),
    "target": (
        (
            "from suite.ask import normal\ndef inputs(n=1):\n    return {'target': normal(n)}\n"
            "def torch_a(target):\n    return target"
        ),
        "an input can't be called target",
    ),
    "syntax": ("def inputs(:\n    pass", "can't be loaded: line 1: .*"),
    "raises": ("import numpy\nnumpy.nothing", "can't be loaded: line 2: AttributeError.*nothing"),
    "missing": (
        "import no_such_package\ndef inputs(n=no_such_package.N):\n    return {}\ndef torch_a(x):\n    return x",
        "can't be loaded: line 1: ModuleNotFoundError.*without a framework",
    ),
    "another framework": (
        (
            "import triton\nfrom suite.ask import normal\ndef inputs(n=1):\n    return {'x': normal(n)}\n"
            "@triton.jit\ndef triton_a(x):\n    return x\ndef torch_a(x):\n    return x"
        ),
        "line 6: no stack runs triton_a",
    ),
    "model of TensorFlow": (
        (
            "from suite.ask import normal\ndef inputs(n=1):\n    return {'x': normal(n)}\n"
            "def tf_model():\n    return None"
        ),
        "line 4: a model is of torch, jax or keras as yet; tf_model isn't",
    ),
    "model and function": (
        (
            "from suite.ask import normal\ndef inputs(n=1):\n    return {'x': normal(n)}\n"
            "def torch_model():\n    return None\ndef torch_f(x):\n    return x"
        ),
        "line 6: beside torch_model there is torch_f, which is no model",
    ),
    "lambda": (
        ("from suite.ask import normal\ndef inputs(n=1):\n    return {'x': normal(n), 'k': 2}\njax_f = lambda x: x"),
        "line 4: .*jax_f doesn't take k",
    ),
    "no inputs": ("def torch_a(x):\n    return x", "has no function `inputs`"),
    "none": ("from suite.ask import normal\ndef inputs(n=1):\n    return {'x': normal(n)}", "has no implementation"),
    "no dim": ("def inputs(n):\n    return {}\ndef torch_a(x):\n    return x", "that of n isn't"),
    "zero": ("def inputs(n=0):\n    return {}\ndef torch_a(x):\n    return x", "whole number from 1 to"),
    "no tensor": ("def inputs(n=1):\n    return {'x': 1}\ndef torch_a(x):\n    return x", "returns a dict of tensors"),
    "array": (
        (
            "import numpy as np\nfrom suite.ask import normal\ndef inputs(n=1):\n"
            "    return {'x': normal(n), 'w': np.ones(3)}\ndef torch_a(x, w):\n    return x * w"
        ),
        "the input w is an array, which compilers would take for a constant",
    ),
    "inside": ("def inputs(n=1):\n    return 1 // 0\ndef torch_a(x):\n    return x", "line 2: ZeroDivisionError"),
    "type": (
        (
            "from suite.ask import normal\ndef inputs(n=1):\n    return {'x': normal(n, dtype='int8')}\n"
            "def torch_a(x):\n    return x"
        ),
        "line 3: Normal has no type 'int8'",
    ),
    "range": (
        (
            "from suite.ask import integers\ndef inputs(n=1):\n    return {'x': integers(n, high=300, dtype='int8')}\n"
            "def torch_a(x):\n    return x"
        ),
        "int8 doesn't hold them",
    ),
    "misspelt": (
        (
            "from suite.ask import normal\nTOLERANCES = 1\ndef inputs(n=1):\n    return {'x': normal(n)}\n"
            "def torch_a(x):\n    return x"
        ),
        "no setting 'TOLERANCES'",
    ),
    "static": (
        (
            "from suite.ask import normal\nSTATIC = ('x',)\ndef inputs(n=1):\n    return {'x': normal(n)}\n"
            "def torch_a(x):\n    return x"
        ),
        "STATIC names",
    ),
    **{
        f"setting {setting}": (
            (
                f"from suite.ask import normal\n{setting}\ndef inputs(n=1):\n    return {{'x': normal(n)}}\n"
                "def torch_a(x):\n    return x"
            ),
            f"{setting.partition(' ')[0]} is .*, and not like ",
        )
        for setting in (
            "TOLERANCE = '1e-3'",
            "TOLERANCE = {'x': None}",
            "NOT_ON = ['numpy']",
            "STATIC = None",
            "GROWS = 5",
            "GROWS = 'n'",
            "WEIGHTS = ['a']",
            "WEIGHTS = {'a': 1}",
            "LAYOUT = {'torch': 'NHWC->NCHW'}",
            "CARRIED = 3",
        )
    },
}


@pytest.mark.parametrize("kind", BAD)
def test_a_bad_file_is_refused_in_words(kind: str, tmp_path: Path) -> None:
    text, words = BAD[kind]
    with pytest.raises(UserError, match=words):
        question(tmp_path, text, f"bad_{kind.replace(' ', '_')}")
