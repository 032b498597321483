"""GPT-2, one token a call, in TensorFlow.

Legend: B = batch, S = seq, D = width, N = heads, H = D/N, V = vocab. The cache is variables, which each call changes in
place and, without XLA, copies to read them; its position is how many tokens it has. It is gathered and scattered by the
position, never sliced: the bounds of a slice are constants of XLA's program, which would be compiled anew for each
position.
"""

import tensorflow as tf

from suite.workloads.layers.layers_tf import MLP, Dense

EPSILON = 1e-5


class Norm(tf.Module):
    def __init__(self, width, name):
        super().__init__()
        self.weight = tf.Variable(tf.ones([width]), name=f"{name}.weight")
        self.bias = tf.Variable(tf.zeros([width]), name=f"{name}.bias")

    def __call__(self, x_BD):
        mean, variance = tf.nn.moments(x_BD, axes=[-1], keepdims=True)
        return tf.nn.batch_normalization(x_BD, mean, variance, self.bias, self.weight, EPSILON)


class Attention(tf.Module):
    def __init__(self, batch, seq, width, heads, name):
        super().__init__()
        self.split = [batch, 3, heads, 1, width // heads]
        self.qkv = Dense(width, 3 * width, name=f"{name}.qkv")
        self.out = Dense(width, width, name=f"{name}.out")
        empty_BNSH = tf.zeros([batch, heads, seq, width // heads])
        self.keys = tf.Variable(empty_BNSH, trainable=False, name=f"{name}.keys")
        self.values = tf.Variable(empty_BNSH, trainable=False, name=f"{name}.values")

    def __call__(self, x_BD, rows_BN3, hidden_S):
        H = self.split[-1]
        q_BN1H, k_BN1H, v_BN1H = tf.unstack(tf.reshape(self.qkv(x_BD), self.split), axis=1)
        self.keys.scatter_nd_update(rows_BN3, k_BN1H[:, :, 0])
        self.values.scatter_nd_update(rows_BN3, v_BN1H[:, :, 0])
        logits_BN1S = tf.matmul(q_BN1H * H**-0.5, self.keys, transpose_b=True) + hidden_S
        o_BN1H = tf.matmul(tf.nn.softmax(logits_BN1S), self.values)
        return self.out(tf.reshape(o_BN1H, x_BD.shape))


class Block(tf.Module):
    def __init__(self, batch, seq, width, hidden, heads, name):
        super().__init__()
        self.norm1 = Norm(width, name=f"{name}.norm1")
        self.attention = Attention(batch, seq, width, heads, name=f"{name}.attention")
        self.norm2 = Norm(width, name=f"{name}.norm2")
        self.mlp = MLP(width, hidden, approximate=True, name=f"{name}.mlp")

    def __call__(self, x_BD, rows_BN3, hidden_S):
        x_BD = x_BD + self.attention(self.norm1(x_BD), rows_BN3, hidden_S)
        return x_BD + self.mlp(self.norm2(x_BD))


class Model(tf.Module):
    def __init__(self, batch, seq, layers, heads, width, hidden, vocab, positions):
        super().__init__()
        self.seq = seq
        self.heads_BN2 = tf.stack(tf.meshgrid(tf.range(batch), tf.range(heads), indexing="ij"), axis=-1)
        self.tokens = tf.Variable(tf.zeros([vocab, width]), name="tokens.weight")
        self.positions = tf.Variable(tf.zeros([positions, width]), name="positions.weight")
        self.blocks = [Block(batch, seq, width, hidden, heads, name=f"blocks.{n}") for n in range(layers)]
        self.norm = Norm(width, name="norm")
        self.position = tf.Variable(0, trainable=False, name="position")

    def start(self):
        """Empties the cache."""
        self.position.assign(0)
        for block in self.blocks:
            for cache_BNSH in (block.attention.keys, block.attention.values):
                cache_BNSH.assign(tf.zeros_like(cache_BNSH))

    def __call__(self, tokens):
        """Takes the next token. Returns its largest logit (B,), and its logits (B, V)."""
        position = self.position.read_value()
        rows_BN3 = tf.concat([self.heads_BN2, tf.fill([*self.heads_BN2.shape[:2], 1], position)], axis=-1)
        # A gather from the variable itself would make every later read of it a copy.
        embedding_VD = tf.convert_to_tensor(self.tokens)
        x_BD = tf.gather(embedding_VD, tf.gather(tokens, position, axis=1)) + tf.gather(self.positions, position)
        # Added to logits, so that no position attends to later ones.
        hidden_S = tf.where(tf.range(self.seq) <= position, 0.0, -1e9)
        for block in self.blocks:
            x_BD = block(x_BD, rows_BN3, hidden_S)
        logits_BV = tf.matmul(self.norm(x_BD), embedding_VD, transpose_b=True)
        self.position.assign_add(1)
        return tf.reduce_max(logits_BV, axis=-1), logits_BV


def loop(call, tokens):
    scores = []
    for _ in range(tokens.shape[1]):
        score_B, logits_BV = call(tokens)
        scores.append(score_B)
    return tf.stack(scores, axis=1), logits_BV
