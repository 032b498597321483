# /// script
# requires-python = ">=3.11"
# dependencies = ["equinox"]
# ///
"""How much slower is an Equinox network on raw sound without jit?"""

import equinox as eqx
import jax
import optax

from suite.ask import normal


def inputs(batch=4, samples=4096):
    return {"sound": normal(batch, 1, samples)}


class Batched(eqx.Module):
    layers: eqx.nn.Sequential

    def __call__(self, sound):
        return jax.vmap(self.layers)(sound)


def jax_model():
    k1, k2, k3 = jax.random.split(jax.random.key(0), 3)
    gelu, mean = eqx.nn.Lambda(jax.nn.gelu), eqx.nn.Lambda(lambda x: x.mean(-1))
    convs = eqx.nn.Conv1d(1, 32, 9, 4, key=k1), gelu, eqx.nn.Conv1d(32, 64, 9, 4, key=k2), gelu
    return Batched(eqx.nn.Sequential([*convs, mean, eqx.nn.Linear(64, 8, key=k3)]))


def jax_optimizer():
    return optax.adamw(3e-4)
