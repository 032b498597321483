"""async_dispatch: does a call return before its work is done?

The call is a matrix product; each call takes the result of the one before. The matrices' size is doubled from `n` until
a call, with waiting for its result, takes more than a millisecond: far more than any framework's dispatch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean, median
from typing import Any

TITLE = "Whether a call returns before its work is done"
SIZES = {"tiny": {"n": 512}, "quick": {"n": 1024}}
PASSES = ("forward",)

CALLS = 128  # submitted without waiting
WINDOW = 8  # calls; their mean tells a full queue from one call whose thread had to wait for a core

ASPECTS = {
    "dispatch": "one call: until it returns, until its result is there",
    "depth": f"{CALLS} calls without waiting: the first that blocks",
    "forgotten": "what a benchmark that forgets to wait reports",
}
FIGURES = {
    "seconds": ("s", "a call, until it returns"),
    "completed_seconds": ("s", "a call, until its result is computed"),
    "share": ("1", "the time until the call returns, as a share of the time until its result is computed"),
    "n": ("count", "rows and columns of the matrices"),
    "dispatch_seconds": ("s", "each of the calls without waiting, until it returns"),
    "depth": ("count", "the number of the first call without waiting that took at least half of a call's work"),
    "reported_seconds": ("s", "the mean of ten calls in a loop that waits for nothing"),
    "factor": ("1", "how many times too short that mean is"),
}
CLASSES = {
    "asynchronous": "the call returns far before its result is computed",
    "synchronous": "the call returns when its result is computed",
    "blocks at a depth": "calls return at once until a number of them wait to be computed; then each call blocks",
    f"never blocked in {CALLS} calls": "each call returned at once",
    "honest": "without waiting, a benchmark reports the same time as with waiting",
    "flatters": "without waiting, a benchmark reports a time that is several times too short",
}

JAX_ASYNC = "https://docs.jax.dev/en/latest/async_dispatch.html"
XLA_TRACING = "https://docs.pytorch.org/xla/release/r2.8/learn/trace-vs-execution-time.html"
THE_PRIMER = "https://sineeli.github.io/2025/12/20/jax-series-1"


def blocked_at(dispatched: Sequence[float], call: float) -> int | None:
    """Returns the number, from 1, of the first call that blocked though nothing waited for its result: it and the calls
    after it, on average, took at least half as long as a call's work. None if no call blocked. A single long call
    doesn't count: another process may have caused it."""
    for place in range(len(dispatched) - WINDOW + 1):
        following = dispatched[place : place + WINDOW]
        if min(following[0], fmean(following)) >= call / 2:
            return place + 1
    return None


def classify(aspect: str, figures: Mapping[str, Any]) -> str:
    """Returns the class, by time alone. The limits are far from all that was seen: a dispatch took all of a call's time
    or a few percent of it."""
    completed = median(figures["completed_seconds"])
    if aspect == "dispatch":
        return "asynchronous" if median(figures["seconds"]) < completed / 3 else "synchronous"
    if aspect == "forgotten":
        return "flatters" if median(figures["reported_seconds"]) < completed / 3 else "honest"
    depth = blocked_at(figures["dispatch_seconds"], completed)
    if depth is None:
        return f"never blocked in {CALLS} calls"
    return "synchronous" if depth == 1 else "blocks at a depth"


DOCUMENTED = {
    "dispatch": {
        "jax_eager": ("asynchronous", JAX_ASYNC),
        "jax_jit": ("asynchronous", JAX_ASYNC),
        "torch_xla": ("asynchronous", XLA_TRACING),
    },
    "forgotten": {
        "jax_eager": ("flatters", JAX_ASYNC),
        "jax_jit": ("flatters", JAX_ASYNC),
        "torch_xla": ("flatters", XLA_TRACING),
    },
}
PRIMER = {
    "dispatch": {
        "jax_eager": ("asynchronous", THE_PRIMER),
        "torch_eager": ("synchronous", THE_PRIMER),
        "tf_eager": ("synchronous", THE_PRIMER),
    }
}
