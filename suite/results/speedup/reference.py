"""Simulates how small p gets if all stacks are equal and their processes differ by chance alone.

The procedure that judges a set also judges simulated sets, with the set's blocks, questions and shared controls. All
simulated p of 9,000 ratios would take 720 MB, and most of them are never used. So a reference keeps the prior of each
simulated set. It computes the p of a ratio when they are needed, from the same random numbers again; if the set has
many ratios, it keeps only the small p.
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
DRAWS = 10_000  # simulated sets; with so many, a share of 5 % is known to +-0.2 %
# A set of more than RATIOS ratios has fewer draws, so that the time of a page stops growing, but never fewer than
# DRAWS_LEAST; with these, a share of 5 % is known to +-0.4 %.
RATIOS, DRAWS_LEAST = 2_000, 2_500
SEED = 20_250_101
SMALL = 0.05  # a greater p decides nothing, so that sets of many ratios don't keep it
MANY = 250  # of a set with at most so many ratios, all p are kept: at most 20 MB

# Four numbers for each ratio: question, blocks, freedom, controls. As bytes, whose hash Python computes only once.
Shape = bytes
SomeP = tuple[NDArray[np.intp] | slice, Array]  # (simulated sets, the p of a ratio in these sets)
EVERY = slice(None)


class Reference:
    """The p of a set's ratios in simulated sets of equal stacks: DRAWS sets, or fewer if there are very many ratios.

    Each stack, and the control, has its own standard deviation, which is log-normal over stacks.
    """

    def __init__(self, shape: Shape) -> None:
        """Simulates all sets once, to compute the prior of each."""
        self.shape: list[list[int]] = np.frombuffer(shape, np.int64).reshape(-1, 4).tolist()
        self.longest = max(blocks for _, blocks, *_ in self.shape)
        self.draws = min(DRAWS, max(DRAWS_LEAST, DRAWS * RATIOS // len(self.shape)))
        self.random = np.random.default_rng(SEED)
        self.states: list[Mapping[str, Any]] = []  # of the generator, before it makes each ratio's processes
        self.controls: dict[int, tuple[Mapping[str, Any], int]] = {}  # {question: (state before it, its processes)}
        self.last_control: tuple[int, Array] | None = None  # (question, its control) that was used last
        self.kept: dict[int, SomeP] = {}
        self.prior = self.typical()
        self.leasts: dict[int, Array] = {}

    def typical(self) -> Prior:
        """Returns the prior of each simulated set; keeps the generator's states, to make the same sets again."""
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
        """Returns log-times [draws, longest] of a question's control, which the next ratios share: the mean of so many
        processes."""
        return simulated(self.random, self.draws, self.longest) / math.sqrt(processes)

    def moments(self, control: Array, blocks: int) -> tuple[Array, Array]:
        """Returns mean and variance, in each simulated set, of the next ratio's block log-ratios."""
        logs = control[:, :blocks] - simulated(self.random, self.draws, blocks)
        means = column_sums(logs) / blocks
        logs -= means[:, None]
        logs *= logs
        return means, column_sums(logs) / (blocks - 1)

    def judged(self, ratio: int) -> tuple[Array, Moderated]:
        """Returns the mean log-ratio of a ratio in each simulated set, and its moderated error."""
        question, blocks, freedom, _ = self.shape[ratio]
        if self.last_control is None or self.last_control[0] != question:
            self.random.bit_generator.state, processes = self.controls[question]
            self.last_control = question, self.control(processes)
        self.random.bit_generator.state = self.states[ratio]
        means, variances = self.moments(self.last_control[1], blocks)
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

    def small(self, ratio: int) -> SomeP:
        """Returns all p of a ratio up to SMALL, with their simulated sets; some greater p may be among them."""
        if len(self.shape) <= MANY:
            return EVERY, self.p(ratio)
        if ratio not in self.kept:
            means, errors = self.judged(ratio)
            t = errors.t(means)
            sets = np.flatnonzero(t >= self.least(self.shape[ratio][2]))
            self.kept[ratio] = sets, 2 * special.stdtr(errors.freedoms[sets], -t[sets])
        return self.kept[ratio]

    def least(self, freedom: int) -> Array:
        """Returns, for each simulated set, the least t at which a ratio with `freedom` degrees of freedom has a p of at
        most SMALL, or a hair more."""
        if freedom not in self.leasts:
            priors, which = np.unique(self.prior.freedoms, return_inverse=True)
            self.leasts[freedom] = (-special.stdtrit(priors + freedom, SMALL / 2) * (1 - 1e-9))[which]
        return self.leasts[freedom]


@lru_cache(maxsize=16)
def reference_of(shape: Shape) -> Reference:
    """Returns the reference of a shape; caches the last 16."""
    return Reference(shape)


def simulated(random: np.random.Generator, draws: int, blocks: int) -> Array:
    """Returns log-times [draws, blocks] of processes whose standard deviation is drawn for each simulated set."""
    drawn = random.standard_normal(draws * (1 + blocks))
    spreads, logs = np.exp(UNEQUAL_SPREADS * drawn[:draws]), drawn[draws:].reshape(draws, blocks)
    logs *= spreads[:, None]
    return logs


def column_sums(logs: Array) -> Array:
    """Returns the sum of each row, added column by column, because numpy is slow along a short axis."""
    total = logs[:, 0].copy()
    for column in range(1, logs.shape[1]):
        total += logs[:, column]
    return total
