"""The tuned track on real frameworks: a knob changes what is executed wherever it is applied, or it isn't one.

One process for each stack and track takes a step of every case. What that leaves behind is compared: the code that
XLA's compiler has written, the order in memory of what PyTorch's convolutions are given.
"""

from __future__ import annotations

import functools
import json
import os
import tempfile
from typing import Any

import pytest

from suite.case import Planned
from suite.plan import planning, preset
from suite.stacks.catalog import STACKS, adapter_class
from suite.stacks.knobs import processor_flags
from suite.stacks.xla import compiler
from suite.workloads import catalog
from tests.stacks.programs import told
from tests.worker.processes import case_of

pytestmark = [pytest.mark.stacks, pytest.mark.newest, pytest.mark.release]
# Of stacks that have the same knob one: that it reaches the others, test_knobs.py asks.
TUNABLE = ("jax_jit", "torch_eager")
# Operations of a size whose products aren't written out as loops; models of images for the knobs that need them.
OPERATIONS = {"gemm": "quick", "ffn": "quick", "mha": "quick", "selu": "quick"}
IMAGES = {"torch_eager": {"vit": "tiny", "resnet50": "tiny"}}
WORKLOADS = catalog.find()
Question = tuple[str, str]  # workload, pass
STEPS = """
import json, os, re, subprocess, sys
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

def new(pattern):
    found = sorted(set(home.glob(pattern)) - seen)
    seen.update(found)
    return found

def written(pattern):
    return [path.read_text(errors="replace").replace(str(home), "") for path in new(pattern)]

def vectors():
    code = [text for text in written("xla/**/*.ll") if text]
    found = Counter(width for text in code for width in re.findall(r"<(\\d+) x float>", text))
    # JAX's XLA leaves no code but objects, unless it is asked for; it then crashes now and then (0.12.0.1).
    for machine_code in new("xla/**/*.o") if not code else ():
        text = subprocess.run(["objdump", "-d", machine_code], capture_output=True, text=True, check=True).stdout
        found += Counter({"16": text.count("%zmm"), "8": text.count("%ymm")})
    return found

def watched(strides):
    if stack != "torch_eager":
        return nullcontext()
    from torch.utils._python_dispatch import TorchDispatchMode
    class Convolutions(TorchDispatchMode):
        def __torch_dispatch__(self, function, types, operands=(), named=None):
            if str(function).startswith(("aten.convolution.", "aten.conv2d.")):  # the latter where nothing is recorded
                strides.append([list(operand.stride()) for operand in operands[:2]])
            return function(*operands, **(named or {}))
    return Convolutions()

def executed(case):
    adapter = adapter_class(stack)(case, workloads[case.workload])
    adapter.device()
    adapter.build()
    state, batch = Data(case, workloads[case.workload], 0).place(adapter)
    vectors()
    strides = []
    with watched(strides):
        state, outputs = adapter.step(state, batch)
    adapter.wait(state, outputs)
    return {"strides": strides, "vectors": vectors()}

print(json.dumps([executed(case) for case in cases]))
"""


@functools.cache
def planned(stack: str, track: str) -> dict[Question, Planned]:
    """Each workload and pass that the knobs of a stack might be for."""
    found = {}
    for workload, size in IMAGES.get(stack, OPERATIONS).items():
        asked = planning.Selection(
            workloads=(workload,),
            stacks=(stack,),
            sizes=(size,),
            tracks=(track,),
            passes=("forward", "train"),
            threads=(len(os.sched_getaffinity(0)),),
        )
        made = planning.make("set", preset.load("tiny"), asked, WORKLOADS, None, lambda *_: None)
        found |= {(workload, each.case.pass_): each for each in made.cases}
    return found


@functools.cache
def executed(stack: str, track: str) -> dict[Question, Any]:
    """What a step of each case leaves."""
    cases = [each.case.to_json() for each in planned(stack, track).values()]
    with tempfile.TemporaryDirectory() as home:
        found = told(STACKS[stack].environment, STEPS, home, json.dumps(cases))
    return dict(zip(planned(stack, track), found, strict=True))


@pytest.mark.parametrize("stack", TUNABLE)
def test_a_tuned_case_is_executed_otherwise_and_what_is_left_out_is_not(stack: str) -> None:
    """A case that the catalogue leaves out is run as if it were tuned: the knob must change nothing in it."""
    run = {question for question, each in planned(stack, "tuned").items() if not each.unsupported}
    if not run:
        assert {knob.processor for knob in adapter_class(stack).knobs}.isdisjoint(processor_flags())
        return
    default, tuned = executed(stack, "default"), executed(stack, "tuned")
    changed = {question for question, seen in default.items() if seen != tuned[question]}
    assert changed == run
    if adapter_class(stack).knobs is compiler.KNOBS:  # what was asked for: vectors of 16 floats, which are 512 bits
        assert all(tuned[each]["vectors"].get("16", 0) > default[each]["vectors"].get("16", 0) for each in changed)


CLEARING = """
import hashlib, json, os, sys
from suite.case import Case
from suite.stacks.catalog import adapter_class
from suite.worker.data import Data
from suite.workloads import catalog

cases = [Case.from_json(case) for case in json.loads(sys.argv[1])]
os.environ.update(adapter_class("torch_xla").environ(cases[0], "/nowhere"))

def executed(case):
    workload = catalog.find()[case.workload]
    adapter = adapter_class("torch_xla")(case, workload)
    adapter.device()
    adapter.build()
    state, batch = Data(case, workload, 0).place(adapter)
    losses = []
    for _ in range(3):
        state, outputs = adapter.step(state, batch)
        losses.append(float(adapter.results(outputs)))
    alive = sum(p.grad is not None for p in adapter.model.parameters())
    parameters = adapter.read("parameters", state, batch)
    digest = hashlib.sha256(b"".join(parameters[name].tobytes() for name in sorted(parameters))).hexdigest()
    gradients = adapter.read("gradients", state, batch)
    return {"alive": alive, "losses": losses, "digest": digest, "gradients": len(gradients) - 1}

print(json.dumps([executed(case) for case in cases]))
"""


def test_gradients_that_are_cleared_after_the_update_change_no_number() -> None:
    cases = [
        case_of(stack="torch_xla", workload="ffn", pass_="train", track=track).to_json()
        for track in ("default", "tuned")
    ]
    default, tuned = told("torch_xla", CLEARING, json.dumps(cases))
    assert default["alive"] == default["gradients"] > 0, "as in PyTorch/XLA's own examples"
    assert tuned["alive"] == 0
    assert tuned["gradients"] == default["gradients"], "the gate still reads them"
    assert (tuned["losses"], tuned["digest"]) == (default["losses"], default["digest"])
