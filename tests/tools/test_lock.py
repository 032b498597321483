"""What is kept beside the locks of this repository."""

from __future__ import annotations

from suite.environments import releases
from tools.lock import recorded, stack_locks


def test_every_framework_of_a_lock_has_the_day_of_its_release() -> None:
    """`python -m tools.lock` adds what is missing."""
    assert {"jax", "torch", "torch_xla", "torchax", "tensorflow-tpu", "numpy"} <= recorded()
    assert releases.undated(stack_locks(), recorded()) == {}
