"""Reads ONNX Runtime's own profile as spans with categories."""

from __future__ import annotations

import json
from collections.abc import Iterator

from suite.ir.timeline import Category, Span, by_rules

# (pattern, category): the first pattern found in an operator's name decides. Fused operators have both names.
RULES = (
    (r"Conv", Category.CONVOLUTIONS),
    (r"Attention|Softmax", Category.ATTENTION),
    (r"Normalization", Category.NORMS),
    (r"MatMul|Gemm|Einsum", Category.PRODUCTS),
    (r"^(Reshape|Transpose|Concat|Split|Slice|Expand|(Uns|S)queeze|Identity|Cast|Flatten|Pad|Tile|Shape|Reorder\w+)$",
     Category.COPIES),
)  # fmt: skip


def spans(text: str) -> Iterator[Span]:
    """Yields the kernels in a profile, a JSON list of events with times in µs."""
    for event in json.loads(text):
        if event["cat"] == "Node" and event["name"].endswith("_kernel_time"):
            operator, begin = event["args"]["op_name"], event["ts"] / 1e6
            category = by_rules(operator, RULES, Category.ELEMENTWISE)
            yield Span(str(event["tid"]), operator, begin, begin + event["dur"] / 1e6, category)
