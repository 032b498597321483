"""One step of decoding: write a row of the key-value cache, then attend. huggingface/transformers#31857"""

import jax
import jax.numpy as jnp
import torch

from suite.ask import normal


def inputs(heads=8, length=2_048, width=64, place=1_000):
    cache = {name: normal(heads, length, width) for name in "kv"}
    return {"cache": cache, **{name: normal(heads, 1, width) for name in "qkv"}, "place": place}


def torch_out_of_place(cache, q, k, v, place):
    keys, values = (torch.cat([old[:, :place], new], 1) for old, new in ((cache["k"], k), (cache["v"], v)))
    return torch.softmax(q @ keys.transpose(1, 2) * q.shape[-1] ** -0.5, -1) @ values


def jax_update_slice(cache, q, k, v, place):
    keys, values = (
        jax.lax.dynamic_update_slice(old, new, (0, place, 0)) for old, new in ((cache["k"], k), (cache["v"], v))
    )
    scores = q @ keys.transpose(0, 2, 1) * q.shape[-1] ** -0.5
    return jax.nn.softmax(jnp.where(jnp.arange(keys.shape[1]) <= place, scores, -jnp.inf), -1) @ values
