"""Races our JAX, TensorFlow and Keras models against KerasHub's on the same backend: the two steps differ only in the
model.

Required of ours / theirs: an interval whose upper end is at most 1.03, and whose half-width is at most 2 %. Runs in the
environment `keras`; benchmarks/README.md shows the command.
"""

from __future__ import annotations

import os
import tempfile
from types import SimpleNamespace
from typing import Any

from benchmarks.race import Theirs, arguments, race

MODELS = ("gpt2", "bert", "vit", "resnet50", "llama")


class KerasHub(Theirs):
    """An adapter with KerasHub's model: what the adapters of both backends have in common."""

    def __str__(self) -> str:
        import keras
        import keras_hub

        return f"keras-hub {keras_hub.__version__}, keras {keras.__version__} on {keras.backend.backend()}"

    def find(self) -> None:
        """Builds their model, which has no weights of ours yet."""
        from benchmarks import keras_models

        self.theirs = keras_models.MODELS[self.workload.name](self.dims)  # type: ignore[attr-defined]
        self.model = self.theirs.model


def on_jax(adapter: type[Any]) -> type[Any]:
    """Returns our JAX adapter with their model: our jitted step, whose state is donated, has their stateless call."""

    class OnJax(KerasHub, adapter):  # type: ignore[misc]
        def build(self, abstract: bool = False) -> None:
            super().build()
            self.find()
            self.loss_and_gradients = self.jax.value_and_grad(self.keras_loss, has_aux=True)

        def keras_loss(self, parameters: Any, rest: Any, batch: Any) -> tuple[Any, Any]:
            inputs = {name: value for name, value in batch.items() if name != "target"}
            logits, rest = self.model.stateless_call(parameters, rest, self.theirs.inputs(**inputs), training=True)
            return self.optax.softmax_cross_entropy_with_integer_labels(logits, batch["target"]).mean(), rest

        def place(self, parameters: Any, batch: Any, moments: bool = True) -> tuple[Any, Any]:
            self.theirs.load(parameters)
            trained = [variable.value for variable in self.model.trainable_variables]
            rest = [variable.value for variable in self.model.non_trainable_variables]
            state = trained, rest, self.transform.init(trained)
            return self.jax.block_until_ready((state, {name: self.jax.device_put(value) for name, value in batch}))

    return OnJax


def on_tensorflow(adapter: type[Any]) -> type[Any]:
    """Returns our TensorFlow adapter with their model: our traced step and our optimizer work on their variables."""

    class OnTensorFlow(KerasHub, adapter):  # type: ignore[misc]
        def build(self, abstract: bool = False) -> None:
            self.find()
            self.dialect = SimpleNamespace(loss=self.keras_loss)
            self.variables = {variable.path: variable.value for variable in self.model.trainable_variables}
            self.updater = self.make_optimizer(self.variables)
            spec, dims = self.workload.spec, self.dims
            tensors = dict(spec.inputs(dims)) | {"target": spec.target(dims)}
            shapes = {name: self.signature(tensor) for name, tensor in tensors.items()}
            self.run = self.compile(self.train_step, shapes)

        def keras_loss(self, model: Any, target: Any, **inputs: Any) -> Any:
            logits = model(self.theirs.inputs(**inputs), training=True)
            nats = self.tf.nn.sparse_softmax_cross_entropy_with_logits(labels=target, logits=logits)
            return self.tf.reduce_mean(nats)

        def place(self, parameters: Any, batch: Any, moments: bool = True) -> tuple[Any, Any]:
            self.theirs.load(parameters)
            self.updater.reset()
            return (self.model, self.updater), {name: self.tf.constant(value) for name, value in batch}

    return OnTensorFlow


def on_keras(adapter: type[Any]) -> type[Any]:
    """Returns our Keras adapter with their model: the same trainer's step."""

    class OnKeras(KerasHub, adapter):  # type: ignore[misc]
        def make_model(self, dialect: Any) -> Any:
            self.find()
            return self.model

        def named_variables(self) -> dict[str, Any]:
            return {variable.path: variable for variable in self.model.weights}

        def canonical_name(self, path: str) -> str:
            return path

        def load(self, parameters: Any) -> None:
            self.theirs.load(parameters)

        def split(self, batch: Any) -> tuple[Any, Any]:
            inputs = {name: value for name, value in batch.items() if name != "target"}
            return self.theirs.inputs(**inputs), batch["target"]

    return OnKeras


BACKENDS = {
    "jax_jit": ("jax", on_jax),
    "tf_graph": ("tensorflow", on_tensorflow),
    "tf_xla": ("tensorflow", on_tensorflow),
    "keras_jax": ("jax", on_keras),
    "keras_tf": ("tensorflow", on_keras),
}


def main() -> None:
    options = arguments(__doc__, tuple(BACKENDS), MODELS).parse_args()
    backend, on = BACKENDS[options.stack]
    with tempfile.TemporaryDirectory(prefix="stack-wars-") as home:
        # An empty home folder, since a user's keras.json may set other types and layouts.
        os.environ |= {"KERAS_BACKEND": backend, "KERAS_HOME": home}
        race(options, lambda ours: on(type(ours))(ours))


if __name__ == "__main__":
    main()
