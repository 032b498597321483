import tensorflow as tf


class Model(tf.Module):
    def __init__(self, rows, width):
        super().__init__()
        self.table = tf.Variable(tf.zeros((rows, width)), name="table")

    def __call__(self, at):
        return tf.gather(self.table, at)


def loss(model, at, target):
    return tf.reduce_mean(tf.square(model(at) - target))
