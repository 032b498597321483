"""Which dims a dialect's model is made with: those that it names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from suite.stacks.base import taken

DIMS = {"ids": 5, "rows": 7, "width": 3}


def names_two(self: Any, rows: int, width: int) -> None: ...
def names_one_by_keyword(self: Any, *, width: int, bias: bool = True) -> None: ...
def names_one_and_takes_the_rest(self: Any, rows: int, **others: int) -> None: ...
def takes_all(self: Any, **dims: int) -> None: ...
def names_none(self: Any) -> None: ...
def of_a_framework(self: Any, *args: Any, **kwargs: Any) -> None: ...


@pytest.mark.parametrize(
    ("function", "given"),
    [
        (names_two, {"rows": 7, "width": 3}),
        (names_one_by_keyword, {"width": 3}),
        (names_one_and_takes_the_rest, DIMS),
        (takes_all, DIMS),
        (names_none, {}),
        (of_a_framework, {}),
    ],
)
def test_a_model_gets_the_dims_that_it_names(function: Callable[..., None], given: dict[str, int]) -> None:
    assert taken(function, DIMS) == given
