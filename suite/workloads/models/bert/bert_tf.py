"""bert in TensorFlow.

Legend: B = batch, S = T = seq, P = B*S tokens, D = width, F = hidden, N = heads, H = D/N, V = vocab.
"""

import tensorflow as tf

EPSILON = 1e-12


class Dense(tf.Module):
    def __init__(self, inputs, outputs, name):
        super().__init__()
        self.weight = tf.Variable(tf.zeros([inputs, outputs]), name=f"{name}.weight")
        self.bias = tf.Variable(tf.zeros([outputs]), name=f"{name}.bias")

    def __call__(self, x):
        return tf.nn.bias_add(tf.matmul(x, self.weight), self.bias)


class LayerNorm(tf.Module):
    def __init__(self, width, name):
        super().__init__()
        self.weight = tf.Variable(tf.ones([width]), name=f"{name}.weight")
        self.bias = tf.Variable(tf.zeros([width]), name=f"{name}.bias")

    def __call__(self, x):
        mean, variance = tf.nn.moments(x, axes=[-1], keepdims=True)
        return (x - mean) * tf.math.rsqrt(variance + EPSILON) * self.weight + self.bias


class Attention(tf.Module):
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
    def __init__(self, width, hidden, name):
        super().__init__()
        self.up = Dense(width, hidden, name=f"{name}.up")
        self.down = Dense(hidden, width, name=f"{name}.down")

    def __call__(self, x_PD):
        h_PF = tf.nn.gelu(self.up(x_PD))
        return self.down(h_PF)


class Block(tf.Module):
    def __init__(self, batch, seq, heads, width, hidden, name):
        super().__init__()
        self.attention = Attention(batch, seq, heads, width, name=f"{name}.attention")
        self.attention_norm = LayerNorm(width, name=f"{name}.attention_norm")
        self.mlp = MLP(width, hidden, name=f"{name}.mlp")
        self.mlp_norm = LayerNorm(width, name=f"{name}.mlp_norm")

    def __call__(self, x_PD):
        x_PD = self.attention_norm(x_PD + self.attention(x_PD))
        return self.mlp_norm(x_PD + self.mlp(x_PD))


class Head(tf.Module):
    """Its last product is with the token embedding, which the model owns."""

    def __init__(self, width, vocab, name):
        super().__init__()
        self.dense = Dense(width, width, name=f"{name}.dense")
        self.norm = LayerNorm(width, name=f"{name}.norm")
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
        self.embedding_norm = LayerNorm(width, name="embedding_norm")
        self.blocks = [Block(batch, seq, heads, width, hidden, name=f"blocks.{i}") for i in range(layers)]
        self.head = Head(width, vocab, name="head")

    def __call__(self, tokens, types):
        B, S = self.tokens_shape
        V, D = self.tokens.shape
        embedding_VD = tf.convert_to_tensor(self.tokens)  # XLA has no gather_nd of a variable
        # Not tf.gather, whose gradient is a sparse IndexedSlices: added to the head's gradient, it is a list of V + P
        # rows to scatter. gather_nd's gradient is dense (for ids of two axes or more): a scatter of P rows.
        tokens_BSD = tf.gather_nd(embedding_VD, tokens[..., tf.newaxis])
        types_BSD = tf.gather_nd(tf.convert_to_tensor(self.types), types[..., tf.newaxis])
        x_BSD = self.embedding_norm(tokens_BSD + types_BSD + self.positions[:S])
        # 2-D from here on: a 3-D tf.matmul with a 2-D weight would be a broadcasting batch product.
        x_PD = tf.reshape(x_BSD, [B * S, D])
        for block in self.blocks:
            x_PD = block(x_PD)
        return tf.reshape(self.head(x_PD, embedding_VD), [B, S, V])


def loss(model, tokens, types, target):
    logits_BSV = model(tokens, types)
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=target, logits=logits_BSV))
