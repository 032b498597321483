"""Rows of a table, by ids: an input of whole numbers, and dims of which no model needs all."""

from __future__ import annotations

import numpy as np

from suite.workloads.tensors import Integers, Normal

TITLE = "Rows of a table, by ids"
SIZES = {"tiny": {"ids": 5, "rows": 7, "width": 3}}
PASSES = ("forward", "train")
OPTIMIZER = None


def parameters(dims):
    return {"table": Normal((dims["rows"], dims["width"]))}


def inputs(dims):
    return {"at": Integers((dims["ids"],), dims["rows"])}


def target(dims):
    return Normal((dims["ids"], dims["width"]))


def flops(dims, pass_):
    return 0


def bytes_floor(dims, pass_):
    return 8 * dims["ids"] * dims["width"]


def items(dims):
    return dims["ids"], "ids"


def reference(dims, parameters, at, target=None):
    output = parameters["table"][at]
    if target is None:
        return {"output": output}
    off = output - target
    gradient = np.zeros_like(parameters["table"])
    np.add.at(gradient, at, 2 * off / off.size)
    return {"output": output, "loss": np.mean(off**2), "table": gradient}
