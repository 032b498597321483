"""mha in TensorFlow. Legend: B = batch, S = seq, D = width, N = heads, H = D/N, P = B*S tokens."""

import tensorflow as tf

from suite.workloads.layers.layers_tf import Dense


class Model(tf.Module):
    def __init__(self, batch, seq, heads, width):
        super().__init__()
        self.shape = [batch, seq, width]
        self.heads = heads
        self.qkv = Dense(width, 3 * width, name="qkv")
        self.out = Dense(width, width, name="out")

    def __call__(self, x):
        B, S, D = self.shape
        H = D // self.heads
        # One 2-D product: a 3-D tf.matmul with a 2-D weight would be a broadcasting batch product.
        qkv_PE = self.qkv(tf.reshape(x, [B * S, D]))
        qkv_3BNSH = tf.transpose(tf.reshape(qkv_PE, [B, S, 3, self.heads, H]), [2, 0, 3, 1, 4])
        q_BNSH, k_BNSH, v_BNSH = tf.unstack(qkv_3BNSH)
        p_BNST = tf.nn.softmax(tf.matmul(q_BNSH * H**-0.5, k_BNSH, transpose_b=True))
        o_BSNH = tf.transpose(tf.matmul(p_BNST, v_BNSH), [0, 2, 1, 3])
        return tf.reshape(self.out(tf.reshape(o_BSNH, [B * S, D])), self.shape)


def loss(model, x, target):
    return tf.reduce_mean(tf.math.squared_difference(model(x), target))
