"""Weight decay that steps lack. It is too small to show in a tensor's whole movement, but it points along the weights;
other differences point in no particular direction, such as those of AdamW where rounding has turned a gradient's
sign."""

from __future__ import annotations

import math
from dataclasses import dataclass

from suite.reference.digests import Array


@dataclass(slots=True)
class LackingDecay:
    """Sums over weights, from which follows the part of the decay that they lack. `share` is the part of itself that
    weight decay takes from a weight."""

    share: float
    along: float = 0.0  # <difference, weights>
    apart: float = 0.0  # squares of the difference
    squares: float = 0.0  # of the weights
    figures: int = 0

    def add(self, weights: Array, difference: Array) -> None:
        """Adds weights, and what is too much in them after the steps."""
        self.along += float(difference @ weights)
        self.apart += float(difference @ difference)
        self.squares += float(weights @ weights)
        self.figures += weights.size

    @property
    def lost(self) -> float | None:
        """Returns the part of themselves that the weights should have lost and didn't; None up to 0.3 of the decay and
        six standard deviations."""
        if not self.squares:
            return None
        lacking = self.along / self.squares
        allowed = 0.3 * self.share + 6.0 * math.sqrt(self.apart / self.figures / self.squares)
        return None if abs(lacking) <= allowed else lacking
