"""ffn in Keras."""

import keras
from keras import layers, ops


def gelu(x):
    return ops.gelu(x, approximate=True)


def model(seq, width, hidden):
    x = keras.Input([seq, width])
    h = layers.Dense(hidden, activation=gelu, name="up")(x)
    return keras.Model(x, layers.Dense(width, name="down")(h))


loss = keras.losses.MeanSquaredError
