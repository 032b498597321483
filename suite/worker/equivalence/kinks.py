"""Kinks: elements at which a function's gradient jumps, as that of max(x, 0) does at 0, or of a maximum at a tie. There
each framework has a convention of its own. The gradient is taken again beside the inputs, at two distances: what
changes as much at the smaller one has jumped."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from suite.reference.digests import Array, digest
from suite.stacks.base import Adapter
from suite.worker.data import Data
from suite.workloads.tensors import random_words

DISTANCES = (2.0**-12, 2.0**-16)  # from a tensor's values, as parts of their usual magnitude
LEAST = 4e-6  # of the largest gradient: a smaller change is rounding


def find(adapter: Adapter, data: Data, gradients: dict[str, Array]) -> dict[str, list[float]]:
    """Returns for each parameter with kinks how many of its elements lie at one, how many it has, the place of the
    first among them and its value, and then the digest of the gradient without them (zeros in their place)."""
    real = {name: np.array(gradient) for name, gradient in gradients.items() if gradient.dtype.kind == "f"}
    changes = []
    for distance in DISTANCES:
        seen = [real, *(taken(adapter, data, side * distance) for side in (1, -1))]
        changes.append({name: np.ptp([each[name] for each in seen], axis=0) for name in real})
    largest = max((float(np.abs(gradient).max(initial=0.0)) for gradient in real.values()), default=0.0)
    values, found = dict(data.values()), {}
    for name, gradient in real.items():
        far, near = (change[name] for change in changes)
        mask = (near > LEAST * largest) & (2.0 * near > far)
        if mask.any():
            first = int(np.argmax(mask))
            smooth = digest(np.where(mask, 0.0, gradient), f"gradient/{name}")
            place = [float(mask.sum()), float(mask.size), float(first), float(values[name].reshape(-1)[first])]
            found[name] = [*place, *smooth.figures]
    return found


def taken(adapter: Adapter, data: Data, distance: float) -> dict[str, Array]:
    """Returns the gradients at parameters that are moved: each element by another part of `distance`, up or down, so
    that a tie is none any more."""
    state, batch = adapter.place(
        ((name, moved(name, values, distance)) for name, values in data.values()),
        data.stream(data.batch, "batch"),
        moments=False,
    )
    return {name: np.array(value) for name, value in adapter.read("gradients", state, batch).items()}


def moved(name: str, values: NDArray[Any], distance: float) -> NDArray[Any]:
    if values.dtype.kind != "f":
        return values
    drawn = (np.asarray(random_words(f"moved/{name}").random_raw(values.size)) >> np.uint64(11)) * 2.0**-52 - 1.0
    usual = float(np.sqrt(np.mean(values.astype(np.float64) ** 2))) or 1.0
    shifted = values + distance * usual * (drawn + np.sign(drawn)).reshape(values.shape)
    return np.asarray(shifted, values.dtype)  # a sum of arrays without axes is none
