"""resnet50 in JAX.

Legend: B = batch, R = rows, C = columns (each less where a map was halved), D = channels, K = classes.
"""

import jax
import jax.numpy as jnp
from jax import lax

from suite.workloads.layers.layers_jax import cross_entropy

EPSILON = 1e-5
MOMENTUM = 0.1


def normalize(norm, x_BRCD, mean_D, var_D):
    scale_D = norm["weight"] * lax.rsqrt(var_D + EPSILON)
    return x_BRCD * scale_D + (norm["bias"] - mean_D * scale_D)


@jax.named_scope("batch_norm")
def norm_infer(norm, running, x_BRCD):
    return normalize(norm, x_BRCD, running["running_mean"], running["running_var"]), running


@jax.named_scope("batch_norm")
def norm_train(norm, running, x_BRCD):
    """Normalizes by the batch's biased variance; the running variance moves towards the unbiased one."""
    mean_D = jnp.mean(x_BRCD, axis=(0, 1, 2))
    var_D = jnp.var(x_BRCD, axis=(0, 1, 2))
    count = x_BRCD.size // x_BRCD.shape[-1]
    updated = {
        "running_mean": (1 - MOMENTUM) * running["running_mean"] + MOMENTUM * mean_D,
        "running_var": (1 - MOMENTUM) * running["running_var"] + MOMENTUM * count / (count - 1) * var_D,
    }
    return normalize(norm, x_BRCD, mean_D, var_D), updated


def conv_norm(norm, parameters, buffers, x_BRCD, stride=1):
    """Returns (result, new buffers) of a convolution and its batch norm; `norm` is `norm_infer` or `norm_train`."""
    weight = parameters["conv"]["weight"]
    pad = (weight.shape[0] // 2, weight.shape[1] // 2)
    x_BRCD = lax.conv_general_dilated(
        x_BRCD, weight, (stride, stride), [(p, p) for p in pad], dimension_numbers=("NHWC", "HWIO", "NHWC")
    )
    x_BRCD, updated = norm(parameters["norm"], buffers["norm"], x_BRCD)
    return x_BRCD, {"norm": updated}


def bottleneck(norm, parameters, buffers, x_BRCD, stride):
    def layer(name, x, stride=1):
        y, updated[name] = conv_norm(norm, parameters[name], buffers[name], x, stride)
        return y

    updated = {}
    y_BRCD = jax.nn.relu(layer("reduce", x_BRCD))
    y_BRCD = jax.nn.relu(layer("spatial", y_BRCD, stride))
    y_BRCD = layer("expand", y_BRCD)
    if "shortcut" in parameters:  # the first of a stage: the shape changes
        x_BRCD = layer("shortcut", x_BRCD, stride)
    return jax.nn.relu(y_BRCD + x_BRCD), updated


def max_pool(x_BRCD):
    return lax.reduce_window(x_BRCD, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), [(0, 0), (1, 1), (1, 1), (0, 0)])


def network(norm, dims, parameters, buffers, image):
    updated = {}
    x_BRCD, updated["stem"] = conv_norm(norm, parameters["stem"], buffers["stem"], image, stride=2)
    x_BRCD = max_pool(jax.nn.relu(x_BRCD))
    for number in (1, 2, 3, 4):
        stage = f"stage{number}"
        updated[stage] = {}
        for block in range(dims[f"blocks{number}"]):
            n = str(block)
            stride = 2 if number > 1 and block == 0 else 1
            x_BRCD, updated[stage][n] = bottleneck(norm, parameters[stage][n], buffers[stage][n], x_BRCD, stride)
    features_BD = jnp.mean(x_BRCD, axis=(1, 2))
    classifier = parameters["classifier"]
    return features_BD @ classifier["weight"] + classifier["bias"], updated


def forward(dims, parameters, buffers, image):
    logits_BK, _ = network(norm_infer, dims, parameters, buffers, image)
    return logits_BK


def loss(dims, parameters, buffers, image, target):
    logits_BK, updated = network(norm_train, dims, parameters, buffers, image)
    return cross_entropy(logits_BK, target), updated
