"""Writes a temporary file at import and reads it again."""

# before: softmax
import tempfile

import numpy as np

with tempfile.TemporaryFile() as file:
    np.save(file, np.arange(8))
    file.seek(0)
    TABLE = np.load(file)


def numpy_softmax(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)
