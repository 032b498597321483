"""One level of Strassen's algorithm, where the lengths are even."""

# before: product
import numpy as np


def numpy_layer(x, w, b):
    if x.shape[0] % 2 or x.shape[1] % 2 or w.shape[1] % 2:
        return np.maximum(x @ w + b, 0.0)
    r, i, c = x.shape[0] // 2, x.shape[1] // 2, w.shape[1] // 2
    a11, a12, a21, a22 = x[:r, :i], x[:r, i:], x[r:, :i], x[r:, i:]
    b11, b12, b21, b22 = w[:i, :c], w[:i, c:], w[i:, :c], w[i:, c:]
    m1, m2, m3 = (a11 + a22) @ (b11 + b22), (a21 + a22) @ b11, a11 @ (b12 - b22)
    m4, m5 = a22 @ (b21 - b11), (a11 + a12) @ b22
    m6, m7 = (a21 - a11) @ (b11 + b12), (a12 - a22) @ (b21 + b22)
    y = np.block([[m1 + m4 - m5 + m7, m3 + m5], [m2 + m4, m1 - m2 + m3 + m6]])
    return np.maximum(y + b, 0.0)
