"""What several models compute alike, in TensorFlow.

Legend: B = batch, S = T = seq, P = B*S tokens, D = width, F = hidden, N = heads, H = D/N, V = vocab. Tokens are rows,
(P, D), except inside attention: a 3-D tf.matmul with a 2-D weight would be a broadcasting batch product.
"""

import tensorflow as tf


def lookup(table_VD, ids):
    """Rows of a table, a tensor: XLA has no gather_nd of a variable."""
    # Not tf.gather, whose gradient is a sparse IndexedSlices: added to a tied head's gradient, it is a list of V + P
    # rows to scatter. gather_nd's gradient is dense (for ids of two axes or more): a scatter of P rows.
    return tf.gather_nd(table_VD, ids[..., tf.newaxis])


class Dense(tf.Module):
    def __init__(self, inputs, outputs, name, bias=True):
        super().__init__()
        self.weight = tf.Variable(tf.zeros([inputs, outputs]), name=f"{name}.weight")
        self.bias = tf.Variable(tf.zeros([outputs]), name=f"{name}.bias") if bias else None

    def __call__(self, x):
        y = tf.matmul(x, self.weight)
        return y if self.bias is None else tf.nn.bias_add(y, self.bias)


class LayerNorm(tf.Module):
    def __init__(self, width, epsilon, name):
        super().__init__()
        self.epsilon = epsilon
        self.weight = tf.Variable(tf.ones([width]), name=f"{name}.weight")
        self.bias = tf.Variable(tf.zeros([width]), name=f"{name}.bias")

    def __call__(self, x):
        mean, variance = tf.nn.moments(x, axes=[-1], keepdims=True)
        return (x - mean) * tf.math.rsqrt(variance + self.epsilon) * self.weight + self.bias


class Attention(tf.Module):
    """Every token attends to all."""

    def __init__(self, batch, seq, heads, width, name):
        super().__init__()
        self.split = [batch, seq, heads, width // heads]
        self.query = Dense(width, width, name=f"{name}.query")
        self.key = Dense(width, width, name=f"{name}.key")
        self.value = Dense(width, width, name=f"{name}.value")
        self.out = Dense(width, width, name=f"{name}.out")

    def heads_of(self, x_PD):
        x_BSNH = tf.reshape(x_PD, self.split)
        return tf.transpose(x_BSNH, [0, 2, 1, 3])

    def __call__(self, x_PD):
        B, S, N, H = self.split
        q_BNSH = self.heads_of(self.query(x_PD))
        k_BNSH = self.heads_of(self.key(x_PD))
        v_BNSH = self.heads_of(self.value(x_PD))
        p_BNST = tf.nn.softmax(tf.matmul(q_BNSH * H**-0.5, k_BNSH, transpose_b=True))
        o_BSNH = tf.transpose(tf.matmul(p_BNST, v_BNSH), [0, 2, 1, 3])
        return self.out(tf.reshape(o_BSNH, [B * S, N * H]))


class MLP(tf.Module):
    """GELU is the tanh form if `approximate`, else by erf."""

    def __init__(self, width, hidden, approximate, name):
        super().__init__()
        self.approximate = approximate
        self.up = Dense(width, hidden, name=f"{name}.up")
        self.down = Dense(hidden, width, name=f"{name}.down")

    def __call__(self, x_PD):
        h_PF = tf.nn.gelu(self.up(x_PD), approximate=self.approximate)
        return self.down(h_PF)
