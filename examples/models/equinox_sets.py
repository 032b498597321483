# /// script
# requires-python = ">=3.11"
# dependencies = ["equinox"]
# ///
"""Does jit make Equinox's attention over sets of points as fast as one large matrix product?"""

import equinox as eqx
import jax
import optax

from suite.ask import normal


def inputs(batch=8, points=64):
    return {"points": normal(batch, points, 64)}


class Points(eqx.Module):
    attend: eqx.nn.MultiheadAttention
    norm: eqx.nn.LayerNorm
    out: eqx.nn.MLP

    def __call__(self, points):
        x = jax.vmap(jax.vmap(self.norm))(points + jax.vmap(self.attend)(points, points, points))
        return jax.vmap(self.out)(x.mean(1))


def jax_model():
    k1, k2 = jax.random.split(jax.random.key(0))
    attend = eqx.nn.MultiheadAttention(4, 64, use_query_bias=True, key=k1)
    return Points(attend, eqx.nn.LayerNorm(64), eqx.nn.MLP(64, 10, 256, 2, key=k2))


def jax_optimizer():
    return optax.adamw(3e-4)
