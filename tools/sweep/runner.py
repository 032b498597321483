"""Computes expressions on the stacks of one environment: `python runner.py ENVIRONMENT`, in its own Python.

It reads a line of JSON for each question, and answers with one: {"type", "bytes"} or {"refused"}. It needs the standard
library, NumPy and the framework alone.
"""

from __future__ import annotations

import base64
import json
import os
import sys

import numpy as np


def names_of(of, **own):
    names = ("floor_divide", "remainder", "fmod", "divmod", "sqrt", "square", "exp", "log", "abs", "sign", "where")
    names += ("maximum", "minimum", "floor", "ceil", "trunc", "left_shift", "right_shift", "round")
    return {name: getattr(of, name) for name in names if hasattr(of, name)} | own


def of_jax():
    import jax
    import jax.numpy as jnp

    names = names_of(jnp, cast=lambda x, dtype: x.astype(dtype))
    return names, jnp.asarray, np.asarray, {"jax_eager": lambda call: call, "jax_jit": jax.jit}


def of_torch(**stacks):
    import torch

    own = {
        "cast": lambda x, dtype: x.to(getattr(torch, dtype)),
        "divmod": lambda x, y: (torch.floor_divide(x, y), torch.remainder(x, y)),
        "left_shift": torch.bitwise_left_shift,
        "right_shift": torch.bitwise_right_shift,
    }
    names = names_of(torch, **own)
    here = {"torch_eager": lambda call: call, "torch_inductor": lambda call: torch.compile(call, fullgraph=True)}
    return names, torch.from_numpy, lambda tensor: tensor.numpy(), stacks or here


def of_torch_xla():
    os.environ["PJRT_DEVICE"] = "CPU"
    import torch_xla

    names, put, get, _ = of_torch()
    device = torch_xla.device()

    def fetched(tensor):
        torch_xla.sync()
        return get(tensor.cpu())

    return names, lambda array: put(array).to(device), fetched, {"torch_xla": lambda call: call}


def of_torchax():
    import torchax
    from torchax import interop

    torchax.enable_globally()
    names, put, _, _ = of_torch()
    return (
        names,
        lambda array: put(array).to("jax"),
        lambda tensor: np.asarray(interop.jax_view(tensor)),
        {"torchax_jit": interop.jax_jit},
    )


def of_tensorflow():
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import tensorflow as tf

    own = {
        "floor_divide": tf.math.floordiv,
        "remainder": tf.math.floormod,
        "fmod": tf.truncatemod,
        "divmod": lambda x, y: (tf.math.floordiv(x, y), tf.math.floormod(x, y)),
        "log": tf.math.log,
        "ceil": tf.math.ceil,
        "trunc": lambda x: tf.where(x < 0, tf.math.ceil(x), tf.floor(x)),
        "left_shift": tf.bitwise.left_shift,
        "right_shift": tf.bitwise.right_shift,
        "cast": tf.cast,
    }
    compiled = {
        "tf_eager": lambda call: call,
        "tf_graph": tf.function,
        "tf_xla": lambda call: tf.function(call, jit_compile=True),
    }
    return names_of(tf, **own), tf.constant, lambda tensor: tensor.numpy(), compiled


ENVIRONMENTS = {
    "jax": of_jax,
    "torch": of_torch,
    "torch_xla": of_torch_xla,
    "torchax": of_torchax,
    "tensorflow": of_tensorflow,
}


def main(environment):
    channel = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a framework prints must not be taken for an answer
    named, put, get, stacks = ENVIRONMENTS[environment]()
    calls = {}
    print(json.dumps(sorted(stacks)), file=channel, flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        stack, text, dtype = asked["stack"], asked["text"], asked["dtype"]
        try:
            if (stack, text, dtype) not in calls:  # another function for each type, as compilers count recompiles
                calls[stack, text, dtype] = stacks[stack](eval(f"lambda x, y: {text}", dict(named)))
            x, y = (put(np.frombuffer(base64.b64decode(asked[name]), dtype).copy()) for name in ("x", "y"))
            found = get(calls[stack, text, dtype](x, y))
            answer = {"type": str(found.dtype), "bytes": base64.b64encode(found.tobytes()).decode()}
        except Exception as refused:
            answer = {"refused": f"{type(refused).__name__}: {str(refused)[:300]}"}
        print(json.dumps(answer), file=channel, flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
