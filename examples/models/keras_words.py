# /// script
# requires-python = ">=3.11"
# dependencies = ["keras"]
# ///
"""On which of Keras's backends is a small encoder of words fastest, and do they train it alike?"""

import keras
from keras import layers

from suite.ask import integers


def inputs(batch=8, length=32):
    return {"words": integers(batch, length, high=1000), "mood": integers(batch, high=2)}


def keras_model():
    words = keras.Input((None,), dtype="int32", name="words")
    x = layers.Embedding(1000, 64)(words)
    for _ in range(2):
        x = layers.LayerNormalization()(x + layers.MultiHeadAttention(4, 16, dropout=0.1)(x, x))
        x = layers.LayerNormalization()(x + layers.Dense(64)(layers.Dense(128, activation="gelu")(x)))
    return keras.Model(words, layers.Dense(2)(layers.Dropout(0.2)(layers.GlobalAveragePooling1D()(x))))


def loss(outputs, mood):
    return keras.losses.SparseCategoricalCrossentropy(from_logits=True)(mood, outputs)


def keras_optimizer():
    return keras.optimizers.Adam(1e-3)
