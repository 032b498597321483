"""Checks a folder's spec before anything runs, so that its author reads one sentence and not a worker's traceback."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from suite import protocol
from suite.errors import UserError, at_line, check_known, unknown
from suite.workloads.tensors import Tensor

REQUIRED = ("TITLE", "SIZES", "PASSES", "OPTIMIZER", "parameters", "inputs", "target", "flops", "bytes_floor", "items")
PASSES = ("forward", "train")
SETTINGS = (
    "TITLE", "SIZES", "PASSES", "OPTIMIZER", "TOLERANCE", "GRADIENT_TOLERANCE", "GRADIENT_DIRECTION", "STRESSED",
    "GROWS", "SAME_AS", "NOT_ON",
)  # fmt: skip


def check(path: Path, spec: Any) -> None:
    """Raises UserError for a spec that lacks a name, that names a setting, pass or optimizer that there isn't, or whose
    functions fail at its first size or return something else than tensors by name."""
    if missing := [name for name in REQUIRED if not hasattr(spec, name)]:
        raise UserError(f"{path} lacks {', '.join(missing)}. See docs/how-to/workload.md.")
    if mistyped := misspelt(spec, SETTINGS):
        raise unknown("setting", mistyped, SETTINGS, of=str(path))
    for pass_ in spec.PASSES:
        check_known("pass", pass_, PASSES, of=f"PASSES of {path}")
    if spec.OPTIMIZER not in (None, *protocol.MOMENTS):
        raise UserError(f"{path}: OPTIMIZER is {spec.OPTIMIZER!r}. It can be {', '.join(protocol.MOMENTS)} or None.")
    size, dims = next(iter(spec.SIZES.items()))
    for dim in getattr(spec, "GROWS", ()):
        check_known("dim", dim, dims, of=f"GROWS of {path}")
    for dim in getattr(spec, "SAME_AS", {}).values():
        check_known("dim", dim, dims, of=f"SAME_AS of {path}")
    for name in ("parameters", "buffers", "inputs"):
        if hasattr(spec, name):
            check_tensors(path, name, size, called(path, name, getattr(spec, name), dims))
    if "train" in spec.PASSES and not isinstance(target := called(path, "target", spec.target, dims), Tensor):
        raise UserError(f"{path}: `target` returns {target!r} at size {size}, and not a tensor like Normal(shape).")


def misspelt(module: Any, settings: tuple[str, ...]) -> str | None:
    """Returns a name of a module that is nearly one of the settings."""
    near = (n for n in vars(module) if n not in settings and difflib.get_close_matches(n, settings, cutoff=0.8))
    return next(near, None)


def called(path: Path, name: str, function: Callable[[Mapping[str, int]], Any], dims: Mapping[str, int]) -> Any:
    """Returns what a function of a spec returns for some dims. Raises UserError with the line that raised."""
    try:
        return function(dims)
    except Exception as broken:
        raise UserError(f"`{name}` of {path} failed: {at_line(broken, path)}.") from broken


def check_tensors(path: Path, name: str, size: str, named: Any) -> None:
    """Raises UserError unless `named` is a dict of tensors by name."""
    if not isinstance(named, Mapping):
        raise UserError(f"{path}: `{name}` returns {named!r} at size {size}, and not a dict of tensors by name.")
    for key, tensor in named.items():
        if not isinstance(tensor, Tensor):
            raise UserError(
                f"{path}: `{name}` has {tensor!r} for {key!r} at size {size}, and not a tensor like Normal(shape)."
            )
