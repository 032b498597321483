"""How small p gets where all stacks are equal: processes that differ by chance alone, judged as those of a set are.

The distribution of the smallest p among equal stacks is simulated: the same procedure runs on processes with the
blocks, questions and shared controls of a set. All simulated p of 9,000 ratios are 720 MB, and most are never asked
for. So a reference keeps the moderated variances' prior of each simulated set, and makes the p of a ratio when it is
asked for, from the same random numbers; of a set of many ratios it keeps the small ones.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from suite.results.speedup.moderation import Array, Moderated, Prior, log_variances

UNEQUAL_SPREADS = 0.5  # standard deviation of ln(sd) over the simulated processes: sds of 2 to 10 % have 0.45
DRAWS = 10_000  # simulated sets; 5 % of them is known to +-0.2 %
# Ratios of a set for which all DRAWS are simulated. Sets of more have fewer draws, so that the time of a page stops
# growing; of DRAWS_LEAST draws, 5 % is known to +-0.4 %.
RATIOS, DRAWS_LEAST = 2_000, 2_500
SEED = 20_250_101
SMALL = 0.05  # p that decide something: of sets of many ratios, these alone are kept
MANY = 250  # ratios; all p of fewer are kept, at most 20 MB

# Four numbers for each ratio: its question's, blocks, freedom, controls. Bytes, whose hash Python computes only once.
Shape = bytes
Some = tuple[NDArray[np.intp] | slice, Array]  # (simulated sets, the p of a ratio in them)
EVERY = slice(None)


class Reference:
    """The p of ratios of one shape in simulated sets of equal stacks: DRAWS of them, fewer for very many ratios.

    Each stack, and the control, has its own standard deviation, log-normal over stacks.
    """

    def __init__(self, shape: Shape) -> None:
        """Simulates the sets once, for the prior of each."""
        self.shape: list[list[int]] = np.frombuffer(shape, np.int64).reshape(-1, 4).tolist()
        self.longest = max(blocks for _, blocks, *_ in self.shape)
        self.draws = min(DRAWS, max(DRAWS_LEAST, DRAWS * RATIOS // len(self.shape)))
        self.random = np.random.default_rng(SEED)
        self.states: list[Mapping[str, Any]] = []  # of the generator, before a ratio's own processes
        self.controls: dict[int, tuple[Mapping[str, Any], int]] = {}  # the same before a question's control
        self.at_hand: tuple[int, Array] | None = None  # the control of the question that was asked for last
        self.kept: dict[int, Some] = {}
        self.prior = self.typical()
        self.leasts: dict[int, Array] = {}

    def typical(self) -> Prior:
        """Returns the prior of each simulated set."""
        total, squares, controls = np.zeros(self.draws), np.zeros(self.draws), dict[int, Array]()
        last = {question: ratio for ratio, (question, *_) in enumerate(self.shape)}
        for ratio, (question, blocks, _, processes) in enumerate(self.shape):
            if question not in controls:
                self.controls[question] = self.random.bit_generator.state, processes
                controls[question] = self.control(processes)
            self.states.append(self.random.bit_generator.state)
            logs = log_variances(self.moments(controls[question], blocks)[1], blocks)
            total += logs
            squares += logs * logs
            if last[question] == ratio:
                del controls[question]
        count, blocks_of = len(self.shape), np.array([blocks for _, blocks, *_ in self.shape], float)
        mean = total / count
        return Prior.of(mean, (squares - total * mean) / max(1, count - 1), blocks_of)

    def control(self, processes: int) -> Array:
        """Returns log-times [draws, longest] of the control that the next ratios of a question share."""
        return simulated(self.random, self.draws, self.longest) / math.sqrt(processes)

    def moments(self, control: Array, blocks: int) -> tuple[Array, Array]:
        """Returns mean and variance, in each simulated set, of the next ratio's block log-ratios."""
        logs = control[:, :blocks] - simulated(self.random, self.draws, blocks)
        means = column_sums(logs) / blocks
        logs -= means[:, None]
        logs *= logs
        return means, column_sums(logs) / (blocks - 1)

    def judged(self, ratio: int) -> tuple[Array, Moderated]:
        """Returns the mean log-ratio in each simulated set, and its moderated error."""
        question, blocks, freedom, _ = self.shape[ratio]
        if self.at_hand is None or self.at_hand[0] != question:
            self.random.bit_generator.state, processes = self.controls[question]
            self.at_hand = question, self.control(processes)
        self.random.bit_generator.state = self.states[ratio]
        means, variances = self.moments(self.at_hand[1], blocks)
        return means, self.prior.moderate(variances, blocks, freedom)

    def p(self, ratio: int) -> Array:
        """Returns the p of a ratio in each simulated set."""
        if ratio in self.kept and len(self.shape) <= MANY:
            return self.kept[ratio][1]
        means, errors = self.judged(ratio)
        p = errors.p(means)
        if len(self.shape) <= MANY:
            self.kept[ratio] = EVERY, p
        return p

    def small(self, ratio: int) -> Some:
        """Returns the p of a ratio up to SMALL, of which there may be more."""
        if len(self.shape) <= MANY:
            return EVERY, self.p(ratio)
        if ratio not in self.kept:
            means, errors = self.judged(ratio)
            t = errors.t(means)
            sets = np.flatnonzero(t >= self.least(self.shape[ratio][2]))
            self.kept[ratio] = sets, 2 * special.stdtr(errors.freedoms[sets], -t[sets])
        return self.kept[ratio]

    def least(self, freedom: int) -> Array:
        """Returns, for each simulated set, the t of a ratio of so many degrees of freedom from which on its p is at
        most SMALL, or a hair above."""
        if freedom not in self.leasts:
            priors, which = np.unique(self.prior.freedoms, return_inverse=True)
            self.leasts[freedom] = (-special.stdtrit(priors + freedom, SMALL / 2) * (1 - 1e-9))[which]
        return self.leasts[freedom]


@lru_cache(maxsize=16)
def reference_of(shape: Shape) -> Reference:
    """Returns the reference of a shape; the last ones are kept."""
    return Reference(shape)


def simulated(random: np.random.Generator, draws: int, blocks: int) -> Array:
    """Returns log-times [draws, blocks] of processes whose standard deviation is drawn for each simulated set."""
    drawn = random.standard_normal(draws * (1 + blocks))
    spreads, logs = np.exp(UNEQUAL_SPREADS * drawn[:draws]), drawn[draws:].reshape(draws, blocks)
    logs *= spreads[:, None]
    return logs


def column_sums(logs: Array) -> Array:
    """Returns the sum of each row, column by column: numpy is slow along a short axis."""
    total = logs[:, 0].copy()
    for column in range(1, logs.shape[1]):
        total += logs[:, column]
    return total
