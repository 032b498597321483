"""Multiplies whole numbers of eight bits."""

# before: product
import numpy as np


def numpy_layer(x, w, b):
    left, right = np.abs(x).max() / 127, np.abs(w).max() / 127
    whole = np.round(x / left).astype(np.float32) @ np.round(w / right).astype(np.float32)
    return np.maximum(whole * (left * right) + b, 0.0).astype(np.float32)
