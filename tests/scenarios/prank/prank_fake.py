"""The scenes, by the case's size."""

import ctypes

import numpy as np


class Scenario:
    """The adapter's hooks: none."""

    def __init__(self, case):
        pass


def double(x, times):
    return x * times


def fail():
    raise LookupError("nothing is here\nor there")


def run(stack, recorder):
    scene = stack.case.size
    function, x = stack.jit(double), stack.put(np.ones(4))
    seen = recorder.watch(lambda: function(x, 3 if scene == "other" else 2))
    recorder.record("double", double, seen, right=int((seen.value == 2).sum()))
    if scene == "crash":
        ctypes.string_at(0)
    if scene == "bug":
        fail()
    if scene != "forgetful":
        recorder.record("raise", fail, recorder.watch(fail))
