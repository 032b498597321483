"""The tuned track on real frameworks: a knob changes what is executed wherever it is applied, or it isn't one.

One process for each stack and track takes a step of every case. What that leaves behind is compared: the code that
XLA's or Inductor's compiler has written, the order in memory of what PyTorch's convolutions are given.
"""

from __future__ import annotations

import functools
import json
import os
import subprocess
import tempfile
from typing import Any

import pytest

from suite.case import Case
from suite.environments import venv
from suite.plan import planning, preset
from suite.stacks.catalog import REAL_STACKS, STACKS, adapter_class
from suite.workloads import catalog
from tests.worker.processes import ROOT

pytestmark = pytest.mark.stacks
TUNABLE = [stack for stack in REAL_STACKS if adapter_class(stack).knobs]
# Operations of a size whose products aren't written out as loops, and a model of images, which some knobs need.
SIZES = {"gemm": "quick", "ffn": "quick", "mha": "quick", "selu": "quick", "resnet50": "tiny"}
WORKLOADS = catalog.find()
STEPS = """
import json, os, re, sys
from collections import Counter
from contextlib import nullcontext
from pathlib import Path
from suite.case import Case
from suite.stacks.catalog import adapter_class
from suite.worker.data import Data
from suite.workloads import catalog

home, cases = Path(sys.argv[1]), [Case.from_json(case) for case in json.loads(sys.argv[2])]
stack = cases[0].stack
os.environ.update(adapter_class(stack).environ(cases[0], str(home)))
os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} --xla_dump_to={home}/xla"
workloads, seen = catalog.find(), set()

def written(pattern):
    found = sorted(set(home.glob(pattern)) - seen)
    seen.update(found)
    return [path.read_text(errors="replace").replace(str(home), "") for path in found]

def watched(adapter, strides):
    if stack != "torch_eager":
        return nullcontext()
    from torch.utils._python_dispatch import TorchDispatchMode
    class Convolutions(TorchDispatchMode):
        def __torch_dispatch__(self, function, types, operands=(), named=None):
            if function is adapter.torch.ops.aten.convolution.default:
                strides.append([list(operand.stride()) for operand in operands[:2]])
            return function(*operands, **(named or {}))
    return Convolutions()

def executed(case):
    adapter = adapter_class(stack)(case, workloads[case.workload])
    adapter.device()
    adapter.build()
    state, batch = Data(case, workloads[case.workload], 0).place(adapter)
    written("xla/**/*.ll"), written("inductor/**/*.cpp")
    strides = []
    with watched(adapter, strides):
        state, outputs = adapter.step(state, batch)
    adapter.wait(state, outputs)
    optimised = [text for text in written("xla/**/*.ll") if text]
    vectors = Counter(width for text in optimised for width in re.findall(r"<(\\d+) x float>", text))
    return {"strides": strides, "vectors": vectors, "loops": sorted(written("inductor/**/*.cpp"))}

print(json.dumps([executed(case) for case in cases]))
"""


@functools.cache
def planned(track: str, stack: str) -> dict[tuple[str, str], tuple[Case, str | None]]:
    """(case, why it is unsupported) of each workload and pass."""
    found = {}
    for workload, size in SIZES.items():
        asked = planning.Selection(workloads=(workload,), stacks=(stack,), sizes=(size,), passes=("forward", "train"),
                                   tracks=(track,), threads=len(os.sched_getaffinity(0)))  # fmt: skip
        made = planning.make("set", preset.load("tiny"), asked, WORKLOADS, None, lambda *_: None)
        found |= {(workload, each.case.pass_): (each.case, each.unsupported) for each in made.cases}
    return found


@functools.cache
def executed(track: str, stack: str) -> dict[tuple[str, str], Any]:
    """What a step of each case leaves, of those that an adapter would take."""
    cases = {question: case for question, (case, _) in planned(track, stack).items() if takes(stack, question[0])}
    made = venv.ensure(STACKS[stack].environment, "cpu")
    with tempfile.TemporaryDirectory() as home:
        asked = [made.python, "-c", STEPS, home, json.dumps([case.to_json() for case in cases.values()])]
        done = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return dict(zip(cases, json.loads(done.stdout.splitlines()[-1]), strict=True))
