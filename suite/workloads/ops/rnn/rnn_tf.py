"""rnn in TensorFlow. Legend: B = batch, S = seq, D = width, H = hidden, G = 4*H."""

import tensorflow as tf


class Model(tf.Module):
    def __init__(self, batch, seq, width, hidden):
        super().__init__()
        self.shape = batch, seq, width, hidden
        self.w_DG = tf.Variable(tf.zeros([width, 4 * hidden]), name="lstm.weight_ih_l0")
        self.u_HG = tf.Variable(tf.zeros([hidden, 4 * hidden]), name="lstm.weight_hh_l0")
        self.bias_G = tf.Variable(tf.zeros([4 * hidden]), name="lstm.bias_ih_l0")

    def __call__(self, x):
        B, S, D, H = self.shape
        # Steps are rows of a TensorArray: the gradient of a slice would be as large as all steps. The inputs' product
        # stays in the loop. As one product before it, the gates of all steps go through memory: a compiled forward pass
        # of 512 steps took 1.4 to 2.2 times as long on a CPU, a training step as long.
        x_SBD = tf.TensorArray(x.dtype, S, element_shape=[B, D]).unstack(tf.transpose(x, [1, 0, 2]))
        w_DG, u_HG, bias_G = map(tf.convert_to_tensor, (self.w_DG, self.u_HG, self.bias_G))

        def step(s, h_BH, c_BH, h_SBH):
            gates_BG = tf.nn.bias_add(tf.matmul(x_SBD.read(s), w_DG) + tf.matmul(h_BH, u_HG), bias_G)
            i_BH, f_BH, g_BH, o_BH = tf.split(gates_BG, 4, axis=-1)
            c_BH = tf.sigmoid(f_BH) * c_BH + tf.sigmoid(i_BH) * tf.tanh(g_BH)
            h_BH = tf.sigmoid(o_BH) * tf.tanh(c_BH)
            return s + 1, h_BH, c_BH, h_SBH.write(s, h_BH)

        zeros_BH = tf.zeros([B, H], x.dtype)
        h_SBH = tf.TensorArray(x.dtype, S, element_shape=[B, H])
        # Without the maximum, XLA can't differentiate a loop: it must know how many steps' values are kept.
        *_, h_SBH = tf.while_loop(lambda s, *_: s < S, step, (0, zeros_BH, zeros_BH, h_SBH), maximum_iterations=S)
        return tf.transpose(h_SBH.stack(), [1, 0, 2])


def loss(model, x, target):
    return tf.reduce_mean(tf.math.squared_difference(model(x), target))
