"""The questions of the sweep: expressions of x and y, their types, the values that are drawn, and when two answers are
the same."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

Array = NDArray[Any]
Pairs = list[tuple[Any, Any]]
COPIES = 64  # elements of an argument: enough for every compiler's vectors
WHOLE = ("int8", "int16", "int32", "uint8")
FLOAT = ("float32",)
SMALL = float(np.finfo(np.float32).tiny)  # what is smaller may be flushed to zero, which no framework rules out
# What is said of the right answer.
IEEE, EXACT = "IEEE 754", "exact: NumPy, Python and PyTorch define it by the remainder, which is exact"
WRAPS = "wraps, by the documentation of NumPy, XLA and PyTorch"
UNDEFINED = "undefined: C leaves it open"
OPEN = "undefined in C; NumPy and XLA define it"


@dataclass(frozen=True, slots=True)
class Family:
    """Expressions of one kind. `right` says who defines the answer. Answers are the same within `relative` of their
    size, `of_y` of y's, or `absolute`."""

    name: str
    right: str
    types: tuple[str, ...]
    expressions: tuple[str, ...]
    relative: float = 0.0
    of_y: float = 0.0
    absolute: float = 0.0  # where a function near 1 is undone
    shifts: bool = False  # y is a number of bits


FAMILIES = (
    Family("float division", EXACT, FLOAT, (
        "floor_divide(x, y)", "x // y", "divmod(x, y)[0]", "x // 0.1", "floor_divide(x, 0.1)",
    )),
    Family("float remainder", EXACT, FLOAT, (
        "remainder(x, y)", "x % y", "fmod(x, y)", "divmod(x, y)[1]", "x % 0.1",
        "floor_divide(x, y) * y + remainder(x, y)",
    ), relative=1e-4, of_y=1e-5),
    Family("algebra", IEEE, FLOAT, (
        "sqrt(x * x)", "sqrt(square(x))", "square(sqrt(x))", "log(exp(x))", "exp(log(x))", "x - x", "x / x", "0 * x",
        "x * 0 + 1", "x + y - x", "(x + y) - y", "x * y / y", "x / y * y", "1 / (1 / x)", "log(x * y)", "log(x / y)",
        "exp(x) * exp(y)", "exp(x) / exp(y)", "sqrt(x) * sqrt(y)", "x * 1e30 * 1e30", "x * 1e30 / 1e30",
        "abs(x * y)", "abs(x) * sign(x)", "log(square(x))", "square(x) / x",
    ), relative=1e-4, of_y=1e-6, absolute=3e-7),
    Family("comparison", IEEE, FLOAT, (
        "x == x", "x - x == 0", "(x < y) | (x >= y)", "x * 0 == 0", "maximum(x, y)", "minimum(x, y)",
        "where(x > y, x, y)", "where(x == x, x, 0 * x + 7)", "x + 1 > x", "sign(x)", "square(x) >= 0", "abs(x) >= 0",
        "sqrt(square(x)) == abs(x)",
    )),
    Family("rounding", IEEE, FLOAT, (
        "round(x)", "floor(x)", "ceil(x)", "trunc(x)", "floor(x + 0.5)", "round(x * 0.5)", "-floor(-x)",
        "floor(x / y)", "x - floor(x)", "cast(cast(x, 'float16'), 'float32')",
    )),
    Family("cast to whole numbers", UNDEFINED, FLOAT, (
        "cast(x, 'int32')", "cast(x, 'int16')", "cast(x, 'int8')", "cast(x, 'uint8')", "cast(floor(x), 'int32')",
        "cast(cast(x, 'int32'), 'float32')",
    )),
    Family("wrap-around", WRAPS, WHOLE, (
        "abs(x)", "abs(x * x)", "where(x * x < 0, -(x * x), x * x)", "where(x * x < 0, abs(x * x), x * x)",
        "x * x >= 0", "sign(x * x)", "x + 1 > x", "x - 1 < x", "x * 2 // 2", "(x + y) - y", "(x + y) // 2", "-x",
        "abs(-x)", "abs(x) < 0", "abs(abs(x)) >= 0", "maximum(x + 1, x)", "minimum(x - 1, x)", "x - y < 0",
        "abs(x - y)", "where(x > y, x - y, y - x)", "maximum(x * y, 0 * x)", "cast(x * y, 'int32')",
        "cast(x + y, 'float32')", "cast(cast(x * y, 'float32'), 'int32')", "cast(x, 'int8')",
        "cast(x, 'uint8')", "x * 3 % 3", "sign(x) * abs(x)", "square(x)", "x + x > x",
    )),
    Family("division of whole numbers", WRAPS, WHOLE, (
        "floor_divide(x, y)", "x // y", "remainder(x, y)", "x % y", "fmod(x, y)", "x * y // y", "x // 3", "x % 3",
        "x // -1", "x // y * y + x % y", "abs(x // y)", "abs(x % y)", "x % y >= 0",
    )),
    Family("shifts", OPEN, WHOLE, (
        "left_shift(x, y)", "right_shift(x, y)", "right_shift(left_shift(x, y), y)", "left_shift(x, y) // 2",
        "right_shift(x * x, y)",
    ), shifts=True),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Question:
    """One expression in one type."""

    family: Family
    text: str
    dtype: str

    @property
    def pairs(self) -> st.SearchStrategy[Pairs]:
        """Draws values of x and y, from one pair on."""
        if self.dtype == "float32":
            one = floats(self.family)
        else:
            whole = np.iinfo(self.dtype)
            values = st.integers(int(whole.min), int(whole.max))
            width = 8 * np.dtype(self.dtype).itemsize
            one = st.tuples(values, st.integers(0, 2 * width) if self.family.shifts else values.filter(bool))
        return st.lists(one, min_size=1, max_size=16)

    def arguments(self, pairs: Pairs) -> tuple[Array, Array]:
        """Returns x and y, each of COPIES elements: the pairs, again and again."""
        repeated = (pairs * COPIES)[:COPIES]
        x, y = (np.array([pair[side] for pair in repeated], self.dtype) for side in (0, 1))
        return x, y

    def right(self, x: Array, y: Array) -> Array:
        """Returns NumPy's answer in the declared type."""
        with np.errstate(all="ignore"):
            return np.asarray(eval(self.text, {**NUMPY, "x": x, "y": y}))  # of the table above

    def same(self, found: Array, wanted: Array, y: Array) -> NDArray[np.bool_]:
        """Returns where two answers are the same. Zeros of either sign are, and NaN is NaN."""
        if {found.dtype.kind, wanted.dtype.kind} - {"f"}:
            return np.equal(found.astype(np.float64), wanted.astype(np.float64))
        ours, right = (np.where(np.abs(side) < SMALL, 0.0, side.astype(np.float64)) for side in (found, wanted))
        with np.errstate(invalid="ignore"):
            of_y = self.family.of_y * np.where(np.isfinite(y), np.abs(y), 0.0)
            limit = self.family.relative * np.abs(right) + of_y + self.family.absolute
            near = np.abs(ours - right) <= limit
        near &= np.isfinite(ours) & np.isfinite(right)
        return np.asarray((ours == right) | (np.isnan(ours) & np.isnan(right)) | near)


def floats(family: Family) -> st.SearchStrategy[tuple[float, float]]:
    """Draws pairs: any, both special, and for a division x near a multiple of y."""
    special = st.sampled_from([0.0, 1.0, -1.0, 0.5, 2.5, np.inf, -np.inf, np.nan, 3e38, -3e38, 1e30, 1e-30, 2.0**31])
    plain = st.floats(width=32, allow_subnormal=False)
    value = special | plain | st.floats(-128, 512, width=32)
    pair = st.tuples(value, value)
    if "division" in family.name or "remainder" in family.name:
        divisor = st.sampled_from([0.1, 0.2, 0.3, 0.7, 3.0, 10.0, -0.1]) | st.floats(0.0078125, 128, width=32)
        multiple = st.builds(lambda k, y: (float(np.float32(k) * np.float32(y)), y), st.integers(-1000, 1000), divisor)
        pair = st.tuples(st.floats(-1e6, 1e6, width=32), divisor) | multiple  # else x / y overflows, or y is 0
    return pair.filter(is_normal)


def is_normal(pair: tuple[float, float]) -> bool:
    """Whether nothing that the expressions compute of a pair is subnormal."""
    x, y = np.float32(pair[0]), np.float32(pair[1])
    with np.errstate(all="ignore"):
        made = np.array([x, y, x * x, y * y, x * y, x / y, 1 / x, np.exp(x), np.exp(y), x * np.float32(0.5)])
    return not ((made != 0) & (np.abs(made) < SMALL)).any()


def questions() -> list[Question]:
    every = [
        Question(family, text, dtype) for family in FAMILIES for dtype in family.types for text in family.expressions
    ]
    return [question for question in every if not (question.dtype == "uint8" and "-1" in question.text)]  # it has no -1


def cast(x: Array, dtype: str) -> Array:
    return x.astype(dtype)


NAMES = ("floor_divide", "remainder", "fmod", "divmod", "sqrt", "square", "exp", "log", "abs", "sign", "where",
         "maximum", "minimum", "floor", "ceil", "trunc", "left_shift", "right_shift", "round")  # fmt: skip
NUMPY: dict[str, Callable[..., Any]] = {**{name: getattr(np, name) for name in NAMES}, "cast": cast}
