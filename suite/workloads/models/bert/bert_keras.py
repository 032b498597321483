"""bert in Keras. Legend: B = batch, S = seq, D = width, V = vocab."""

import keras
from keras import layers, ops

from suite.workloads.layers.layers_keras import Bias, Positions, attention, cross_entropy, gelu_erf, mlp

EPSILON = 1e-12


def norm(x_BSD, name):
    return layers.LayerNormalization(epsilon=EPSILON, name=name)(x_BSD)


def block(x_BSD, heads, width, hidden, name):
    x_BSD = norm(x_BSD + attention(x_BSD, heads, width, f"{name}_attention"), f"{name}_attention_norm")
    return norm(x_BSD + mlp(x_BSD, width, hidden, gelu_erf, f"{name}_mlp"), f"{name}_mlp_norm")


def model(seq, layers, heads, width, hidden, vocab, positions, types):
    tokens_BS = keras.Input([seq], dtype="int32")
    types_BS = keras.Input([seq], dtype="int32")
    embedding = keras.layers.ReversibleEmbedding(vocab, width, name="tokens")
    # One-hot, as in the paper's own code, which says that it is faster for few types. It is also right: on TensorFlow,
    # Keras's AdamW squares the gradient of an Embedding lookup by lookup, so v is wrong where an id is there twice.
    types_BSD = keras.layers.Dense(width, use_bias=False, name="types")(ops.one_hot(types_BS, types))
    x_BSD = embedding(tokens_BS) + types_BSD
    x_BSD = norm(Positions(positions, width, name="positions")(x_BSD), "embedding_norm")
    for layer in range(layers):
        x_BSD = block(x_BSD, heads, width, hidden, f"blocks_{layer}")
    x_BSD = norm(keras.layers.Dense(width, activation=gelu_erf, name="head_dense")(x_BSD), "head_norm")
    logits_BSV = Bias(vocab, name="head_bias")(embedding(x_BSD, reverse=True))  # tied to the embedding
    return keras.Model({"tokens": tokens_BS, "types": types_BS}, logits_BSV)


loss = cross_entropy
