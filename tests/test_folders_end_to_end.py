"""Workload folders of strangers on real stacks: what people write for PyTorch, NumPy and JAX runs as they meant it."""

from __future__ import annotations

from pathlib import Path

import pytest

from suite.results import load
from tests.runs import Asked

SPEC = '''"""{name}"""
import numpy as np
from suite.workloads.tensors import Integers, Normal, fan_in

TITLE, PASSES, SIZES = "{name}", {passes}, {{"tiny": {{"n": 16}}}}
OPTIMIZER = {optimizer!r}
{settings}

def parameters(dims):
    n = dims["n"]
    return {{{parameters}}}

def buffers(dims):
    n = dims["n"]
    return {{{buffers}}}

def inputs(dims):
    n = dims["n"]
    return {{{inputs}}}

def target(dims):
    return Normal((dims["n"], dims["n"]))

def flops(dims, pass_):
    return 0

def bytes_floor(dims, pass_):
    return 8 * dims["n"] ** 2

def items(dims):
    return dims["n"], "rows"

{reference}
'''
HEADS = {
    "numpy": "import numpy as np\n",
    "jax": "import jax\nimport jax.numpy as jnp\n",
    "torch": "import torch\nimport torch.nn.functional as F\nfrom torch import nn\n"
    "def loss(model, target, **inputs):\n    return F.mse_loss(model(**inputs), target)\n",
}
SQUARE = "'x': Normal((n, n))"
MASKED = """
class Model(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.x = nn.Parameter(torch.empty(n, n))
        mask = torch.tril(torch.ones(n, n, dtype=torch.bool))
        {keep}

    def forward(self):
        return F.softmax(self.x.masked_fill(~self.mask, float("-inf")), dim=-1)
"""
MASKED_REFERENCE = """
def reference(dims, parameters, target=None):
    x = parameters["x"]
    e = np.where(np.tril(np.ones(x.shape, bool)), np.exp(x - x.max(-1, keepdims=True)), 0.0)
    y = e / e.sum(-1, keepdims=True)
    if target is None:
        return {"output": y}
    dy = 2.0 * (y - target) / y.size
    return {"output": y, "loss": np.mean((y - target) ** 2), "x": y * (dy - np.sum(dy * y, -1, keepdims=True))}
"""
LSTM_REFERENCE = """
def reference(dims, parameters, x, target=None):
    w, u, b, c = (parameters[f"lstm.{name}_l0"] for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"))
    h = cell = np.zeros((1, dims["n"]))
    out = []
    for row in x:
        i, f, g, o = np.split(row @ w + h @ u + b + c, 4, axis=1)
        cell = cell / (1 + np.exp(-f)) + np.tanh(g) / (1 + np.exp(-i))
        h = np.tanh(cell) / (1 + np.exp(-o))
        out.append(h[0])
    return {"output": np.stack(out)}
"""
BOTH = ("forward", "train")


def folder(place: Path, name: str, files: dict[str, str], **parts: object) -> str:
    """Writes a workload's folder; returns its name."""
    given = {"passes": ("forward",), "optimizer": None, "settings": "", "parameters": "", "buffers": "", "inputs": ""}
    (place / name).mkdir()
    (place / name / "spec.py").write_text(SPEC.format(name=name, **given | parts), encoding="utf-8")
    for dialect, text in files.items():
        (place / name / f"{name}_{dialect}.py").write_text(HEADS[dialect] + text, encoding="utf-8")
    return name


def written(place: Path) -> list[str]:
    """Writes all folders; returns their names."""
    masked = {"passes": BOTH, "parameters": SQUARE, "reference": MASKED_REFERENCE}
    registered = 'self.register_buffer("mask", mask, persistent=False)'
    return [
        folder(place, "buffer", {"torch": MASKED.format(keep=registered)}, **masked),
        folder(place, "attribute", {"torch": MASKED.format(keep="self.mask = mask")}, **masked),
        folder(
            place,
            "norm",
            {
                "torch": "class Model(nn.BatchNorm1d):\n    def __init__(self, n):\n        super().__init__(n)\n"
                "    def forward(self, x):\n        return super().forward(x)\n"
            },
            passes=BOTH,
            optimizer="sgd",
            parameters="'weight': Normal((n,), 0.1, 1.0), 'bias': Normal((n,), 0.1)",
            buffers="'running_mean': Normal((n,), 0.1), 'running_var': Normal((n,), 0.05, 1.0)",
            inputs=SQUARE,
            reference="""
def reference(dims, parameters, x, target=None):
    w, b, mean, var = (parameters[name] for name in ("weight", "bias", "running_mean", "running_var"))
    y = (x - mean) / np.sqrt(var + 1e-5) * w + b
    if target is None:
        return {"output": y}
    n = (x - x.mean(0)) / np.sqrt(x.var(0) + 1e-5)
    d = n * w + b - target
    dy = 2.0 * d / d.size
    moved = {"running_mean": 0.9 * mean + 0.1 * x.mean(0), "running_var": 0.9 * var + 0.1 * x.var(0, ddof=1)}
    return {"output": y, "loss": np.mean(d * d), "weight": (dy * n).sum(0), "bias": dy.sum(0), **moved}
""",
        ),
        folder(
            place,
            "sgd",
            {
                "numpy": """
def forward(dims, parameters, x):
    return x @ parameters["w"]

def loss_and_gradients(dims, parameters, x, target):
    d = forward(dims, parameters, x) - target
    return np.mean(np.square(d)), {"w": x.T @ (d * (2.0 / d.size))}
""",
                "torch": "class Model(nn.Module):\n    def __init__(self, n):\n        super().__init__()\n"
                "        self.w = nn.Parameter(torch.empty(n, n))\n    def forward(self, x):\n"
                "        return x @ self.w\n",
            },
            passes=("train",),
            optimizer="sgd",
            parameters="'w': fan_in(n, n)",
            inputs=SQUARE,
            reference="""
def reference(dims, parameters, x, target=None):
    y = x @ parameters["w"]
    if target is None:
        return {"output": y}
    d = y - target
    return {"output": y, "loss": np.mean(d * d), "w": x.T @ (2.0 * d / d.size)}
""",
        ),
        folder(
            place,
            "lstm",
            {
                "torch": "class Model(nn.Module):\n    def __init__(self, n):\n        super().__init__()\n"
                "        self.lstm = nn.LSTM(n, n)\n    def forward(self, x):\n        return self.lstm(x)[0]\n"
            },
            parameters="'lstm.weight_ih_l0': fan_in(n, 4 * n), 'lstm.weight_hh_l0': fan_in(n, 4 * n), "
            "'lstm.bias_ih_l0': Normal((4 * n,), 0.1), 'lstm.bias_hh_l0': Normal((4 * n,), 0.1)",
            inputs=SQUARE,
            reference=LSTM_REFERENCE,
        ),
        folder(
            place,
            "layout",
            {
                "torch": "class Model(nn.Module):\n    def __init__(self, n):\n        super().__init__()\n"
                "        self.w = nn.Parameter(torch.empty(2 * n, n))\n"
                "    def forward(self, x):\n        return x @ self.w.T\n"
            },
            parameters="'w': fan_in(n, 2 * n)",
            inputs=SQUARE,
            reference="def reference(dims, parameters, x, target=None):\n    return {'output': x @ parameters['w']}\n",
        ),
        folder(
            place,
            "forces",
            {
                "torch": """
class Model(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.up = nn.Linear(n, n, bias=False)

    def forward(self, x):
        with torch.enable_grad():
            x = x.detach().requires_grad_()
            return torch.autograd.grad(torch.tanh(self.up(x)).sum(), x)[0]
"""
            },
            parameters="'up.weight': fan_in(n, n)",
            inputs=SQUARE,
            reference="""
def reference(dims, parameters, x, target=None):
    w = parameters["up.weight"]
    return {"output": (1 - np.tanh(x @ w) ** 2) @ w.T}
""",
        ),
        folder(
            place,
            "factor",
            {
                "numpy": "def forward(dims, parameters, x):\n"
                "    return np.linalg.cholesky(x @ x.T + dims['n'] * np.eye(dims['n'], dtype=x.dtype))\n"
            },
            settings='TOLERANCE = {"f32": 1e-4}',
            inputs=SQUARE,
            reference="def reference(dims, parameters, x, target=None):\n"
            "    return {'output': np.linalg.cholesky(x @ x.T + dims['n'] * np.eye(dims['n']))}\n",
        ),
        folder(
            place,
            "order",
            {
                "torch": "class Model(nn.Module):\n    def forward(self, x):\n"
                "        return torch.argsort(x, descending=True).flip(-1)\n"
            },
            settings="def canonical(outputs, x):\n    return np.take_along_axis(x, outputs, -1)\n",
            inputs="'x': Integers((n, n), 4)",
            reference="def reference(dims, parameters, x, target=None):\n    return {'output': np.argsort(x, -1)}\n",
        ),
        folder(
            place,
            "logs",
            {"numpy": "def forward(dims, parameters, x):\n    return np.log(x)\n"},
            inputs=SQUARE,
            reference="def reference(dims, parameters, x, target=None):\n    return {'output': np.log(x)}\n",
        ),
    ]


OK = ("ok", "")
PLAIN = (
    "error",
    'mask is a plain tensor of the model, which doesn\'t go to a device with it: self.register_buffer("mask"',
)
SHAPES = ("error", "w is (16, 32) in the spec and (32, 16) in the model")
EXPECTED = {"buffer": OK, "attribute": PLAIN, "norm": OK, "sgd": OK, "lstm": OK, "layout": SHAPES, "forces": OK}
EXPECTED |= {"factor": OK, "logs": OK, "order": OK}
RUNS = {
    "folders": Asked(1, ("--stack=numpy", "--stack=torch_eager"), workloads=written),
    "folders elsewhere": Asked(
        3, ("--stack=torch_inductor", "--stack=torch_xla", "--stack=torchax_jit"), workloads=written, release=True
    ),
}
# What a compiler can't trace whole.
UNTRACED = {("forces", stack) for stack in ("torch_inductor", "torchax_jit", "torch_xla")}
pytestmark = pytest.mark.stacks


@pytest.mark.parametrize("run", sorted(RUNS))
def test_a_folder_runs_as_its_author_meant_it_or_says_what_to_change(runs, run: str) -> None:  # type: ignore[no-untyped-def]
    rows = load(runs[run].folder).analysis().counted
    ran = [row for row in rows if "isn't written in" not in str(row["reason"])]
    for row in ran:
        outcome, words = EXPECTED[row["workload"]]
        if (row["workload"], row["stack"]) not in UNTRACED:
            assert row["outcome"] == outcome and words in str(row["reason"]), (row["case_name"], row["reason"])
    passes = {(row["workload"], row["stack"], row["pass"]) for row in ran}
    in_torch = 8 + 3  # eight folders have a file for PyTorch, three of them two passes
    for stack in {row["stack"] for row in rows}:
        assert len([each for each in passes if each[1] == stack]) == (3 if stack == "numpy" else in_torch), stack


@pytest.mark.runs("folders elsewhere")
def test_only_a_recurrent_layer_may_break_a_graph_and_its_row_says_so(runs) -> None:  # type: ignore[no-untyped-def]
    rows = [row for row in load(runs["folders elsewhere"].folder).analysis().counted if row["outcome"] == "ok"]
    assert {(row["workload"], row["stack"]) for row in rows if row["graph_breaks"]} == {("lstm", "torch_inductor")}
    assert {row["workload"] for row in rows if "graph_breaks" in row["flags"]} == {"lstm"}


@pytest.mark.runs("folders")
def test_what_is_wider_or_not_finite_is_flagged_and_the_tolerance_is_the_spec_s(runs) -> None:  # type: ignore[no-untyped-def]
    rows = {(row["workload"], row["stack"]): row for row in load(runs["folders"].folder).analysis().counted}
    factor, logs = rows["factor", "numpy"], rows["logs", "numpy"]
    assert "wider" in factor["flags"] and factor["precision_observed"] == "f32, but f64 in cholesky"
    assert factor["tolerance"] == 1e-4 and logs["tolerance"] == 5e-6
    assert "not_finite" in logs["flags"] and "wider" not in logs["flags"]
    assert "not_finite" not in factor["flags"]
