"""The code that PyTorch's Inductor generates for a graph, read as Python: which kernels it calls."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator

# How the wrapper names what others bring: ATen's by these modules, and Inductor's own kernels by these beginnings.
OWN = ("cpp_", "triton_")
LIBRARIES = ("extern_kernels", "aten", "torch.ops")


def calls(code: str) -> Counter[str]:
    """Kernels that generated code calls, counted: `cpp_fused` in one word for Inductor's, `extern_kernels.addmm` for a
    library's. Raises SyntaxError for what is no Python."""
    found: Counter[str] = Counter()
    for function in (node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.FunctionDef)):
        if function.name == "call":
            found.update(filter(None, map(kernel, called(function))))
    return found


def called(function: ast.FunctionDef) -> Iterator[str]:
    """The dotted names of everything that a function calls."""
    for node in ast.walk(function):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func)


def kernel(name: str) -> str:
    """What a called name counts as; empty for what is no kernel."""
    own = next((start for start in OWN if name.startswith(start)), None)
    if own:
        return f"{own}fused"
    return name if name.startswith(tuple(f"{library}." for library in LIBRARIES)) else ""
