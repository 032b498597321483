"""A question's function as the forward pass and the loss of a workload in JAX."""

from types import SimpleNamespace

import jax
import jax.numpy as jnp

from suite.workloads import trees
from suite.workloads.questions.models import taken


def code(function, of_inputs, loss, parameters):
    """`of_inputs` makes the function's arguments from named arrays."""

    def forward(dims, parameters, /, **inputs):
        return function(**of_inputs(parameters | inputs))

    def scalar(dims, parameters, /, **inputs):
        return loss(forward(dims, parameters, **inputs), mean_cube)

    return SimpleNamespace(forward=forward, loss=scalar)


def stepping(setup, step, of_inputs, carried):
    """The file's own setup and step. A state is what the setup returned, by name, and the inputs that are carried."""

    def start(values, batch):
        arguments = of_inputs(values | batch)
        state = {name: arguments[name] for name in carried} | dict(setup(**taken(setup, arguments, ())))
        return jax.tree.map(jnp.copy, state)  # no array is in it twice: it is donated

    def advance(state, batch):
        rest = {name: value for name, value in of_inputs(batch).items() if name not in carried}
        loss, changed = step(**taken(step, rest | state, ()))
        return state | changed, loss

    def values(state):
        return dict(trees.leaves({name: state[name] for name in carried}))

    return SimpleNamespace(start=start, advance=advance, values=values)


def mean_cube(x):
    return jnp.mean(jnp.abs(x) ** 3) if jnp.issubdtype(x.dtype, jnp.inexact) else None


def namespace():
    return jnp
