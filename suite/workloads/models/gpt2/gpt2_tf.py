"""GPT-2 in TensorFlow. Legend: B = batch, T = S = seq, P = B*T tokens, D = width, N = heads, H = D/N, V = vocab."""

import tensorflow as tf

from suite.workloads.layers.layers_tf import MLP, Dense, lookup

EPSILON = 1e-5


class Norm(tf.Module):
    def __init__(self, width, name):
        super().__init__()
        self.weight = tf.Variable(tf.ones([width]), name=f"{name}.weight")
        self.bias = tf.Variable(tf.zeros([width]), name=f"{name}.bias")

    def __call__(self, x_PD):
        mean, variance = tf.nn.moments(x_PD, axes=[-1], keepdims=True)
        return tf.nn.batch_normalization(x_PD, mean, variance, self.bias, self.weight, EPSILON)


class Attention(tf.Module):
    def __init__(self, batch, seq, width, heads, name):
        super().__init__()
        self.shape = [batch, seq, 3, heads, width // heads]
        self.qkv = Dense(width, 3 * width, name=f"{name}.qkv")
        self.out = Dense(width, width, name=f"{name}.out")

    def __call__(self, x_PD, hidden_TS):
        H = self.shape[-1]
        qkv_3BNTH = tf.transpose(tf.reshape(self.qkv(x_PD), self.shape), [2, 0, 3, 1, 4])
        q_BNTH, k_BNSH, v_BNSH = tf.unstack(qkv_3BNTH)
        logits_BNTS = tf.matmul(q_BNTH * H**-0.5, k_BNSH, transpose_b=True) + hidden_TS
        o_BTNH = tf.transpose(tf.matmul(tf.nn.softmax(logits_BNTS), v_BNSH), [0, 2, 1, 3])
        return self.out(tf.reshape(o_BTNH, x_PD.shape))


class Block(tf.Module):
    def __init__(self, batch, seq, width, hidden, heads, name):
        super().__init__()
        self.norm1 = Norm(width, name=f"{name}.norm1")
        self.attention = Attention(batch, seq, width, heads, name=f"{name}.attention")
        self.norm2 = Norm(width, name=f"{name}.norm2")
        self.mlp = MLP(width, hidden, approximate=True, name=f"{name}.mlp")

    def __call__(self, x_PD, hidden_TS):
        x_PD = x_PD + self.attention(self.norm1(x_PD), hidden_TS)
        return x_PD + self.mlp(self.norm2(x_PD))


class Model(tf.Module):
    def __init__(self, batch, seq, layers, heads, width, hidden, vocab, positions):
        super().__init__()
        self.shape = [batch, seq, width]
        self.tokens = tf.Variable(tf.zeros([vocab, width]), name="tokens.weight")
        self.positions = tf.Variable(tf.zeros([positions, width]), name="positions.weight")
        self.blocks = [Block(batch, seq, width, hidden, heads, name=f"blocks.{n}") for n in range(layers)]
        self.norm = Norm(width, name="norm")

    def __call__(self, tokens):
        B, T, D = self.shape
        embedding_VD = tf.convert_to_tensor(self.tokens)
        x_BTD = lookup(embedding_VD, tokens) + self.positions[:T]
        # Tokens are rows, for 2-D products: a 3-D tf.matmul with a 2-D weight would be a broadcasting batch product.
        x_PD = tf.reshape(x_BTD, [B * T, D])
        # Added to logits, so that no position attends to later ones.
        hidden_TS = tf.where(tf.linalg.band_part(tf.ones([T, T]), -1, 0) > 0, 0.0, -1e9)
        for block in self.blocks:
            x_PD = block(x_PD, hidden_TS)
        logits_PV = tf.matmul(self.norm(x_PD), embedding_VD, transpose_b=True)
        return tf.reshape(logits_PV, [B, T, -1])


def loss(model, tokens, target):
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=target, logits=model(tokens)))
