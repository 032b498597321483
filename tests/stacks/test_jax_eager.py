"""JAX without jit: what is one program there."""

from __future__ import annotations

import json
import subprocess

import pytest

from suite.environments import venv
from tests.worker.processes import ROOT, case_of

pytestmark = [pytest.mark.stacks, pytest.mark.newest]
COUNTED = """
import json, os, sys
import numpy as np
from suite.case import Case
from suite.stacks.catalog import adapter_class
from suite.workloads import catalog

case = Case.from_json(json.loads(sys.argv[1]))
os.environ.update(adapter_class("jax_eager").environ(case, "/nowhere"))
adapter = adapter_class("jax_eager")(case, catalog.find()["gemm"])
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
    python = venv.ensure("jax", "cpu").python
    asked = [python, "-c", COUNTED, json.dumps(case_of(stack="jax_eager").to_json())]
    done = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    variance, two_operations = json.loads(done.stdout.splitlines()[-1])
    assert (variance, two_operations) == (1, 2)
