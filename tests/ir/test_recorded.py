"""What stacks left of models that no whole run asks, read and recognised again.

Recorded in training steps at `tiny` on JAX 0.12.0, PyTorch 2.13, PyTorch/XLA 2.9, torchax 0.0.11 and TensorFlow 2.21:
programs as they were handed over (`.mlir.gz`), programs of XLA's (`.hlo.txt.gz`, and `.hlo.pb.gz` where the text has a
syntax that JAX 0.10 can't read), and the names of what a profiler saw (`.names`). tests/test_programs_end_to_end.py has
other models of the versions that are locked.
"""

from __future__ import annotations

import gzip
import json
import re
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from suite.environments import ROOT, venv
from suite.ir.timeline import Category, by_rules
from suite.stacks.torch.torch_profile import RULES

RECORDED = Path(__file__).with_name("recorded")
OF_XLA = ("jax_jit", "torch_xla", "torchax_jit", "tf_xla")
REGIONS = {
    "bert": {"embedding": 2, "position embedding": 1, "layer norm": 6, "attention": 2, "GELU": 3},
    "vit": {"layer norm": 5, "attention": 2, "GELU": 2},
    "gpt_neo": {"embedding": 1, "position embedding": 1, "layer norm": 5, "attention": 2, "GELU": 2},
    "llama": {"embedding": 1, "RMS norm": 5, "attention": 2},
    "resnet50": {"batch norm": 20},
}  # of two layers
ENDINGS = {"txt": "txt", "pb": "hlo.pb"}  # of XLA's dumps
OF_MODELS = [(model, stack) for model in REGIONS for stack in OF_XLA if (model, stack) != ("resnet50", "jax_jit")]


def texts(ending: str) -> dict[str, str]:
    """The recorded texts of one kind, by model and stack."""
    return {
        path.name.removesuffix(ending): gzip.decompress(path.read_bytes()).decode()
        for path in RECORDED.glob(f"*{ending}")
    }


def names(stack: str) -> list[str]:
    """What a profiler saw of `resnet50`."""
    return (RECORDED / f"resnet50-{stack}.names").read_text(encoding="utf-8").splitlines()


def read_by(module: str, asked: dict[str, Any]) -> dict[str, Any]:
    """What a program of JAX's environment says."""
    done = subprocess.run(
        [venv.ensure("jax", "cpu").python, "-m", module],
        cwd=ROOT,
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout.splitlines()[-1]))


@pytest.fixture(scope="module")
def handed() -> dict[str, Any]:
    return read_by("tests.ir.read_modules", texts(".mlir.gz"))


@pytest.mark.stacks
@pytest.mark.parametrize(("model", "stack"), OF_MODELS)
def test_every_region_of_a_model_is_recognised(handed: dict[str, Any], model: str, stack: str) -> None:
    found: Counter[str] = Counter()
    for kind, _, count in handed[f"{model}-{stack}"]["regions"]:
        found[kind] += count
    assert found == REGIONS[model]


@pytest.fixture(scope="module")
def categories(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, str]]:
    """Of every operation of `resnet50`, by stack; XLA's programs lie in folders as a profiled process leaves them."""
    place = tmp_path_factory.mktemp("profiles")
    of_xla = {}
    for path in RECORDED.glob("resnet50-*.hlo.*.gz"):
        stack, form = path.name.removeprefix("resnet50-").removesuffix(".gz").split(".hlo.")
        folder = place / stack
        folder.mkdir(exist_ok=True)
        name = f"module_0001.step.cpu_after_optimizations.{ENDINGS[form]}"
        (folder / name).write_bytes(gzip.decompress(path.read_bytes()))
        of_xla[stack] = {"folder": str(folder)}
    of_torch = {
        stack: {name: by_rules(name, RULES) for name in names(stack)} for stack in ("torch_eager", "torch_inductor")
    }
    return read_by("tests.ir.read_operations", of_xla | {"tf_graph": names("tf_graph")}) | of_torch


# What is called so is a convolution; what runs inside of one counts with it (`_slow_`, `thnn_`), and an array that is
# only named after one is moved.
CONVOLUTIONS = {
    "jax_jit": r"convolution",
    "torch_xla": r"convolution",
    "tf_xla": r"Conv2D\w*?(_\d+)?\.[1-9]",
    "tf_graph": r"(gradient_tape/)?Conv2D",
    "torch_eager": r"aten::_?conv|aten::mkldnn_conv",
    "torch_inductor": r"aten::_?conv|aten::mkldnn_conv|graph_\d_cpp_fused_\w*convolution",
}


@pytest.mark.newest
@pytest.mark.stacks
@pytest.mark.parametrize("stack", CONVOLUTIONS)
def test_convolutions_are_told_from_products_and_norms_are_known(
    categories: dict[str, dict[str, str]], stack: str
) -> None:
    found = categories[stack]
    named = {category for name, category in found.items() if re.match(CONVOLUTIONS[stack], name)}
    assert named == {Category.CONVOLUTIONS}
    assert Category.NORMS in found.values()
