"""Keras on TensorFlow: `fit`'s and `predict`'s step in tf.function; XLA compiles it where Keras decides so, on GPUs."""

from __future__ import annotations

from suite.stacks.keras.keras_adapter import JIT, KerasAdapter, OnBackend
from suite.stacks.keras.keras_model_adapter import OfFile
from suite.stacks.observed import Observed
from suite.stacks.tensorflow import tf_graph_adapter as tf_graph
from suite.stacks.tensorflow.tf_optimizers import renew


class Adapter(KerasAdapter, tf_graph.Adapter):
    backend = "tensorflow"
    packages = ("keras", *tf_graph.Adapter.packages)
    knobs = (JIT,)
    holders = Observed.holders  # the native stack's tensors are found by its own optimizer

    def mix(self, mixed):
        """Does nothing: Keras's layers cast by their policy."""

    def make_model(self, dialect):
        model, self.traces = super().make_model(dialect), 0
        for name in ("train_step", "predict_step"):
            setattr(model, name, self.counted(getattr(model, name)))
        return model

    def counted(self, step):
        """Returns a step that is called once in each trace: Keras keeps its tf.function to itself."""

        def call(data):
            self.traces += 1
            return step(data)

        return call

    def counters(self):
        counted = super().counters()
        return counted | {name: counted[name] + self.traces for name in ("traces", "compiles")}

    def build(self, abstract=False):
        super().build(abstract)
        self.jit_compile = self.model.jit_compile
        self.loss_of_batch = self.jit(self.gradients_of_loss)

    def put_input(self, name, value):
        return self.tf.constant(value, self.types[name])

    def renew(self, variable, moments):
        renew(self.tf, variable.value, self.tf.zeros(variable.shape if moments else [0], variable.dtype))

    def loss_and_gradients(self, state, x, y):
        return self.loss_of_batch(x, y)

    def gradients_of_loss(self, x, y):
        variables = [variable.value for variable in self.model.trainable_variables]
        with self.tf.GradientTape() as tape:
            loss = self.model.compute_loss(x, y, self.model(x, training=True))
        # The gradient of an embedding is slices, which Keras's optimizer takes as they are.
        gradients = tape.gradient(loss, variables, unconnected_gradients="zero")  # the loss may leave some out
        return loss, [self.tf.convert_to_tensor(gradient) for gradient in gradients]


class ModelAdapter(OfFile, Adapter):
    """State: as for the suite's own models."""


class FunctionAdapter(OnBackend, tf_graph.Adapter):
    """State: as `tf_graph` has it."""

    backend, packages = Adapter.backend, Adapter.packages
    of_models = ModelAdapter
