"""A step outside the timed loop whose result the gate checks: on values that the stack sees for the first time."""

from __future__ import annotations

from time import perf_counter, process_time
from typing import Any

import numpy as np

from suite.stacks.base import Adapter
from suite.workloads import trees

COPIED = 1e9  # bytes a second, which any machine copies to the host; a timed step's result isn't copied


def take(adapter: Adapter, state: Any, batch: Any) -> tuple[Any, Any, float]:
    """Takes a step. Returns the new state, the result on the host, and the seconds until it was there, less those of
    copying it: on a CPU the processor time of each of its cores, which other processes prolong least. A stack that left
    its work to the first look at a result, or whose timed steps returned results of earlier calls, takes longer here
    than in its timed steps (suite/results/clocks.py)."""
    clock, cores = (process_time, adapter.case.threads) if adapter.case.target == "cpu" else (perf_counter, 1)
    start = clock()
    state, outputs = adapter.step(state, batch)
    adapter.wait(state, outputs)
    result = adapter.results(outputs)
    seconds = (clock() - start) / cores
    copied = sum(np.asarray(leaf).nbytes for _, leaf in trees.leaves(result))
    return state, result, max(0.0, seconds - copied / COPIED)
