"""llama in TensorFlow.

Legend: B = batch, S = T = seq, P = B*S tokens, D = width, K = kv_heads, G = query heads of each of them, H = width of
a head, R = H/2 rotary pairs, V = vocab.
"""

import numpy as np
import tensorflow as tf

from suite.workloads.layers.layers_tf import Dense, lookup

EPSILON = 1e-5
ROPE_THETA, ROPE_FACTOR, LOW_TURNS, HIGH_TURNS, ORIGINAL_CONTEXT = 500000.0, 8.0, 1.0, 4.0, 8192


def rotary_tables(seq, head_width):
    """Returns cosines and sines of the rotary angle of each pair of elements (i, i + H/2) at each position, with the
    scaling of Llama 3.1."""
    frequencies_R = ROPE_THETA ** (-np.arange(0, head_width, 2) / head_width)
    turns_R = ORIGINAL_CONTEXT * frequencies_R / (2 * np.pi)
    kept_R = np.clip((turns_R - LOW_TURNS) / (HIGH_TURNS - LOW_TURNS), 0.0, 1.0)
    frequencies_R *= kept_R + (1.0 - kept_R) / ROPE_FACTOR
    angles_SR = tf.range(seq, dtype=tf.float32)[:, None] * tf.constant(frequencies_R, tf.float32)
    return tf.cos(angles_SR), tf.sin(angles_SR)


def rotate(x_BKGSH, cos_SR, sin_SR):
    """Rotates each pair of elements (i, i + H/2) by the angle of its position."""
    a_BKGSR, b_BKGSR = tf.split(x_BKGSH, 2, axis=-1)
    return tf.concat([a_BKGSR * cos_SR - b_BKGSR * sin_SR, b_BKGSR * cos_SR + a_BKGSR * sin_SR], axis=-1)


class RMSNorm(tf.Module):
    def __init__(self, width, name):
        super().__init__()
        self.weight = tf.Variable(tf.ones([width]), name=f"{name}.weight")

    def __call__(self, x_PD):
        mean_P1 = tf.reduce_mean(tf.square(x_PD), axis=-1, keepdims=True)
        return x_PD * tf.math.rsqrt(mean_P1 + EPSILON) * self.weight


class Attention(tf.Module):
    def __init__(self, batch, seq, width, heads, kv_heads, name):
        super().__init__()
        self.shape = [batch, seq, kv_heads, heads // kv_heads, width // heads]
        kv_width = kv_heads * (width // heads)
        self.query = Dense(width, width, name=f"{name}.query", bias=False)
        self.key = Dense(width, kv_width, name=f"{name}.key", bias=False)
        self.value = Dense(width, kv_width, name=f"{name}.value", bias=False)
        self.out = Dense(width, width, name=f"{name}.out", bias=False)

    def __call__(self, x_PD, tables, mask_ST):
        B, S, K, G, H = self.shape
        q_BKGSH = tf.transpose(tf.reshape(self.query(x_PD), [B, S, K, G, H]), [0, 2, 3, 1, 4])
        k_BKTH = tf.transpose(tf.reshape(self.key(x_PD), [B, S, K, H]), [0, 2, 1, 3])
        v_BKTH = tf.transpose(tf.reshape(self.value(x_PD), [B, S, K, H]), [0, 2, 1, 3])
        # A group's queries are one matrix (GS, H), so that its keys and values are read once and never repeated.
        q_BKQH = tf.reshape(rotate(q_BKGSH, *tables) * H**-0.5, [B, K, G * S, H])
        logits_BKQT = tf.matmul(q_BKQH, rotate(k_BKTH, *tables), transpose_b=True)
        p_BKGST = tf.nn.softmax(tf.reshape(logits_BKQT, [B, K, G, S, S]) + mask_ST)
        o_BKQH = tf.matmul(tf.reshape(p_BKGST, [B, K, G * S, S]), v_BKTH)
        o_BSKGH = tf.transpose(tf.reshape(o_BKQH, [B, K, G, S, H]), [0, 3, 1, 2, 4])
        return self.out(tf.reshape(o_BSKGH, x_PD.shape))


class MLP(tf.Module):
    def __init__(self, width, hidden, name):
        super().__init__()
        self.gate = Dense(width, hidden, name=f"{name}.gate", bias=False)
        self.up = Dense(width, hidden, name=f"{name}.up", bias=False)
        self.down = Dense(hidden, width, name=f"{name}.down", bias=False)

    def __call__(self, x_PD):
        return self.down(tf.nn.silu(self.gate(x_PD)) * self.up(x_PD))


class Block(tf.Module):
    def __init__(self, batch, seq, width, heads, kv_heads, hidden, name):
        super().__init__()
        self.attention_norm = RMSNorm(width, name=f"{name}.attention_norm")
        self.attention = Attention(batch, seq, width, heads, kv_heads, name=f"{name}.attention")
        self.mlp_norm = RMSNorm(width, name=f"{name}.mlp_norm")
        self.mlp = MLP(width, hidden, name=f"{name}.mlp")

    def __call__(self, x_PD, tables, mask_ST):
        x_PD += self.attention(self.attention_norm(x_PD), tables, mask_ST)
        x_PD += self.mlp(self.mlp_norm(x_PD))
        return x_PD


class Model(tf.Module):
    def __init__(self, batch, seq, layers, heads, kv_heads, width, hidden, vocab, positions):
        super().__init__()
        self.shape = [batch, seq, width]
        self.head_width = width // heads
        self.tokens = tf.Variable(tf.zeros([vocab, width]), name="tokens.weight")
        self.blocks = [
            Block(batch, seq, width, heads, kv_heads, hidden, name=f"blocks.{layer}") for layer in range(layers)
        ]
        self.norm = RMSNorm(width, name="norm")
        self.head = Dense(width, vocab, name="head", bias=False)

    def __call__(self, tokens):
        B, S, D = self.shape
        tables = rotary_tables(S, self.head_width)
        # Added to the logits, so that no position attends to later ones.
        mask_ST = tf.where(tf.range(S)[:, None] >= tf.range(S), 0.0, -np.inf)
        embedding_VD = tf.convert_to_tensor(self.tokens)
        x_BSD = lookup(embedding_VD, tokens)
        # Tokens are rows: a 3-D tf.matmul with a 2-D weight would be a broadcasting batch product.
        x_PD = tf.reshape(x_BSD, [B * S, D])
        for block in self.blocks:
            x_PD = block(x_PD, tables, mask_ST)
        return tf.reshape(self.head(self.norm(x_PD)), [B, S, -1])


def loss(model, tokens, target):
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=target, logits=model(tokens)))
