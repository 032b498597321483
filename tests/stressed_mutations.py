"""Deliberately unstable workloads: right at unit variance, and wrong with the weights of a spec's `STRESSED`."""

from __future__ import annotations

from tests.mutations import Mutant, Replacement

JAX, TORCH, TF = "import jax.numpy as jnp\n", "from torch import nn\n", "import tensorflow as tf\n"

SOFTMAX_JAX = """

def unshifted(q, k, v, scale=None, is_causal=False, local_window_size=None):
    scale = q.shape[-1] ** -0.5 if scale is None else scale
    k, v = (jnp.repeat(t, q.shape[2] // t.shape[2], axis=2) for t in (k, v))
    e = jnp.exp(scale * jnp.einsum("bsnh,btnh->bnst", q, k))
    e = jnp.tril(e) if is_causal else e
    e = e if local_window_size is None else jnp.triu(e, -local_window_size[0])
    return jnp.einsum("bnst,btnh->bsnh", e / e.sum(axis=-1, keepdims=True), v)
"""
SOFTMAX_TORCH = """

def unshifted(q, k, v, attn_mask=None, is_causal=False, scale=None, enable_gqa=False):
    scale = q.shape[-1] ** -0.5 if scale is None else scale
    k, v = (t.repeat_interleave(q.shape[1] // t.shape[1], dim=1) for t in (k, v))
    e = (scale * q @ k.transpose(-1, -2)).exp()
    e = e.tril() if is_causal else e if attn_mask is None else e.masked_fill(~attn_mask, 0.0)
    return e / e.sum(dim=-1, keepdim=True) @ v
"""
SOFTMAX_TF = """

def unshifted(logits):
    e = tf.exp(logits)
    return e / tf.reduce_sum(e, axis=-1, keepdims=True)
"""
LOSS_JAX = """

def log_sum_exp(logits, axis):
    return jnp.log(jnp.sum(jnp.exp(logits), axis=axis))
"""
LOSS_TORCH = """

def log_sum_exp_loss(logits, target):
    return (logits.exp().sum(dim=-1).log() - logits.gather(-1, target.long()[:, None])[:, 0]).mean()
"""
LOG_OF_SOFTMAX = """

def log_of_softmax(logits, target):
    return -logits.softmax(dim=-1).gather(-1, target.long()[:, None]).log().mean()
"""
LOSS_TF = """

def log_sum_exp_loss(labels, logits):
    wanted = tf.gather(logits, labels, axis=-1, batch_dims=labels.shape.rank)
    return tf.math.log(tf.reduce_sum(tf.exp(logits), axis=-1)) - wanted
"""
SQUARES_TORCH = """

class Squares(nn.LayerNorm):
    def forward(self, x):
        mean = x.mean(dim=-1, keepdim=True)
        variance = x.square().mean(dim=-1, keepdim=True) - mean.square()
        return (x - mean) * (variance + self.eps).rsqrt() * self.weight + self.bias
"""
SQUARES_OF_BATCH = """

class Squares(nn.BatchNorm2d):
    def forward(self, x):
        if not self.training:
            return super().forward(x)
        mean = x.mean(dim=(0, 2, 3))
        variance = x.square().mean(dim=(0, 2, 3)) - mean.square()
        count = x.numel() // x.shape[1]
        self.running_mean.lerp_(mean.detach(), self.momentum)
        self.running_var.lerp_(variance.detach() * count / (count - 1), self.momentum)
        scale = self.weight * (variance + self.eps).rsqrt()
        return x * scale[:, None, None] + (self.bias - mean * scale)[:, None, None]
"""
SQUARES_TF = """

def squares(x, axes, keepdims):
    mean = tf.reduce_mean(x, axis=axes, keepdims=keepdims)
    return mean, tf.reduce_mean(tf.square(x), axis=axes, keepdims=keepdims) - tf.square(mean)
"""
CENTRED = "jnp.mean(jnp.square({}), axis=-1, keepdims=True)"
SQUARES = "jnp.mean(jnp.square({0}), axis=-1, keepdims=True) - jnp.square(jnp.mean({0}, axis=-1, keepdims=True))"


def with_code(line: str, code: str, *changes: Replacement) -> tuple[Replacement, ...]:
    """Changes of a file that gets some code after its import `line`."""
    return (line, line + code), *changes


def unshifted_softmax(origin: str) -> Mutant:
    """Attention whose softmax doesn't subtract the largest logit."""
    return Mutant(origin, "softmax without its maximum", {
        "jax": with_code(JAX, SOFTMAX_JAX, ("jax.nn.dot_product_attention(", "unshifted(")),
        "torch": with_code(TORCH, SOFTMAX_TORCH, ("F.scaled_dot_product_attention(", "unshifted(")),
        "tf": with_code(TF, SOFTMAX_TF, ("tf.nn.softmax(", "unshifted(")),
    })  # fmt: skip


def plain_log_sum_exp(origin: str) -> Mutant:
    """A loss by log(sum(exp)) as it stands."""
    entropy = "tf.nn.sparse_softmax_cross_entropy_with_logits("
    return Mutant(origin, "log(sum(exp)) without the maximum", {
        "jax": with_code(JAX, LOSS_JAX, ("jax.nn.logsumexp(", "log_sum_exp(")),
        "torch": with_code(TORCH, LOSS_TORCH, ("F.cross_entropy(", "log_sum_exp_loss(")),
        "tf": with_code(TF, LOSS_TF, (entropy, "log_sum_exp_loss(")),
    }, ("train",))  # fmt: skip


def squares_less_square(origin: str, jax: Replacement, tf: Replacement) -> Mutant:
    """A layer norm whose variance is E[x^2] - E[x]^2."""
    return Mutant(origin, "variance as E[x^2] - E[x]^2", {
        "jax": (jax,),
        "torch": with_code(TORCH, SQUARES_TORCH, ("nn.LayerNorm(", "Squares(")),
        "tf": with_code(TF, SQUARES_TF, tf),
    })  # fmt: skip


def larger_epsilon(origin: str, old: str, new: str) -> Mutant:
    """Ten times the epsilon of every norm."""
    change = ((f"EPSILON = {old}", f"EPSILON = {new}"),)
    return Mutant(origin, "ten times the epsilon of every norm", dict.fromkeys(("jax", "torch", "tf"), change))


MOMENTS = ("tf.nn.moments(", "squares(")
SQUARES_NEO = ("tf.reduce_mean(tf.square(centred_PD), axis=-1, keepdims=True)", "squares(x_PD, [-1], True)[1]")
STRESSED_MUTANTS: dict[str, Mutant] = {
    f"{mutant.origin}: {name}": mutant
    for name, mutants in {
        "unshifted_softmax": [unshifted_softmax(m) for m in ("gpt2", "bert", "vit", "gpt_neo", "llama")],
        "plain_log_sum_exp": [
            plain_log_sum_exp(m) for m in ("gpt2", "bert", "vit", "gpt_neo", "llama", "resnet50")
        ],
        "log_of_softmax": [
            Mutant("gpt2", "the loss is the log of a softmax", {
                "torch": with_code(TORCH, LOG_OF_SOFTMAX, ("F.cross_entropy(", "log_of_softmax(")),
            }, ("train",)),
        ],
        "squares_less_square": [
            squares_less_square("gpt2", (
                "jnp.var(x_BTD, axis=-1, keepdims=True)", SQUARES.format("x_BTD")), MOMENTS),
            squares_less_square("bert", (CENTRED.format("centered"), SQUARES.format("x")), MOMENTS),
            squares_less_square("vit", (CENTRED.format("centered"), SQUARES.format("x")), MOMENTS),
            squares_less_square("gpt_neo", (CENTRED.format("centered"), SQUARES.format("x")), SQUARES_NEO),
            Mutant("resnet50", "variance as E[x^2] - E[x]^2", {
                "jax": (("jnp.var(x_BRCD, axis=(0, 1, 2))",
                         "jnp.mean(jnp.square(x_BRCD), axis=(0, 1, 2)) - jnp.square(mean_D)"),),
                "torch": with_code(TORCH, SQUARES_OF_BATCH, ("nn.BatchNorm2d(", "Squares(")),
            }, ("train",)),
        ],
        "larger_epsilon": [
            larger_epsilon("vit", "1e-12", "1e-11"), larger_epsilon("bert", "1e-12", "1e-11"),
            larger_epsilon("gpt_neo", "1e-5", "1e-4"),
            Mutant("resnet50", "ten times the epsilon of every norm", {
                "jax": (("EPSILON = 1e-5", "EPSILON = 1e-4"),),
                "torch": (("eps=1e-5", "eps=1e-4"),),
                "tf": (("EPSILON = 1e-5", "EPSILON = 1e-4"),),
            }),
        ],
    }.items()
    for mutant in mutants
}  # fmt: skip
STRESSED_MUTANTS["mha: unshifted_softmax"] = Mutant("mha", "softmax without its maximum", {
    "numpy": (("    p_BNST -= p_BNST.max(axis=-1, keepdims=True)\n", ""),),
    **unshifted_softmax("mha").changes,
})  # fmt: skip
