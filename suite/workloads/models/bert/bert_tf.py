"""bert in TensorFlow.

Legend: B = batch, S = T = seq, P = B*S tokens, D = width, F = hidden, N = heads, H = D/N, V = vocab.
"""

import tensorflow as tf

from suite.workloads.layers.layers_tf import MLP, Attention, Dense, LayerNorm, lookup

EPSILON = 1e-12


class Block(tf.Module):
    def __init__(self, batch, seq, heads, width, hidden, name):
        super().__init__()
        self.attention = Attention(batch, seq, heads, width, name=f"{name}.attention")
        self.attention_norm = LayerNorm(width, EPSILON, name=f"{name}.attention_norm")
        self.mlp = MLP(width, hidden, approximate=False, name=f"{name}.mlp")
        self.mlp_norm = LayerNorm(width, EPSILON, name=f"{name}.mlp_norm")

    def __call__(self, x_PD):
        x_PD = self.attention_norm(x_PD + self.attention(x_PD))
        return self.mlp_norm(x_PD + self.mlp(x_PD))


class Head(tf.Module):
    """Its last product is with the token embedding, which the model owns."""

    def __init__(self, width, vocab, name):
        super().__init__()
        self.dense = Dense(width, width, name=f"{name}.dense")
        self.norm = LayerNorm(width, EPSILON, name=f"{name}.norm")
        self.bias = tf.Variable(tf.zeros([vocab]), name=f"{name}.bias")

    def __call__(self, x_PD, table_VD):
        x_PD = self.norm(tf.nn.gelu(self.dense(x_PD)))
        return tf.nn.bias_add(tf.matmul(x_PD, table_VD, transpose_b=True), self.bias)


class Model(tf.Module):
    def __init__(self, batch, seq, layers, heads, width, hidden, vocab, positions, types):
        super().__init__()
        self.tokens_shape = [batch, seq]
        self.tokens = tf.Variable(tf.zeros([vocab, width]), name="tokens.weight")
        self.positions = tf.Variable(tf.zeros([positions, width]), name="positions.weight")
        self.types = tf.Variable(tf.zeros([types, width]), name="types.weight")
        self.embedding_norm = LayerNorm(width, EPSILON, name="embedding_norm")
        self.blocks = [Block(batch, seq, heads, width, hidden, name=f"blocks.{i}") for i in range(layers)]
        self.head = Head(width, vocab, name="head")

    def __call__(self, tokens, types):
        B, S = self.tokens_shape
        V, D = self.tokens.shape
        embedding_VD = tf.convert_to_tensor(self.tokens)
        tokens_BSD = lookup(embedding_VD, tokens)
        types_BSD = lookup(tf.convert_to_tensor(self.types), types)
        x_BSD = self.embedding_norm(tokens_BSD + types_BSD + self.positions[:S])
        # 2-D from here on: a 3-D tf.matmul with a 2-D weight would be a broadcasting batch product.
        x_PD = tf.reshape(x_BSD, [B * S, D])
        for block in self.blocks:
            x_PD = block(x_PD)
        return tf.reshape(self.head(x_PD, embedding_VD), [B, S, V])


def loss(model, tokens, types, target):
    logits_BSV = model(tokens, types)
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=target, logits=logits_BSV))
