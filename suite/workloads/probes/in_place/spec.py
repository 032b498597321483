"""Changes that are timed, and the classes, by values and addresses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

SAMPLES = 10


def assign(x: Any) -> Any:
    x[0] = 1.0
    return x


def observe_assign(recorder: Any) -> None:
    stack = recorder.stack
    x = stack.put(np.zeros((4, 4), np.float32))
    seen = recorder.watch(lambda: stack.jit(assign)(x))
    changed = None if seen.error else float(stack.fetch(seen.value)[0, 0] == 1)
    recorder.record("assign", assign, seen, seconds=None, changed=changed)


def observe_update(
    recorder: Any, aspect: str, code: Callable[..., Any], update: Callable[[Any], Any], address: Callable[[Any], int]
) -> None:
    """Observes an aspect in which `update`, made of `code`, changes an array again and again, and records it. `address`
    returns the address of an array's values; it raises if the device has no addresses."""
    stack = recorder.stack
    zeros = np.zeros(stack.dims["n"], np.float32)
    x = stack.put(zeros)  # it may be in NumPy's memory, which can't be donated; after the first update it isn't

    def again() -> Any:
        nonlocal x
        x = update(x)
        return x

    addresses = []
    for _ in range(2):
        stack.wait(None, again())
        addresses.append(recorder.watch(lambda: address(x)).value)
    stays = None if None in addresses else float(addresses[0] == addresses[1])
    taken = recorder.seconds(again, SAMPLES)
    recorder.record(aspect, code, seconds=taken, address_stays=stays, bytes=zeros.nbytes)


def classify(aspect: str, figures: Mapping[str, Any]) -> str:
    if aspect == "assign":
        return "changes" if figures["changed"] else "ignores"
    if aspect == "view":
        sliced, reshaped = bool(figures["slice"]), bool(figures.get("reshaped"))
        if sliced and reshaped:
            return "both write through"
        if sliced:
            return "slices alone write through"
        return "reshaped alone writes through" if reshaped else "copies"
    if aspect == "compiled":
        return "seen by the caller" if figures["visible"] else "not seen"
    if aspect == "donate":
        return "deleted" if figures["deleted"] and figures["reuse_raises"] else "lives"
    if "address_stays" not in figures:
        return "measured"
    return "in place" if figures["address_stays"] else "a new buffer"
