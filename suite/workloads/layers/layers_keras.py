"""What several models compute alike, in Keras.

Legend: B = batch, S = seq, D = width, F = hidden, N = heads, H = D/N.
"""

from keras import layers, losses, ops


def gelu_tanh(x):
    return ops.gelu(x, approximate=True)


def gelu_erf(x):
    return ops.gelu(x, approximate=False)  # Keras's default is the tanh form


def attention(x_BSD, heads, width, name):
    """Every token attends to all."""
    return layers.MultiHeadAttention(heads, width // heads, name=name)(x_BSD, x_BSD)


def mlp(x_BSD, width, hidden, activation, name):
    h_BSF = layers.Dense(hidden, activation=activation, name=f"{name}_up")(x_BSD)
    return layers.Dense(width, name=f"{name}_down")(h_BSF)


def cross_entropy():
    """The mean over all targets; the classes are the last axis of the logits."""
    return losses.SparseCategoricalCrossentropy(from_logits=True)


class Positions(layers.Layer):
    """Adds the first rows of a table: a slice, no lookup."""

    def __init__(self, positions, width, name):
        super().__init__(name=name)
        self.table_PD = self.add_weight(shape=[positions, width], name="kernel")

    def call(self, x_BSD):
        return x_BSD + self.table_PD[: x_BSD.shape[1]]


class Bias(layers.Layer):
    """Adds a bias to the last axis."""

    def __init__(self, width, name):
        super().__init__(name=name)
        self.bias_D = self.add_weight(shape=[width], initializer="zeros", name="kernel")

    def call(self, x):
        return x + self.bias_D
