"""A question's function as a module in TensorFlow. What gradients are taken of are its variables."""

from types import SimpleNamespace

import tensorflow as tf


def code(function, of_inputs, loss, parameters):
    """`of_inputs` makes the function's arguments from named tensors; `parameters` are Tensors by name."""

    class Model(tf.Module):
        def __init__(self, **dims):
            super().__init__()
            self.held = [
                tf.Variable(tf.zeros(tensor.shape, tensor.dtype), name=name) for name, tensor in parameters.items()
            ]

        def __call__(self, **inputs):
            held = {name: tf.convert_to_tensor(variable) for name, variable in zip(parameters, self.held, strict=True)}
            return function(**of_inputs(held | inputs))

    def scalar(model, /, **inputs):
        return loss(model(**inputs), mean_cube)

    return SimpleNamespace(Model=Model, loss=scalar)


def mean_cube(x):
    if not (x.dtype.is_floating or x.dtype.is_complex):
        return None
    size = tf.abs(x)
    return tf.reduce_mean(size * size * size)  # the gradient of ** would be a power too
