"""The equivalence gate's findings about one case: its errors, and the reasons why it is wrong."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suite.reference.digests import Array, Difference, Digest, difference, digest, equal_where_odd
from suite.reference.tolerances import Tolerance, Tolerances

Tensors = Mapping[str, NDArray[Any]]
WHOLE = "biu"  # kinds of NumPy types that are compared exactly
KINDS = {"b": "true or false", "i": "whole", "u": "whole", "f": "real", "c": "complex"}
REASONS_MAX = 5  # in a row: a wrong norm makes every later tensor wrong


@dataclass
class GateFindings:
    """Collects a case's errors, and the reasons why it is wrong; without reasons the stack is right.

    `worst` is the largest relative error. `digests` are those of tensors without a reference, which are compared with
    those of other stacks later. `compared` is false if the whole case has no reference. `unstable` are the reasons that
    stressed weights give against a framework's own norm that is known to be unstable: they don't make the case wrong,
    but its row is flagged. `wider` are functions that have computed in a wider type than their inputs have. `odd` says
    that the reference has values that are NaN or infinite. `fresh_seconds` are those of steps on values that the
    stack saw for the first time. `kinks` are figures of parameters at which the gradient jumps (`kinks.find`). `draws`
    says that two calls with the same inputs gave different results. `no_float64` is why a model's reference can't be
    computed.
    """

    tolerances: Tolerances
    worst: float = 0.0
    reasons: list[str] = field(default_factory=list)
    digests: dict[str, Digest] = field(default_factory=dict)
    compared: bool = True
    unstable: list[str] = field(default_factory=list)
    wider: list[str] = field(default_factory=list)
    odd: bool = False
    fresh_seconds: list[float] = field(default_factory=list)
    kinks: dict[str, list[float]] = field(default_factory=dict)
    draws: bool = False
    no_float64: str = ""

    @property
    def reason(self) -> str:
        more = len(self.reasons) - REASONS_MAX
        return "; ".join(self.reasons[:REASONS_MAX]) + (f"; and {more} more" if more > 0 else "")

    def compare(self, key: str, what: str, actual: Any, expected: Any) -> None:
        """Compares a tensor with its reference by the tolerance of `key`; without a reference (None), keeps its
        digest."""
        if expected is None:
            self.digests[key] = digest(np.asarray(actual), key)
        else:
            self.hold(key, what, actual, expected)

    def hold(self, key: str, what: str, actual: Any, expected: Any) -> None:
        """Compares a tensor, or its digest, with the expected one by the tolerance of `key`."""
        if isinstance(actual, Digest) or isinstance(expected, Digest):
            self.judge(what, difference(actual, expected, key), self.tolerances.of(key))
        elif self.same_kind(what, actual, expected) and self.same_shape(what, actual, expected):
            expected = self.in_range(actual, expected)
            exact = np.asarray(expected).dtype.kind in WHOLE
            limit = Tolerance(0.0) if exact else self.tolerances.of(key)
            measured = difference(actual, expected, key)
            if exact and measured.error == 0.0 and not np.array_equal(actual, expected):
                measured = Difference(2.0**-53, 1.0)  # they differ in bits that float64 doesn't have
            by = self.arithmetic(expected)
            where = f" ({worst_place(actual, expected)}{by})" if limit.broken(measured) else ""
            self.judge(what, measured, limit, where=where)

    def in_range(self, actual: Any, expected: Any) -> Any:
        """Returns a reference with infinities where the result's own type, a narrower one, can't hold its values."""
        held, right = np.asarray(actual), np.asarray(expected)
        if held.dtype.kind != "f" or right.dtype.kind != "f" or held.dtype.itemsize >= right.dtype.itemsize:
            return expected
        with np.errstate(over="ignore"):
            narrow = right.astype(held.dtype)
        over = np.isinf(narrow) & np.isfinite(right)
        self.odd |= bool(over.any())
        return np.where(over, narrow.astype(right.dtype), right) if over.any() else expected

    def arithmetic(self, expected: Any) -> str:
        """Returns in which type a reference ended, and that it didn't round where the inputs are coarser."""
        kind = np.asarray(expected).dtype
        coarse = sorted({"bfloat16", "float16"} & {*self.tolerances.types.values()}) if kind == np.float64 else []
        rounds = f" that doesn't round to {coarse[0]} on the way" if coarse else ""
        return f", by a reference in {kind}{rounds}" if kind.kind in "fc" else ""

    def hold_all(self, what: str, actual: Tensors, expected: Mapping[str, Any]) -> None:
        """Compares named results with the expected ones. `what` has {} for a result's name."""
        if self.same_names(what.format("results"), actual, expected):
            for name, value in actual.items():
                self.hold(name, what.format(name), value, expected[name])

    def judge(
        self, what: str, measured: Difference, tolerance: Tolerance, counts: bool = True, where: str = ""
    ) -> None:
        """Adds a reason if a difference is over its tolerance, with words for `where` it is. Without `counts`, only
        such a difference changes `worst`."""
        broken = tolerance.broken(measured)
        if broken:
            self.reasons.append(f"{what}: {broken}{where}")
        if counts or broken:
            self.worst = max(self.worst, measured.error) if np.isfinite(measured.error) else float("inf")

    def count_odd(self, what: str, expected: Any, may_be_all: bool) -> None:
        """Notes values of a reference, or of a result without one, that are NaN or infinite, and adds a reason if all
        are, unless they may be."""
        if isinstance(expected, Digest) or not np.size(expected) or np.asarray(expected).dtype.kind not in "fc":
            return
        finite = np.isfinite(expected)
        self.odd |= not finite.all()
        if not finite.any() and not may_be_all:
            self.refuse(f"{what}: the reference isn't finite, all of its {finite.size:,} values are NaN or infinite")

    def relative(self, what: str, actual: Any, expected: Any) -> None:
        """Requires ||actual - expected|| <= tolerance of outputs ||expected||."""
        if self.same_shape(what, actual, expected):
            self.judge(what, difference(actual, expected, what), Tolerance(self.tolerances.plain))

    def absolute(self, what: str, actual: Any, expected: Any, tolerance: float) -> None:
        """Requires |actual - expected| <= tolerance of every element; NaN fails."""
        actual, expected = np.asarray(actual, np.float64), np.asarray(expected, np.float64)
        if not self.same_shape(what, actual, expected):
            return
        error = float(np.max(np.abs(actual - expected), initial=0.0))
        if not error <= tolerance:
            self.reasons.append(f"{what}: absolute error {error:.2g} over the tolerance {tolerance:.0e}")

    def same_names(self, what: str, actual: Tensors, expected: Iterable[str]) -> bool:
        """Requires exactly the expected names of tensors. Returns whether they are there."""
        have, wanted = sorted(actual), sorted(expected)
        return self.require(have == wanted, f"{what}: has {have}, the reference has {wanted}")

    def same_kind(self, what: str, actual: Array, expected: Array) -> bool:
        """Requires the expected kind of numbers: whole, truth values, real or complex. Returns whether it is right."""
        kind, wanted = kind_of(actual), kind_of(expected)
        return self.require(kind == wanted, f"{what} has {kind} values, the reference has {wanted} ones")

    def same_shape(self, what: str, actual: Array, expected: Array) -> bool:
        """Requires the expected shape, since broadcasting would compare other elements. Returns whether it is right."""
        shape, wanted = np.shape(actual), np.shape(expected)
        return self.require(shape == wanted, f"{what} has shape {shape}, the reference has {wanted}")

    def require(self, is_so: bool, reason: str) -> bool:
        if not is_so:
            self.refuse(reason)
        return is_so

    def refuse(self, reason: str) -> None:
        """Adds a reason whose error isn't a finite number."""
        self.worst = float("inf")
        self.reasons.append(reason)


def kind_of(value: Any) -> str:
    return KINDS.get(np.asarray(value).dtype.kind, "other")


def worst_place(actual: Any, expected: Any) -> str:
    a, r = equal_where_odd(np.asarray(actual), np.asarray(expected))
    apart = np.abs(a - r)
    place = int(np.argmax(np.where(np.isnan(apart), np.inf, apart)))
    index = ", ".join(map(str, np.unravel_index(place, np.shape(expected))))
    values = (np.asarray(side).reshape(-1)[place] for side in (actual, expected))
    return "at [{}] {:.6g} in place of {:.6g}".format(
        index, *(value if value.dtype.kind != "b" else int(value) for value in values)
    )
