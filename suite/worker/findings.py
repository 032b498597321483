"""What the gate has found about one case: errors held to their tolerances, and why it is wrong, if it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suite.reference.expected import Digest, digest

Tensors = Mapping[str, NDArray[Any]]
REASONS_MAX = 5  # that a row tells: a wrong norm is wrong in every tensor behind it


@dataclass
class Findings:
    """Collects errors; `reasons` is empty for an equal stack."""

    tolerance: float
    worst: float = 0.0
    reasons: list[str] = field(default_factory=list)
    digests: dict[str, tuple[float, float]] = field(default_factory=dict)
    compared: bool = True  # with something beyond this process

    @property
    def reason(self) -> str:
        """What is wrong, for a row."""
        more = len(self.reasons) - REASONS_MAX
        return "; ".join(self.reasons[:REASONS_MAX]) + (f"; and {more} more" if more > 0 else "")

    def relative(self, what: str, actual: Any, expected: Any, tolerance: float | None = None) -> None:
        """Ask ||actual - expected|| <= tolerance ||expected||; NaN fails. A digest asks it of its two figures."""
        if isinstance(expected, Digest):
            ours = digest(np.asarray(actual), what)
            pairs = ((ours.norm, expected.norm), (ours.projection, expected.projection))
            error = max(abs(a - b) for a, b in pairs) / (expected.norm or 1.0)
            self.judge(what, error, tolerance)
            return
        actual, expected = np.asarray(actual, np.float64), np.asarray(expected, np.float64)
        if not self.same_shape(what, actual, expected):
            return
        norm = float(np.linalg.norm(expected.ravel()))
        self.judge(what, float(np.linalg.norm((actual - expected).ravel())) / (norm or 1.0), tolerance)

    def judge(self, what: str, error: float, tolerance: float | None = None) -> None:
        """Hold a relative error to a tolerance, the gate's if none is given."""
        allowed = self.tolerance if tolerance is None else tolerance
        self.worst = max(self.worst, error) if np.isfinite(error) else float("inf")
        if not error <= allowed:
            self.reasons.append(f"{what}: relative error {error:.2g} over the tolerance {allowed:.0e}")

    def absolute(self, what: str, actual: Any, expected: Any, tolerance: float) -> None:
        """Ask every |actual - expected| <= tolerance; NaN fails."""
        actual, expected = np.asarray(actual, np.float64), np.asarray(expected, np.float64)
        if not self.same_shape(what, actual, expected):
            return
        error = float(np.max(np.abs(actual - expected), initial=0.0))
        if not error <= tolerance:
            self.reasons.append(f"{what}: absolute error {error:.2g} over the tolerance {tolerance:.0e}")

    def compare(self, key: str, what: str, actual: Any, expected: Any, tolerance: float | None = None) -> None:
        """Ask for what is expected; where nothing is, keep the digest for a comparison of stacks."""
        if expected is None:
            ours = digest(np.asarray(actual), key)
            self.digests[key] = (ours.norm, ours.projection)
        else:
            self.relative(what if not isinstance(expected, Digest) else key, actual, expected, tolerance)

    def same_names(self, what: str, actual: Tensors, expected: Iterable[str]) -> bool:
        """Ask for exactly the expected tensors."""
        if set(actual) == set(expected):
            return True
        self.refuse(f"{what}: has {sorted(actual)}, the reference {sorted(expected)}")
        return False

    def same_shape(self, what: str, actual: NDArray[Any], expected: NDArray[Any]) -> bool:
        """Ask for the expected shape: broadcasting would compare something else."""
        if actual.shape == expected.shape:
            return True
        self.refuse(f"{what} has shape {actual.shape}, the reference {expected.shape}")
        return False

    def refuse(self, reason: str) -> None:
        """An answer that can't be compared at all: no finite error describes it."""
        self.worst = float("inf")
        self.reasons.append(reason)
