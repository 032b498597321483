"""Reads the Python code that PyTorch's Inductor generates for a graph, and counts the kernels that it calls."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator

# The generated code names Inductor's own kernels with these beginnings, and libraries' kernels by these modules.
GENERATED = ("cpp_", "triton_")
LIBRARIES = ("extern_kernels", "aten", "torch.ops")


def calls(code: str) -> Counter[str]:
    """Returns how many calls of each kernel the code has. Inductor's own kernels count together as `cpp_fused` or
    `triton_fused`; a library's kernel counts by its name, like `extern_kernels.addmm`. Raises SyntaxError for code that
    isn't Python."""
    kernels: Counter[str] = Counter()
    for function in (node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.FunctionDef)):
        if function.name == "call":
            kernels.update(filter(None, map(kernel, called(function))))
    return kernels


def called(function: ast.FunctionDef) -> Iterator[str]:
    for node in ast.walk(function):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func)


def kernel(name: str) -> str:
    """Returns the name under which a called function counts as a kernel; empty if it isn't a kernel."""
    prefix = next((start for start in GENERATED if name.startswith(start)), None)
    if prefix:
        return f"{prefix}fused"
    return name if name.startswith(tuple(f"{library}." for library in LIBRARIES)) else ""
