"""mha in Keras. Legend: B = batch, S = seq, D = width, N = heads, H = D/N."""

import keras
from keras import layers, ops


def model(seq, heads, width):
    x_BSD = keras.Input([seq, width])
    # One product for the three, which layers.MultiHeadAttention computes by three.
    qkv_BS3NH = layers.Reshape([seq, 3, heads, width // heads])(layers.Dense(3 * width, name="qkv")(x_BSD))
    o_BSNH = ops.dot_product_attention(*ops.unstack(qkv_BS3NH, 3, axis=2))
    y_BSD = layers.Dense(width, name="out")(layers.Reshape([seq, width])(o_BSNH))
    return keras.Model(x_BSD, y_BSD)


loss = keras.losses.MeanSquaredError
