# /// script
# requires-python = ">=3.11"
# dependencies = ["keras"]
# ///
"""On which of Keras's backends is a small network for digits, with batch norm, fastest?"""

import keras
from keras import layers

from suite.ask import integers, normal


def inputs(batch=16, side=28):
    return {"image": normal(batch, side, side, 1), "digit": integers(batch, high=10)}


def keras_model():
    first = layers.Conv2D(16, 3, padding="same"), layers.BatchNormalization(), layers.ReLU(), layers.MaxPooling2D()
    second = layers.Conv2D(32, 3, padding="same"), layers.BatchNormalization(), layers.ReLU(), layers.MaxPooling2D()
    return keras.Sequential([*first, *second, layers.Flatten(), layers.Dropout(0.3), layers.Dense(10)])


def loss(outputs, digit):
    return keras.losses.SparseCategoricalCrossentropy(from_logits=True)(digit, outputs)


def keras_optimizer():
    return keras.optimizers.SGD(1e-2, momentum=0.9)
