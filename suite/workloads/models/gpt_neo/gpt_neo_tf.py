"""GPT-Neo in TensorFlow.

Legend: B = batch, T = S = seq (of queries and of keys), P = B*T tokens, D = width, N = heads, H = D/N, V = vocab.
Tokens are rows, (P, D), except inside attention, so that a dense layer is one 2-D product: a 3-D tf.matmul
with a 2-D weight would be a broadcasting batch product.
"""

import tensorflow as tf

from suite.workloads.layers.layers_tf import MLP, Dense, lookup

EPSILON = 1e-5


class LayerNorm(tf.Module):
    def __init__(self, width, name):
        super().__init__()
        self.weight = tf.Variable(tf.ones([width]), name=f"{name}.weight")
        self.bias = tf.Variable(tf.zeros([width]), name=f"{name}.bias")

    def __call__(self, x_PD):
        centred_PD = x_PD - tf.reduce_mean(x_PD, axis=-1, keepdims=True)
        variance_P1 = tf.reduce_mean(tf.square(centred_PD), axis=-1, keepdims=True)
        return centred_PD * tf.math.rsqrt(variance_P1 + EPSILON) * self.weight + self.bias


class Attention(tf.Module):
    def __init__(self, batch, seq, width, heads, name):
        super().__init__()
        self.shape = [batch, seq, heads, width // heads]
        self.query = Dense(width, width, name=f"{name}.query", bias=False)
        self.key = Dense(width, width, name=f"{name}.key", bias=False)
        self.value = Dense(width, width, name=f"{name}.value", bias=False)
        self.out = Dense(width, width, name=f"{name}.out")

    def split_heads(self, x_PD):
        return tf.transpose(tf.reshape(x_PD, self.shape), [0, 2, 1, 3])

    def __call__(self, x_PD, mask_TS):
        q_BNTH = self.split_heads(self.query(x_PD))
        k_BNSH = self.split_heads(self.key(x_PD))
        v_BNSH = self.split_heads(self.value(x_PD))
        logits_BNTS = tf.matmul(q_BNTH, k_BNSH, transpose_b=True) + mask_TS  # GPT-Neo doesn't scale its logits
        o_BNTH = tf.matmul(tf.nn.softmax(logits_BNTS), v_BNSH)
        return self.out(tf.reshape(tf.transpose(o_BNTH, [0, 2, 1, 3]), x_PD.shape))


class Block(tf.Module):
    def __init__(self, batch, seq, width, hidden, heads, name):
        super().__init__()
        self.norm1 = LayerNorm(width, name=f"{name}.norm1")
        self.attention = Attention(batch, seq, width, heads, name=f"{name}.attention")
        self.norm2 = LayerNorm(width, name=f"{name}.norm2")
        self.mlp = MLP(width, hidden, approximate=True, name=f"{name}.mlp")

    def __call__(self, x_PD, mask_TS):
        x_PD = x_PD + self.attention(self.norm1(x_PD), mask_TS)
        return x_PD + self.mlp(self.norm2(x_PD))


class Model(tf.Module):
    def __init__(self, batch, seq, layers, heads, width, hidden, vocab, positions, window):
        super().__init__()
        self.shape = [batch, seq, width]
        self.window = window
        self.vocab = vocab
        self.tokens = tf.Variable(tf.zeros([vocab, width]), name="tokens.weight")
        self.positions = tf.Variable(tf.zeros([positions, width]), name="positions.weight")
        self.blocks = [Block(batch, seq, width, hidden, heads, name=f"blocks.{layer}") for layer in range(layers)]
        self.norm = LayerNorm(width, name="norm")

    def __call__(self, tokens):
        B, T, D = self.shape
        embedding_VD = tf.convert_to_tensor(self.tokens)
        x_PD = tf.reshape(lookup(embedding_VD, tokens) + self.positions[:T], [B * T, D])
        # Added to the logits: 0 for keys in the band; for others so low a number that exp gives 0. Odd layers are
        # local: a token attends to itself and the window - 1 tokens before it.
        ones_TS = tf.ones([T, T])
        global_TS = -1e9 * (1.0 - tf.linalg.band_part(ones_TS, -1, 0))
        local_TS = -1e9 * (1.0 - tf.linalg.band_part(ones_TS, min(self.window, T) - 1, 0))
        for layer, block in enumerate(self.blocks):
            x_PD = block(x_PD, local_TS if layer % 2 else global_TS)
        logits_PV = tf.matmul(self.norm(x_PD), embedding_VD, transpose_b=True)  # the head is the embedding again
        return tf.reshape(logits_PV, [B, T, self.vocab])


def loss(model, tokens, target):
    logits_BTV = model(tokens)
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=target, logits=logits_BTV))
