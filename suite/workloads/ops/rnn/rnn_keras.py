"""rnn in Keras."""

import keras
from keras import layers

NAMES = {
    "lstm/lstm_cell/kernel": "lstm.weight_ih_l0",
    "lstm/lstm_cell/recurrent_kernel": "lstm.weight_hh_l0",
    "lstm/lstm_cell/bias": "lstm.bias_ih_l0",
}


def model(seq, width, hidden):
    x = keras.Input([seq, width])
    return keras.Model(x, layers.LSTM(hidden, return_sequences=True, name="lstm")(x))


loss = keras.losses.MeanSquaredError
