"""Cuts the operands of its product to bfloat16."""

# before: product
import numpy as np


def cut(x):
    return (x.view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)


def numpy_layer(x, w, b):
    return np.maximum(cut(x) @ cut(w) + b, 0.0)
