"""gemm in Keras: a dense layer without a bias."""

import keras
from keras import layers


def model(n, k=None):
    a = keras.Input([k or n])
    return keras.Model(a, layers.Dense(n, use_bias=False, name="b")(a))


loss = keras.losses.MeanSquaredError
