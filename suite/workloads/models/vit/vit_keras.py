"""vit in Keras.

Legend: B = batch, I = image, h = w = patches per side, S = h*w + 1 tokens, D = width, C = classes.
"""

import keras
from keras import layers, ops

from suite.workloads.layers.layers_keras import Positions, attention, cross_entropy, gelu_erf, mlp

CHANNELS = 3
EPSILON = 1e-12


class ClassToken(layers.Layer):
    """Puts a learned token before the others."""

    def __init__(self, width, name):
        super().__init__(name=name)
        self.token_11D = self.add_weight(shape=[1, 1, width], name="kernel")

    def call(self, x_BSD):
        B, _, D = ops.shape(x_BSD)
        return ops.concatenate([ops.broadcast_to(self.token_11D, [B, 1, D]), x_BSD], axis=1)


def norm(x, name):
    return layers.LayerNormalization(epsilon=EPSILON, name=name)(x)


def block(x_BSD, heads, width, hidden, name):
    x_BSD = x_BSD + attention(norm(x_BSD, f"{name}_attention_norm"), heads, width, f"{name}_attention")
    return x_BSD + mlp(norm(x_BSD, f"{name}_mlp_norm"), width, hidden, gelu_erf, f"{name}_mlp")


def model(image, patch, layers, heads, width, hidden, classes):
    count = (image // patch) ** 2
    image_BII3 = keras.Input([image, image, CHANNELS])
    x_BhwD = keras.layers.Conv2D(width, patch, strides=patch, name="patches")(image_BII3)
    x_BSD = ClassToken(width, name="class_token")(keras.layers.Reshape([count, width])(x_BhwD))
    x_BSD = Positions(count + 1, width, name="positions")(x_BSD)
    for layer in range(layers):
        x_BSD = block(x_BSD, heads, width, hidden, f"blocks_{layer}")
    # The norm acts on each token separately, and only the class token is used, so only it is normalized.
    return keras.Model(image_BII3, keras.layers.Dense(classes, name="head")(norm(x_BSD[:, 0], "norm")))


loss = cross_entropy
