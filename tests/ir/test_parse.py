"""Programs read by XLA's own bindings: what regular expressions would get wrong, and what can't be read."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from suite.environments import ROOT, venv

pytestmark = [pytest.mark.stacks, pytest.mark.newest]

MODULES = {
    # Names of operations in a comment, in an attribute, in the name of a function.
    "words": """
module @"stablehlo.dot_general" {
  // %1 = stablehlo.dot_general %0, %0
  func.func public @main(%arg0: tensor<2xf32> {jax.arg = "stablehlo.add"}) -> tensor<2xf32> {
    %0 = stablehlo.custom_call @stablehlo.multiply(%arg0) {backend_config = "stablehlo.add %1, %2"}
        : (tensor<2xf32>) -> tensor<2xf32>
    return %0 : tensor<2xf32>
  }
}""",
    # A function that is called twice does its work twice; a reduction's own addition is none of the program's.
    "calls": """
module @calls {
  func.func private @total(%arg0: tensor<2x3xf32>) -> tensor<2xf32> {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = "stablehlo.reduce"(%arg0, %zero) ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %1 = stablehlo.add %a, %b : tensor<f32>
        "stablehlo.return"(%1) : (tensor<f32>) -> ()
    }) {dimensions = array<i64: 1>} : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
    return %0 : tensor<2xf32>
  }
  func.func public @main(%arg0: tensor<2x3xf32> {tf.aliasing_output = 1 : i32}, %arg1: tensor<2x3xf32>)
      -> (tensor<2xf32>, tensor<2x3xf32>) {
    %0 = call @total(%arg0) : (tensor<2x3xf32>) -> tensor<2xf32>
    %1 = call @total(%arg1) : (tensor<2x3xf32>) -> tensor<2xf32>
    %2 = stablehlo.multiply %0, %1 : tensor<2xf32>
    return %2, %arg0 : tensor<2xf32>, tensor<2x3xf32>
  }
}""",
    # A softmax of scores that are no product, and shares that nothing is weighed by.
    "a softmax alone": """
module @softmax {
  func.func public @main(%x: tensor<4x8xf32>, %w: tensor<8x2xf32>) -> (tensor<4x8xf32>, tensor<4x2xf32>) {
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1]
        : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<4xf32>) -> tensor<4x8xf32>
    %2 = stablehlo.subtract %x, %1 : tensor<4x8xf32>
    %3 = stablehlo.exponential %2 : tensor<4x8xf32>
    %4 = stablehlo.reduce(%3 init: %zero) applies stablehlo.add across dimensions = [1]
        : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<4xf32>) -> tensor<4x8xf32>
    %6 = stablehlo.divide %3, %5 : tensor<4x8xf32>
    %7 = stablehlo.dot_general %6, %w, contracting_dims = [1] x [0]
        : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
    return %6, %7 : tensor<4x8xf32>, tensor<4x2xf32>
  }
}""",
    # A tanh and a root that are nobody's GELU and nobody's norm.
    "a tanh and a root": """
module @others {
  func.func public @main(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
    %0 = stablehlo.tanh %x : tensor<4x8xf32>
    %1 = stablehlo.multiply %x, %x : tensor<4x8xf32>
    %2 = stablehlo.rsqrt %1 : tensor<4x8xf32>
    return %0, %2 : tensor<4x8xf32>, tensor<4x8xf32>
  }
}""",
    "truncated": "module @half { func.func public @main(%arg0: tensor<2xf32>) -> tensor<2xf32> {",
    "no MLIR": "HloModule jit_f, entry_computation_layout={()->f32[]}",
    "a foreign dialect": 'module { func.func public @main() { "tosa.add"() : () -> () return } }',
    "a size not known": "module { func.func @main(%a: tensor<?xf32>) -> tensor<?xf32> { return %a : tensor<?xf32> } }",
    "a call of nothing": """
module {
  func.func public @main(%x: tensor<2xf32>) -> tensor<2xf32> {
    %0 = func.call @elsewhere(%x) : (tensor<2xf32>) -> tensor<2xf32>
    return %0 : tensor<2xf32>
  }
  func.func private @elsewhere(tensor<2xf32>) -> tensor<2xf32>
}""",
    "nothing to begin with": "module @empty { func.func public @other() { return } }",
}


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    """What was read of each module."""
    job = Path(__file__).with_name("read_modules.py")
    done = subprocess.run(
        [venv.ensure("jax", "cpu").python, str(job)],
        input=json.dumps(MODULES),
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def test_words_in_comments_and_attributes_are_no_operations(found: dict[str, Any]) -> None:
    assert found["words"]["operations"] == {"custom_call stablehlo.multiply": 1}


def test_a_call_counts_as_often_as_it_is_made(found: dict[str, Any]) -> None:
    assert found["calls"]["operations"] == {"constant": 2, "reduce": 2, "multiply": 1}
    assert found["calls"]["aliases"] == {"1": 0}, "the second result takes the first argument's place"
    assert found["calls"]["arguments"] == [[2, 3, "f32"], [2, 3, "f32"]]


def test_what_only_looks_like_a_region_is_none(found: dict[str, Any]) -> None:
    assert found["a softmax alone"]["regions"] == []
    assert found["a tanh and a root"]["regions"] == []


@pytest.mark.parametrize(
    "name",
    ["truncated", "no MLIR", "a foreign dialect", "a size not known", "a call of nothing", "nothing to begin with"],
)
def test_what_can_t_be_read_is_refused_in_a_sentence(found: dict[str, Any], name: str) -> None:
    assert found[name].keys() == {"refused"}
    assert found[name]["refused"] and "\n" not in found[name]["refused"]
