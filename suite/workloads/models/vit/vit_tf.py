"""vit in TensorFlow.

Legend: B = batch, I = image, h = w = patches per side, S = T = h*w + 1 tokens, P = B*S, D = width,
F = hidden, N = heads, H = D/N, C = classes.
"""

import tensorflow as tf

from suite.workloads.layers.layers_tf import MLP, Attention, Dense, LayerNorm

CHANNELS = 3
EPSILON = 1e-12


class Patches(tf.Module):
    """Windows side by side: a convolution whose stride is its size."""

    def __init__(self, patch, width, name):
        super().__init__()
        self.patch = patch
        self.weight = tf.Variable(tf.zeros([patch, patch, CHANNELS, width]), name=f"{name}.weight")
        self.bias = tf.Variable(tf.zeros([width]), name=f"{name}.bias")

    def __call__(self, image_BII3):
        x_BhwD = tf.nn.conv2d(image_BII3, self.weight, strides=self.patch, padding="VALID")
        return tf.nn.bias_add(x_BhwD, self.bias)


class Block(tf.Module):
    def __init__(self, batch, seq, heads, width, hidden, name):
        super().__init__()
        self.attention_norm = LayerNorm(width, EPSILON, name=f"{name}.attention_norm")
        self.attention = Attention(batch, seq, heads, width, name=f"{name}.attention")
        self.mlp_norm = LayerNorm(width, EPSILON, name=f"{name}.mlp_norm")
        self.mlp = MLP(width, hidden, approximate=False, name=f"{name}.mlp")

    def __call__(self, x_PD):
        x_PD = x_PD + self.attention(self.attention_norm(x_PD))
        return x_PD + self.mlp(self.mlp_norm(x_PD))


class Model(tf.Module):
    def __init__(self, batch, image, patch, layers, heads, width, hidden, classes):
        super().__init__()
        seq = (image // patch) ** 2 + 1
        self.shape = [batch, seq, width]
        self.patches = Patches(patch, width, name="patches")
        self.class_token = tf.Variable(tf.zeros([1, 1, width]), name="class_token")
        self.positions = tf.Variable(tf.zeros([1, seq, width]), name="positions")
        self.blocks = [Block(batch, seq, heads, width, hidden, name=f"blocks.{i}") for i in range(layers)]
        self.norm = LayerNorm(width, EPSILON, name="norm")
        self.head = Dense(width, classes, name="head")

    def __call__(self, image):
        B, S, D = self.shape
        x_BSD = tf.reshape(self.patches(image), [B, S - 1, D])
        class_B1D = tf.broadcast_to(self.class_token, [B, 1, D])
        x_BSD = tf.concat([class_B1D, x_BSD], axis=1) + self.positions
        # 2-D from here on: a 3-D tf.matmul with a 2-D weight would be a broadcasting batch product.
        x_PD = tf.reshape(x_BSD, [B * S, D])
        for block in self.blocks:
            x_PD = block(x_PD)
        # The norm acts on each token separately, and only the class token is used, so only it is normalized.
        class_BD = tf.reshape(x_PD, self.shape)[:, 0]
        return self.head(self.norm(class_BD))


def loss(model, image, target):
    logits_BC = model(image)
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=target, logits=logits_BC))
