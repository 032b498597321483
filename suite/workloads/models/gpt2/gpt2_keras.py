"""GPT-2 in Keras. Legend: B = batch, T = seq, D = width, N = heads, H = D/N, V = vocab."""

import keras
from keras import layers, ops

from suite.workloads.layers.layers_keras import Positions, cross_entropy, gelu_tanh, mlp

EPSILON = 1e-5


def attention(x_BTD, heads, name):
    _, T, D = x_BTD.shape
    # One product for the three, which layers.MultiHeadAttention computes by three.
    qkv_BTE = layers.Dense(3 * D, name=f"{name}_qkv")(x_BTD)
    qkv_BT3NH = layers.Reshape([T, 3, heads, D // heads])(qkv_BTE)
    o_BTNH = ops.dot_product_attention(*ops.unstack(qkv_BT3NH, 3, axis=2), is_causal=True)
    return layers.Dense(D, name=f"{name}_out")(layers.Reshape([T, D])(o_BTNH))


def norm(x_BTD, name):
    return layers.LayerNormalization(epsilon=EPSILON, name=name)(x_BTD)


def block(x_BTD, heads, hidden, name):
    x_BTD = x_BTD + attention(norm(x_BTD, f"{name}_norm1"), heads, f"{name}_attention")
    return x_BTD + mlp(norm(x_BTD, f"{name}_norm2"), x_BTD.shape[-1], hidden, gelu_tanh, f"{name}_mlp")


def model(seq, layers, heads, width, hidden, vocab, positions):
    tokens_BT = keras.Input([seq], dtype="int32")
    embedding = keras.layers.ReversibleEmbedding(vocab, width, name="tokens")
    x_BTD = Positions(positions, width, name="positions")(embedding(tokens_BT))
    for layer in range(layers):
        x_BTD = block(x_BTD, heads, hidden, f"blocks_{layer}")
    return keras.Model(tokens_BT, embedding(norm(x_BTD, "norm"), reverse=True))  # the head is tied to the embedding


loss = cross_entropy
