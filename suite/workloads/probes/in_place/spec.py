"""in_place: may an array be changed, does the caller see the change, and does it save memory?

Three things are called in-place: an assignment that the caller sees, an argument that is donated so that its memory can
be used again, and an update that touches one value and not the whole array. Addresses are read where a framework gives
them; if an update leaves an array's address unchanged, it is in place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

TITLE = "Changing arrays in place"
SIZES = {"tiny": {"n": 100_000}, "quick": {"n": 10_000_000}}
PASSES = ("forward",)

ASPECTS = {
    "assign": "x[0] = 1, in a function as this stack runs it",
    "view": "writing to a slice and to a reshaped array, in a function as this stack runs it",
    "compiled": "a function as this stack runs it changes its argument: does the caller see the change?",
    "donate": "a donated argument",
    "own_way": "1 is added to many values, in the framework's own way",
    "one_value": "one value of many is changed, in the framework's own way",
}
FIGURES = {
    "seconds": ("s", "one change, until it is done"),
    "changed": ("1", "1 if the array has the new value"),
    "slice": ("1", "1 if what was written to a slice is in the array"),
    "reshaped": ("1", "1 if what was written to a reshaped array is in the array"),
    "visible": ("1", "1 if the caller's array has the new value"),
    "deleted": ("1", "1 if the framework says that the argument's buffer is gone"),
    "reuse_raises": ("1", "1 if using the argument again raises"),
    "address_stays": ("1", "1 if the array is where it was before"),
    "bytes": ("bytes", "size of the array"),
}
CLASSES = {
    "changes": "the array has the new value",
    "ignores": "nothing is raised, and the array is as it was",
    "both write through": "a slice and a reshaped array share their memory with the array",
    "slices alone write through": "a slice shares its memory with the array; a reshaped array has memory of its own",
    "reshaped alone writes through": "a reshaped array shares its memory with the array; a slice has memory of its own",
    "copies": "both are arrays of their own",
    "seen by the caller": "the caller's array is changed",
    "not seen": "the caller's array is as it was",
    "deleted": "the argument's buffer is gone, and using it again raises",
    "lives": "the argument can be used again",
    "in place": "the array is where it was before",
    "a new buffer": "the array is elsewhere: it was copied",
    "measured": "not classified, because no address can be read; see the figures",
}

SAMPLES = 10

JAX_ARRAYS = "https://docs.jax.dev/en/latest/101/arrays.html"
JAX_NUMPY = "https://docs.jax.dev/en/latest/jax.numpy.html"
JAX_REFS = "https://docs.jax.dev/en/latest/array_refs.html"
JAX_DONATION = "https://docs.jax.dev/en/latest/buffer_donation.html"
TORCH_VIEWS = "https://docs.pytorch.org/docs/stable/tensor_view.html"
TF_VARIABLES = "https://www.tensorflow.org/guide/variable"
THE_PRIMER = "https://sineeli.github.io/2025/12/20/jax-series-1"


def observe_assign(recorder: Any, assign: Callable[[Any], Any]) -> None:
    """Observes the aspect `assign` and records it."""
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
    """Returns the class, by values and addresses."""
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


DOCUMENTED = {
    "assign": dict.fromkeys(("jax_eager", "jax_jit"), ("raises: TypeError", JAX_ARRAYS)),
    "view": {
        "jax_eager": ("copies", JAX_NUMPY),
        "jax_jit": ("copies", JAX_NUMPY),
        "torch_eager": ("both write through", TORCH_VIEWS),
    },
    "compiled": {"jax_jit": ("seen by the caller", JAX_REFS)},
    "donate": {"jax_jit": ("deleted", JAX_DONATION)},
    "own_way": {"jax_jit": ("in place", JAX_DONATION), "tf_eager": ("in place", TF_VARIABLES)},
    "one_value": {"jax_eager": ("a new buffer", JAX_ARRAYS), "jax_jit": ("in place", JAX_ARRAYS)},
}
PRIMER = {"assign": {"jax_eager": ("raises: TypeError", THE_PRIMER)}}
