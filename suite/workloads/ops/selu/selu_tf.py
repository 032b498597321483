"""selu in TensorFlow, written out of primitives: tf.nn.selu and tf.nn.elu have constants of their own."""

import tensorflow as tf

ALPHA = 1.67
LAMBDA = 1.05


class Model(tf.Module):
    def __init__(self, n):
        super().__init__()
        self.x = tf.Variable(tf.zeros([n, n]), name="x")

    def __call__(self):
        x = tf.convert_to_tensor(self.x)
        return LAMBDA * tf.where(x > 0, x, ALPHA * tf.math.expm1(x))


def loss(model, target):
    return tf.reduce_mean(tf.math.squared_difference(model(), target))
