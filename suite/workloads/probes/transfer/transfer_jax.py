"""transfer in JAX, by `jax.device_put`, which this suite's workloads also use, and by the shorter `jnp.asarray`."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import SingleDeviceSharding


def to_device(host):
    return jax.device_put(host)


def convert(host):
    return jnp.asarray(host)


def to_host(x):
    return np.asarray(x)


def from_pinned(pinned):
    return jax.device_put(pinned, SingleDeviceSharding(jax.devices()[0], memory_kind="device"))


def run(stack, recorder):
    spec = stack.workload.spec
    spec.observe(stack, recorder, to_device, to_host, convert)
    if stack.case.target == "cpu":
        recorder.lacks("pinned", spec.NOTHING_TO_PIN)
        return
    home = SingleDeviceSharding(jax.devices()[0], memory_kind="pinned_host")
    pinned = jax.block_until_ready(jax.device_put(spec.large(stack), home))
    spec.observe_pinned(stack, recorder, from_pinned, pinned)
