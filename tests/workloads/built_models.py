"""Builds every model at its published size without allocating it: `python built_models.py DIALECT FOLDER...`.

Started by test_built_models.py in an environment that has the framework. Prints JSON: by model, the canonical
shape of each parameter as the framework made it, the shape of the forward pass's output, and (JAX) the bytes
of parameters, buffers and optimizer state.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from suite.stacks.base import nested
from suite.workloads import catalog
from suite.workloads.tensors import Integers


def built_by_torch(workload, dims):
    """The nn.Module on the meta device. nn.Linear has (outputs, inputs), nn.Conv2d OIHW, images NCHW."""
    import torch

    inputs = {
        name: torch.empty(t.shape, dtype=torch.int64 if isinstance(t, Integers) else torch.float32, device="meta")
        for name, t in workload.spec.inputs(dims).items()
    }
    inputs = {name: value.permute(0, 3, 1, 2) if value.ndim == 4 else value for name, value in inputs.items()}
    with torch.device("meta"):
        model = workload.dialect("torch").Model(**dims).eval()
        turned = {id(m.weight): (1, 0) for m in model.modules() if isinstance(m, torch.nn.Linear)}
        turned |= {id(m.weight): (2, 3, 1, 0) for m in model.modules() if isinstance(m, torch.nn.Conv2d)}
        shapes = {
            name: list(value.permute(*turned.get(id(value), range(value.ndim))).shape)
            for name, value in model.named_parameters()
        }
        if hasattr(model, "start"):  # one call of a loop
            return shapes, list(model(model.start(**inputs), **inputs)[-1].shape)
        return shapes, list(model(**inputs).shape)


def built_by_tf(workload, dims):
    """The tf.Module in a graph, where variables are symbols until they are initialised."""
    import tensorflow as tf

    with tf.Graph().as_default():
        model = workload.dialect("tf").Model(**dims)
        inputs = {
            name: tf.zeros(t.shape, tf.int32 if isinstance(t, Integers) else tf.float32)
            for name, t in workload.spec.inputs(dims).items()
        }
        output = model(**inputs)
        output = output[-1] if hasattr(model, "start") else output
        shapes = {v.name.removesuffix(":0"): v.shape.as_list() for v in model.trainable_variables}
        return shapes, output.shape.as_list()


def built_by_jax(workload, dims):
    """The spec's shapes, if the model takes all of them: one that it doesn't read has no equation."""
    import jax
    import optax

    from suite.stacks.jax.jax_runtime import make_optimizer

    def abstract(tensors):
        kinds = {name: "int32" if isinstance(t, Integers) else "float32" for name, t in tensors.items()}
        return {name: jax.ShapeDtypeStruct(t.shape, kinds[name]) for name, t in tensors.items()}

    tensors = workload.tensors(dims, "forward")
    parameters, buffers = tensors.parameters, tensors.buffers

    dialect = workload.dialect("jax")

    def forward(parameters, buffers, inputs):
        state = (nested(parameters), nested(buffers)) if buffers else (nested(parameters),)
        if hasattr(dialect, "loop"):
            return dialect.token(dims, *state, dialect.start(dims), **inputs)[-1]
        return dialect.forward(dims, *state, **inputs)

    traced = jax.make_jaxpr(forward)(abstract(parameters), abstract(buffers), abstract(workload.spec.inputs(dims)))
    read = {id(v) for equation in traced.jaxpr.eqns for v in equation.invars}
    # A pytree's leaves are in the order of its sorted keys.
    leaves = dict(zip(sorted(parameters), traced.jaxpr.invars, strict=False))
    shapes = {name: list(leaf.aval.shape) for name, leaf in leaves.items() if id(leaf) in read}
    if not workload.spec.OPTIMIZER:
        return shapes, list(traced.out_avals[0].shape)
    moments = jax.eval_shape(make_optimizer(optax, workload.spec.OPTIMIZER).init, abstract(parameters))
    kept = [leaf for leaf in jax.tree.leaves((abstract(parameters), abstract(buffers), moments)) if leaf.ndim]
    return shapes, list(traced.out_avals[0].shape), sum(leaf.size * leaf.dtype.itemsize for leaf in kept)


def main():
    dialect, *folders = sys.argv[1:]
    build = {"torch": built_by_torch, "tf": built_by_tf, "jax": built_by_jax}[dialect]
    found = {}
    for folder in map(Path, folders):
        workload = catalog.load(folder)
        shapes, output, *state_bytes = build(workload, workload.dims("full", {}))
        found[workload.name] = {"parameters": shapes, "output": output, "state_bytes": state_bytes}
    print(json.dumps(found))


if __name__ == "__main__":
    main()
