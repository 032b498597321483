"""The settings of a question file: names in capitals at its top, whose values have the types of an example."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

from suite.errors import UserError, unknown
from suite.workloads.questions.functions import CARRIED
from suite.workloads.specs import misspelt
from suite.workloads.statements import defined

SETTINGS = {  # {a setting: an example of its value}
    "TOLERANCE": 1e-4,
    "NOT_ON": {"torch_inductor": "it compiles for minutes"},
    "STATIC": ("axis",),
    "GROWS": ("batch",),
    "WEIGHTS": {"fc.kernel": "fc.weight.T"},
    "LAYOUT": {"torch": {"image": "NHWC->NCHW"}},
    CARRIED: ("w",),
}


def check_settings(module: ModuleType, text: ast.Module, path: Path) -> None:
    """Raises UserError for a name that is nearly a setting's, and for a value of another type."""
    if mistyped := misspelt(SimpleNamespace(**dict.fromkeys(defined(text))), tuple(SETTINGS)):
        raise unknown("setting", mistyped, SETTINGS, of=str(path))
    for name, example in SETTINGS.items():
        if not is_like(value := getattr(module, name, example), example):
            raise UserError(f"{path}: {name} is {value!r}, and not like {name} = {example!r}.")


def is_like(value: Any, example: Any) -> bool:
    """Whether a setting's value has the types of its example, at every level."""
    match example:
        case dict():
            (inner,) = example.values()
            return isinstance(value, Mapping) and all(
                isinstance(key, str) and is_like(each, inner) for key, each in value.items()
            )
        case tuple():
            return isinstance(value, tuple | list) and all(is_like(each, example[0]) for each in value)
        case float():  # or one for each leaf
            each = value.values() if isinstance(value, Mapping) else [value]
            return all(isinstance(it, float | int) and not isinstance(it, bool) for it in each)
        case _:
            return isinstance(value, str)
