"""ffn in TensorFlow."""

import tensorflow as tf


class Dense(tf.Module):
    def __init__(self, inputs, outputs, name):
        super().__init__()
        self.weight = tf.Variable(tf.zeros([inputs, outputs]), name=f"{name}.weight")
        self.bias = tf.Variable(tf.zeros([outputs]), name=f"{name}.bias")

    def __call__(self, x):
        return tf.nn.bias_add(tf.matmul(x, self.weight), self.bias)


class Model(tf.Module):
    def __init__(self, batch, seq, width, hidden):
        super().__init__()
        self.shape = [batch, seq, width]
        self.up = Dense(width, hidden, name="up")
        self.down = Dense(hidden, width, name="down")

    def __call__(self, x):
        # One 2-D product: a 3-D tf.matmul against a 2-D weight is a broadcasting batch product.
        x = tf.reshape(x, [-1, self.shape[-1]])
        y = self.down(tf.nn.gelu(self.up(x), approximate=True))
        return tf.reshape(y, self.shape)


def loss(model, x, target):
    return tf.reduce_mean(tf.math.squared_difference(model(x), target))
