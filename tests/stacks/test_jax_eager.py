"""JAX without jit: what is one program there."""

from __future__ import annotations

import json

import pytest

from tests.stacks.programs import WITH_CASE, told
from tests.worker.processes import case_of

pytestmark = [pytest.mark.stacks, pytest.mark.newest]
COUNTED = f"""{WITH_CASE}
import numpy as np
adapter = adapter_class("jax_eager")(case, workload)
adapter.device()
x = adapter.put(np.ones((8, 16), np.float32))

def compiled(function):
    before = adapter.counters()["compiles"]
    adapter.wait(None, function(x))
    return adapter.counters()["compiles"] - before

print(json.dumps([compiled(lambda x: x.var()), compiled(lambda x: x * 3 - 1)]))
"""


def test_a_function_of_jax_numpy_may_be_one_program_of_several_primitives() -> None:
    """The docs say so of `jax_eager`: it isn't each primitive by itself."""
    assert told("jax", COUNTED, json.dumps(case_of(stack="jax_eager").to_json())) == [1, 2]
