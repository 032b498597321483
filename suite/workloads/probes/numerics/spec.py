"""The functions that all dialects write alike, their operands and figures, and the classes.

Errors are relative to NumPy's float64 result for the same operands.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


LENGTH = 67  # odd: vector instructions don't reach the last elements, which are computed one by one
ROWS = {"nan_max": 17, "nan_max_large": 259}  # compilers call libraries only for arrays that are large enough
COLUMNS = 2048
SMALL, TINY = 1e-39, 1e-20
LARGE = 1e10
INT_MIN, INT_MAX = -(2**31), 2**31 - 1


def given(aspect: str, dims: Mapping[str, int]) -> tuple[Array, ...]:
    if aspect.startswith("matmul"):
        random = np.random.default_rng(0)
        return tuple(random.standard_normal((dims["k"], dims["k"]), np.float32) for _ in range(2))
    if aspect == "sum":
        return (np.full(dims["many"], 0.1, np.float32),)
    if aspect in ROWS:
        # The largest values come first: a maximum that starts again after nan loses them.
        rows = np.tile(np.arange(ROWS[aspect], 0, -1, dtype=np.float32), (ROWS[aspect], 1))
        np.fill_diagonal(rows, np.nan)  # nan is at another place in each row
        return (rows,)
    if aspect == "nan_max_columns":
        return (np.stack([np.full(COLUMNS, value, np.float32) for value in (np.nan, 2.0)]),)
    nan, one = (np.full(LENGTH, value, np.float32) for value in (np.nan, 1.0))
    operands: dict[str, tuple[Array, ...]] = {
        "nan_maximum": (np.stack([nan, one]), np.stack([one, nan])),
        "nan_compare": (nan, one),
        "subnormal": (mixed(SMALL, TINY), mixed(1.0, TINY)),
        "overflow": (np.full(LENGTH, 100.0, np.float32),),
        "int_overflow": (np.full(LENGTH, INT_MAX, np.int32),),
        "float_to_int": (mixed(LARGE, -LARGE, np.nan),),
        "divide_by_zero": (mixed(1, -1).astype(np.int32), np.zeros(2 * LENGTH, np.int32)),
    }
    return operands[aspect]


def product(x: Any, y: Any) -> Any:
    return x @ y


def total(x: Any) -> Any:
    return x.sum()


def largest(rows: Any) -> Any:
    return rows.max(axis=1)


def largest_of_columns(rows: Any) -> Any:
    return rows.max(axis=0)


def comparisons(x: Any, y: Any) -> Any:
    return x == y, x != y, x < y, x >= y


def multiplied(x: Any, y: Any) -> Any:
    return x * y


def plus_one(x: Any) -> Any:
    return x + 1


def divided(x: Any, y: Any) -> Any:
    return x // y


FUNCTIONS: dict[str, Callable[..., Any]] = {  # a dialect's file has the others, and what it writes in another way
    "matmul": product,
    "sum": total,
    "nan_max": largest,
    "nan_max_large": largest,
    "nan_max_columns": largest_of_columns,
    "nan_compare": comparisons,
    "subnormal": multiplied,
    "int_overflow": plus_one,
    "divide_by_zero": divided,
}


def observe(recorder: Any, **functions: Callable[..., Any]) -> None:
    """Observes and records every aspect that has a function, the dialect's own by its name or that of `FUNCTIONS`."""
    for aspect in recorder.spec.ASPECTS:
        function = (FUNCTIONS | functions).get(aspect)
        if function is not None:  # else the dialect has recorded why there is none
            observe_aspect(recorder, aspect, function)


def observe_aspect(recorder: Any, aspect: str, function: Callable[..., Any]) -> None:
    stack = recorder.stack
    operands = given(aspect, stack.dims)
    arguments = [stack.put(operand) for operand in operands]
    seen = recorder.watch(lambda: stack.jit(function)(*arguments))
    results = seen.value if isinstance(seen.value, tuple) else (seen.value,)
    values = {} if seen.error else figures(aspect, operands, [stack.fetch(result) for result in results])
    recorder.record(aspect, function, seen, words=spoken(values), seconds=None, **values)


def mixed(*values: float) -> Array:
    """An array in which these values alternate, so that each value is at many places."""
    return np.tile(np.array(values, np.float32), LENGTH)


def figures(aspect: str, operands: Sequence[Array], results: Sequence[Array]) -> dict[str, float | list[float]]:
    if aspect.startswith("matmul"):
        exact = operands[0].astype(np.float64) @ operands[1].astype(np.float64)
        return {"error": float(np.linalg.norm(results[0] - exact) / np.linalg.norm(exact))}
    if aspect == "sum":
        total = operands[0].astype(np.float64).sum()
        return {"error": float(abs(np.float64(results[0]) - total) / total)}
    if aspect.startswith("nan_max"):
        others = largest_of_others(aspect, operands)
        is_nan = np.isnan(results[0])
        return {"nan": float(is_nan.mean()), "lost": float((~is_nan & (results[0] != others)).mean())}
    if aspect == "nan_compare":
        expected = (False, True, False, False)
        return {"right": float(np.mean([result == right for result, right in zip(results, expected, strict=True)]))}
    if aspect == "subnormal":
        survived = results[0].view(np.uint32) != 0  # by bits: a comparison might take subnormal values for 0 itself
        return {"operand": float(survived[0::2].mean()), "result": float(survived[1::2].mean())}
    if aspect == "overflow":
        return {"infinite": float(np.isinf(results[0]).mean())}
    if aspect == "int_overflow":
        return {"value": distinct(results[0])}
    if aspect == "float_to_int":
        names = ("value", "from_minus", "from_nan")
        return {name: distinct(results[0][place::3]) for place, name in enumerate(names)}
    return {name: distinct(results[0][place::2]) for place, name in enumerate(("value", "from_minus"))}


def largest_of_others(aspect: str, operands: Sequence[Array]) -> Array:
    """For each result, the maximum of its operands that aren't nan."""
    if aspect == "nan_maximum":
        return np.fmax(*operands)
    largest: Array = np.nanmax(operands[0], axis=0 if aspect == "nan_max_columns" else 1)
    return largest


def distinct(numbers: Array) -> list[float]:
    return [float(number) for number in np.unique(numbers)]


def spoken(values: Mapping[str, Any]) -> str:
    """The integers as text with all digits, since the page shows figures with three digits."""
    titles = {"value": "", "from_minus": "of the negative ", "from_nan": "of nan "}
    return ", ".join(
        title + " or ".join(f"{int(number):,}" for number in values[name])
        for name, title in titles.items()
        if name in values
    )


def of_product(figures: Mapping[str, Any]) -> str:
    """float32's error is near 1e-7, TF32's near 3e-4 and bfloat16's near 2e-3."""
    return "float32" if figures["error"] < 1e-5 else "tf32 or bfloat16"


def of_product_bf16(figures: Mapping[str, Any]) -> str:
    """With rounded operands and result the error is near 2e-3, with rounded sums of 256 and more terms over 1e-2."""
    if figures["error"] < 1e-4:
        return "float32"
    return "bfloat16" if figures["error"] < 6e-3 else "summed in bfloat16"


def of_sum(figures: Mapping[str, Any]) -> str:
    """Sums of sums have errors of up to 3e-6, for any number of values. Adding value after
    value gave 1e-3 for 10^6 values in eight lanes and 0.09 for 10^7 in one; the least error seen, in many lanes, is
    6e-5."""
    return "pairwise or better" if figures["error"] < 1e-5 else "naive"


def of_nan(figures: Mapping[str, Any]) -> str:
    """By the share of results that are nan or have lost a value."""
    if figures["lost"]:
        return "loses values"
    return {0.0: "ignores", 1.0: "propagates"}.get(float(figures["nan"]), "by its place")


def of_subnormal(figures: Mapping[str, Any]) -> str:
    """By the share of values that didn't become 0."""
    names = {
        (1.0, 1.0): "kept",
        (0.0, 0.0): "flushed to zero",
        (1.0, 0.0): "operands alone are kept",
        (0.0, 1.0): "results alone are kept",
    }
    return names.get((float(figures["operand"]), float(figures["result"])), "in part")


RULES: dict[str, Callable[[Mapping[str, Any]], str]] = {  # each names the errors seen on both sides of its threshold
    "matmul": of_product,
    "matmul_bf16": of_product_bf16,
    "sum": of_sum,
    **dict.fromkeys(("nan_maximum", "nan_max", "nan_max_large", "nan_max_columns"), of_nan),
    "nan_compare": lambda figures: "IEEE 754" if figures["right"] == 1 else "not IEEE 754",
    "subnormal": of_subnormal,
    "overflow": lambda figures: "inf" if figures["infinite"] == 1 else "finite",
}
INTEGERS = {  # {aspect: ({the one integer that came out: class}, class of any other)}
    "int_overflow": ({INT_MAX: "saturates", INT_MIN: "wraps"}, "varies"),
    "float_to_int": ({INT_MAX: "saturates", INT_MIN: "the lowest int32", int(LARGE) % 2**32: "wraps"}, "varies"),
    "divide_by_zero": ({0: "0", -1: "-1", -2: "-2", INT_MAX: "saturates"}, "another value"),
}


def classify(aspect: str, figures: Mapping[str, Any]) -> str:
    if aspect in RULES:
        return RULES[aspect](figures)
    names, other = INTEGERS[aspect]
    return names.get(int(figures["value"][0]), other) if len(figures["value"]) == 1 else other
