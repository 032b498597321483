"""selu in Keras. `ops.elu` is ELU with an alpha; `ops.selu` has other constants."""

import keras
from keras import ops

ALPHA = 1.67
LAMBDA = 1.05


class Selu(keras.Model):
    """It has no input: X is what gradients are taken of, and Keras takes them of a model's weights."""

    def __init__(self, n):
        super().__init__()
        self.x = self.add_weight(shape=[n, n], name="x")
        self.built = True

    def call(self, inputs):
        return LAMBDA * ops.elu(self.x, alpha=ALPHA)


def model(n):
    return Selu(n)


loss = keras.losses.MeanSquaredError
