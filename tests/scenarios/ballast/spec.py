"""ballast: a workload for the fake stack whose memory is known: 40 MiB, and 20 MiB more for each sample of a batch."""

from __future__ import annotations

import numpy as np

from suite.workloads.tensors import Normal

TITLE = "Memory that grows with the batch"
SIZES = {"tiny": {"batch": 1, "width": 4}, "full": {"batch": 1, "width": 8}}
PASSES = ("forward", "train")
OPTIMIZER = "adamw"
GROWS = ("batch",)


def check(dims):
    if dims["batch"] > 36:
        raise ValueError("batch must not exceed 36")


def parameters(dims):
    return {"w": Normal((dims["width"],))}


def inputs(dims):
    return {"x": Normal((dims["batch"], dims["width"]))}


def target(dims):
    return Normal((dims["batch"], dims["width"]))


def flops(dims, pass_):
    return 2 * dims["batch"] * dims["width"]


def bytes_floor(dims, pass_):
    return 8 * dims["width"]


def items(dims):
    return dims["batch"], "rows"


def reference(dims, parameters, x, target=None):
    return {"output": np.asarray(parameters["w"]) * x}
