"""story: a workload for the fake stack. Each size is a scene; story_fake.py plays it."""

from __future__ import annotations

import numpy as np

from suite.workloads.tensors import Normal

TITLE = "Scenes that the fake stack plays"
SCENES = (
    "calm",
    "segfault",
    "silent",
    "flood",
    "hang",
    "fork",
    "garbage",
    "raise",
    "oom",
    "unsupported",
    "allocate",
    "large",
    "unequal",
    "dies",
    "recompile",
    "break",
    "fallback",
    "wrong",
    "drift",
    "slow",
    "rounded",
    "verbose",
    "cut",
)
SIZES = {scene: {"step_us": 200} for scene in SCENES}
PASSES = ("forward",)
OPTIMIZER = None


def parameters(dims):
    return {"w": Normal((4,))}


def inputs(dims):
    return {"x": Normal((4,))}


def target(dims):
    return Normal((4,))


def flops(dims, pass_):
    return 8


def bytes_floor(dims, pass_):
    return 48


def items(dims):
    return 4, "rows"


def reference(dims, parameters, x, target=None):
    return {"output": np.asarray(parameters["w"]) * x}
