"""What the gate has found about one case: errors held to their tolerances, and why it is wrong, if it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suite.reference.digests import Array, Difference, Digest, difference, digest
from suite.reference.tolerances import Limit, Tolerances

Tensors = Mapping[str, NDArray[Any]]
REASONS_MAX = 5  # that a row tells: a wrong norm is wrong in every tensor behind it


@dataclass
class Findings:
    """Collects errors; `reasons` is empty for an equal stack. `digests` are of what nothing was there for."""

    tolerances: Tolerances
    worst: float = 0.0
    reasons: list[str] = field(default_factory=list)
    digests: dict[str, Digest] = field(default_factory=dict)
    compared: bool = True  # with something beyond this process

    @property
    def reason(self) -> str:
        """What is wrong, for a row."""
        more = len(self.reasons) - REASONS_MAX
        return "; ".join(self.reasons[:REASONS_MAX]) + (f"; and {more} more" if more > 0 else "")

    def compare(self, key: str, what: str, actual: Any, expected: Any) -> None:
        """Hold a tensor to what is expected, by the limit for `key`; where nothing is, its digest is kept."""
        if expected is None:
            self.digests[key] = digest(np.asarray(actual), key)
        else:
            self.hold(key, what, actual, expected)

    def hold(self, key: str, what: str, actual: Any, expected: Any) -> None:
        """Ask for the limit of `key` between two tensors, or their digests."""
        if isinstance(actual, Digest) or isinstance(expected, Digest) or self.same_shape(what, actual, expected):
            self.judge(what, difference(actual, expected, key), self.tolerances.of(key))

    def judge(self, what: str, found: Difference, limit: Limit, counts: bool = True) -> None:
        """Hold a difference to a limit. It counts for the row's `relative_error`, or only if it breaks the limit."""
        broken = limit.broken(found)
        if broken:
            self.reasons.append(f"{what}: {broken}")
        if counts or broken:
            self.worst = max(self.worst, found.error) if np.isfinite(found.error) else float("inf")

    def relative(self, what: str, actual: Any, expected: Any, tolerance: float | None = None) -> None:
        """Ask ||actual - expected|| <= tolerance ||expected||, the tolerance of outputs if none is given."""
        if self.same_shape(what, actual, expected):
            allowed = self.tolerances.plain if tolerance is None else tolerance
            self.judge(what, difference(actual, expected, what), Limit(allowed))

    def absolute(self, what: str, actual: Any, expected: Any, tolerance: float) -> None:
        """Ask every |actual - expected| <= tolerance; NaN fails."""
        actual, expected = np.asarray(actual, np.float64), np.asarray(expected, np.float64)
        if not self.same_shape(what, actual, expected):
            return
        error = float(np.max(np.abs(actual - expected), initial=0.0))
        if not error <= tolerance:
            self.reasons.append(f"{what}: absolute error {error:.2g} over the tolerance {tolerance:.0e}")

    def same_names(self, what: str, actual: Tensors, expected: Iterable[str]) -> bool:
        """Ask for exactly the expected tensors."""
        if set(actual) == set(expected):
            return True
        self.refuse(f"{what}: has {sorted(actual)}, the reference {sorted(expected)}")
        return False

    def same_shape(self, what: str, actual: Array, expected: Array) -> bool:
        """Ask for the expected shape: broadcasting would compare something else."""
        shapes = np.shape(actual), np.shape(expected)
        if shapes[0] == shapes[1]:
            return True
        self.refuse(f"{what} has shape {shapes[0]}, the reference {shapes[1]}")
        return False

    def refuse(self, reason: str) -> None:
        """An answer that can't be compared at all: no finite error describes it."""
        self.worst = float("inf")
        self.reasons.append(reason)
