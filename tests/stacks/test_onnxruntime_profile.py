"""ONNX Runtime's operators by what they compute."""

from __future__ import annotations

import json
from typing import Any

from suite.ir.timeline import Category, profile
from suite.stacks.onnxruntime.onnxruntime_profile import spans


def event(operator: str, begin: int, lasts: int, name: str = "node_1_kernel_time", cat: str = "Node") -> dict[str, Any]:
    """An event as ONNX Runtime 1.32 writes it; times are in µs."""
    args = {"op_name": operator, "provider": "CPUExecutionProvider"}
    return {"cat": cat, "name": name, "ts": begin, "dur": lasts, "tid": 7, "pid": 1, "ph": "X", "args": args}


EVENTS = [
    event("", 0, 5000, "session_initialization", "Session"),
    event("", 6000, 1000, "model_run", "Session"),
    event("Gather", 6000, 10),
    event("SkipLayerNormalization", 6010, 20),
    event("FusedMatMul", 6030, 300),
    event("Gemm", 6330, 200),
    event("Softmax", 6530, 40),
    event("Transpose", 6570, 30),
    event("FusedConv", 6600, 100),
    event("Gelu", 6700, 50),
]


def test_kernels_have_categories_and_the_rest_of_a_run_is_the_host_s() -> None:
    found = profile("ONNX Runtime", spans(json.dumps(EVENTS)), 1, 1000e-6, 900e-6)
    assert {category: round(1e6 * seconds) for category, seconds in found.categories.items()} == {
        Category.PRODUCTS: 500,
        Category.CONVOLUTIONS: 100,
        Category.ATTENTION: 40,
        Category.NORMS: 20,
        Category.ELEMENTWISE: 60,
        Category.COPIES: 30,
        Category.HOST: 250,
    }
    assert found.largest[0][:2] == (Category.PRODUCTS, "FusedMatMul")
