"""Keras on JAX: `fit`'s and `predict`'s step, which Keras compiles whole, with its state donated."""

from __future__ import annotations

from suite.stacks.jax import jax_jit_adapter as jax_jit
from suite.stacks.keras.keras_adapter import KerasAdapter, OnBackend
from suite.stacks.keras.keras_model_adapter import OfFile


class Adapter(KerasAdapter, jax_jit.Adapter):
    """State: lists of arrays, as Keras's trainer keeps them from step to step: trained and other variables, those of
    the optimizer, those of the metrics."""

    backend = "jax"
    packages = ("keras", *jax_jit.Adapter.packages)
    knobs = ()  # Keras compiles here by itself
    in_place = False

    def build(self, abstract=False):
        super().build(abstract)
        jit, model = self.jax.jit, self.model
        self.predicted_alone = jit(model.predict_step)

        def loss_and_gradients(trained, others, x, y):
            loss = self.jax.value_and_grad(model.compute_loss_and_updates, has_aux=True)
            (loss, _), gradients = loss(trained, others, [], x, y, None, training=True, optimizer_variables=[])
            return loss, gradients

        self.loss_of_state = jit(loss_and_gradients)
        # For reading programs: what Keras jits inside its functions, where it can't be got at.
        if not self.train:
            self.program = jit(lambda state, data: (model.predict_step(state, data), state), donate_argnums=0)
        else:
            self.program = jit(model.train_step, donate_argnums=0) if self.optimizer else self.loss_of_state

    def arguments(self, state, batch):
        x, y = self.split(batch)
        return (state, (x,) if y is None else (x, y)) if self.optimizer or not self.train else (*state, x, y)

    def put_input(self, name, value):
        return self.put_named(name, value)

    def renew(self, variable, moments):
        if moments:
            variable.assign(self.jax.numpy.zeros(variable.shape, variable.dtype))

    def state(self, updates):
        # `fit` takes the state out of the model like this, so that it is in memory once.
        return self.model._get_jax_state(
            trainable_variables=True,
            non_trainable_variables=True,
            optimizer_variables=updates,
            metrics_variables=updates,
            purge_model_variables=True,
        )

    def held(self, state):
        model = self.model
        groups = [model.trainable_variables, model.non_trainable_variables]
        groups += [model.optimizer.variables, model.metrics_variables] if len(state) > len(groups) else []
        arrays = {id(v): a for group, held in zip(groups, state, strict=True) for v, a in zip(group, held, strict=True)}
        return lambda variable: arrays[id(variable)]

    def step(self, state, batch):
        x, y = self.split(batch)
        if not self.train:
            outputs, state = self.model.predict_function(state, iter([(x,)]))
            return state, outputs
        if not self.optimizer:
            return state, self.loss_and_gradients(state, x, y)
        logs, state = self.model.train_function(state, iter([(x, y)]))
        return state, logs["loss"]

    def predicted(self, state, x):
        return self.predicted_alone(state[:2], (x,))[0]

    def loss_and_gradients(self, state, x, y):
        return self.loss_of_state(*state[:2], x, y)


class ModelAdapter(OfFile, Adapter):
    """State: as for the suite's own models."""


class FunctionAdapter(OnBackend, jax_jit.Adapter):
    """State: as `jax_jit` has it."""

    backend, packages = Adapter.backend, Adapter.packages
    of_models = ModelAdapter
