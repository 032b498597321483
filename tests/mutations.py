"""Deliberately wrong workloads: copies of operations and models with a line changed, which the gate must refuse.

`make_mutant` writes one as a folder outside the repository, to be run through `--workload-path`.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from suite.workloads.catalog import HOME

Change = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Mutant:
    """What is wrong with a copy of the operation `origin`, dialect by dialect: texts and their replacements."""

    origin: str
    what: str
    changes: dict[str, tuple[Change, ...]]
    passes: tuple[str, ...] = ("forward", "train")  # in which the gate must see it


# Veltkamp's splitting (Dekker 1971): what is left has 11 significant bits, as TF32 has. Differentiable.
TF32 = """

def tf32(x):
    c = x * 8193.0
    return c - (c - x)

"""

MUTANTS: dict[str, Mutant] = {
    "erf_gelu": Mutant("ffn", "erf instead of the tanh form of GELU", {
        "numpy": (("np.tanh(t_NF, out=t_NF)",
                   "t_NF = np.vectorize(math.erf, otypes=[np.float32])(h_NF / math.sqrt(2.0))"),),
        "jax": (("approximate=True", "approximate=False"),),
        "torch": (('approximate="tanh"', 'approximate="none"'),),
        "tf": (("approximate=True", "approximate=False"),),
    }),
    "dropped_bias": Mutant("ffn", "the second bias is never added", {
        "numpy": (('    y_ND += parameters["down.bias"]\n', ""), ('    e_ND += parameters["down.bias"]\n', "")),
        "jax": ((' + down["bias"]', ""),),
        "torch": (("self.down(F.gelu(self.up(x), approximate=\"tanh\"))",
                   "F.linear(F.gelu(self.up(x), approximate=\"tanh\"), self.down.weight)"),),
        "tf": (("self.down(tf.nn.gelu(self.up(x), approximate=True))",
                "tf.matmul(tf.nn.gelu(self.up(x), approximate=True), self.down.weight)"),),
    }),
    "summed_loss": Mutant("ffn", "the loss is a sum, not a mean: AdamW hides it from the parameters", {
        "numpy": (("loss = np.mean(", "loss = np.sum("), ("e_ND *= 2.0 / e_ND.size", "e_ND *= 2.0")),
        "jax": (("jnp.mean(", "jnp.sum("),),
        "torch": (("F.mse_loss(model(x), target)", 'F.mse_loss(model(x), target, reduction="sum")'),),
        "tf": (("tf.reduce_mean(", "tf.reduce_sum("),),
    }, ("train",)),
    "wrong_scale": Mutant("mha", "attention is scaled by the width instead of the width of a head", {
        "numpy": (("(D // heads) ** -0.5", "D ** -0.5"),),
        "jax": (("(q_BSNH, k_BSNH, v_BSNH)", "(q_BSNH, k_BSNH, v_BSNH, scale=D**-0.5)"),),
        "torch": (("(q_BNSH, k_BNSH, v_BNSH)", "(q_BNSH, k_BNSH, v_BNSH, scale=D**-0.5)"),),
        "tf": (("H**-0.5", "D**-0.5"),),
    }),
    "causal_mask": Mutant("mha", "a causal mask where none is asked for", {
        "numpy": (("    p_BNST -= p_BNST.max",
                   "    p_BNST += np.triu(np.full((S, S), -1e9, x.dtype), 1)\n    p_BNST -= p_BNST.max"),),
        "jax": (("(q_BSNH, k_BSNH, v_BSNH)", "(q_BSNH, k_BSNH, v_BSNH, is_causal=True)"),),
        "torch": (("(q_BNSH, k_BNSH, v_BNSH)", "(q_BNSH, k_BNSH, v_BNSH, is_causal=True)"),),
        "tf": (("k_BNSH, transpose_b=True)",
                "k_BNSH, transpose_b=True) - 1e9 * (1.0 - tf.linalg.band_part(tf.ones([S, S]), -1, 0))"),),
    }),
    "tf32": Mutant("gemm", "factors rounded to TF32's 10 bits of mantissa", {
        "numpy": (("\n\ndef forward", f"{TF32}\ndef forward"),
                  ('a @ parameters["b"]', 'tf32(a) @ tf32(parameters["b"])'),
                  ("a.T @ y", "tf32(a).T @ tf32(y)")),
        "jax": (("import jax.numpy as jnp", "import jax\nimport jax.numpy as jnp"),
                ('a @ parameters["b"]',
                 'jax.lax.reduce_precision(a, 8, 10) @ jax.lax.reduce_precision(parameters["b"], 8, 10)')),
        "torch": (("\n\nclass Model", f"{TF32}\nclass Model"), ("a @ self.b", "tf32(a) @ tf32(self.b)")),
        "tf": (("\n\nclass Model", f"{TF32}\nclass Model"),
               ("tf.matmul(a, self.b)", "tf.matmul(tf32(a), tf32(self.b))")),
    }),
    "transposed": Mutant("gemm", "B is transposed", {
        "numpy": (('a @ parameters["b"]', 'a @ parameters["b"].T'), ("a.T @ y", "y.T @ a")),
        "jax": (('parameters["b"]', 'parameters["b"].T'),),
        "torch": (("a @ self.b", "a @ self.b.T"),),
        "tf": (("tf.matmul(a, self.b)", "tf.matmul(a, self.b, transpose_b=True)"),),
    }),
    "not_a_number": Mutant("gemm", "NaN everywhere", {
        "numpy": (('a @ parameters["b"]', 'a @ parameters["b"] * np.float32("nan")'),),
        "jax": (('a @ parameters["b"]', 'a @ parameters["b"] * float("nan")'),),
        "torch": (("a @ self.b", 'a @ self.b * float("nan")'),),
        "tf": (("tf.matmul(a, self.b)", 'tf.matmul(a, self.b) * float("nan")'),),
    }),
    "exact_constants": Mutant("selu", "SELU's own alpha instead of the rounded one that is asked for", dict.fromkeys(
        ("numpy", "jax", "torch", "tf"), (("ALPHA = 1.67\n", "ALPHA = 1.6732632423543772\n"),)
    )),
}  # fmt: skip


MODEL_MUTANTS: dict[str, Mutant] = {
    "erf_gelu": Mutant("gpt2", "erf instead of the tanh form of GELU", {
        "jax": (("approximate=True", "approximate=False"),),
        "torch": (('approximate="tanh"', 'approximate="none"'),),
        "tf": (("approximate=True", "approximate=False"),),
    }),
    "larger_epsilon": Mutant("gpt2", "ten times the epsilon of every norm", dict.fromkeys(
        ("jax", "torch", "tf"), (("EPSILON = 1e-5", "EPSILON = 1e-4"),)
    )),
    "shifted_mask": Mutant("gpt2", "each position sees the one after it", {
        "jax": (("is_causal=True", "mask=jnp.tril(jnp.ones((T, T), bool), 1)"),),
        "torch": (("is_causal=True", "attn_mask=torch.ones(T, T, dtype=torch.bool, device=x_BTD.device).tril(1)"),
                  ("import torch.nn.functional", "import torch\nimport torch.nn.functional")),
        "tf": (("tf.ones([T, T]), -1, 0)", "tf.ones([T, T]), -1, 1)"),),
    }),
    "first_version": Mutant("resnet50", "ResNet v1: the stride is in the 1x1 convolution before the 3x3", {
        "jax": (('layer("reduce", x_BRCD)', 'layer("reduce", x_BRCD, stride)'),
                ('layer("spatial", y_BRCD, stride)', 'layer("spatial", y_BRCD)')),
        "torch": (("ConvNorm(inputs, narrow, 1)", "ConvNorm(inputs, narrow, 1, stride)"),
                  ("ConvNorm(narrow, narrow, 3, stride)", "ConvNorm(narrow, narrow, 3)")),
        "tf": (('1, name=f"{name}.reduce")', '1, name=f"{name}.reduce", stride=stride)'),
               ('name=f"{name}.spatial", stride=stride)', 'name=f"{name}.spatial")')),
    }),
    "forgotten_statistics": Mutant("resnet50", "running statistics that follow the batches at a tenth of the pace", {
        "jax": (("MOMENTUM = 0.1", "MOMENTUM = 0.01"),),
        "torch": (("momentum=0.1", "momentum=0.01"),),
        "tf": (("MOMENTUM = 0.1", "MOMENTUM = 0.01"),),
    }),
}  # fmt: skip


def make_mutant(name: str, folder: Path, mutants: dict[str, Mutant] = MUTANTS) -> Path:
    """Write the mutant `name` as the workload `<origin>_<name>` into `folder`; returns the workload's folder."""
    mutant = mutants[name]
    home = folder / f"{mutant.origin}_{name}"
    home.mkdir(parents=True)
    (origin,) = HOME.glob(f"*/{mutant.origin}")
    for kept in ("spec.py", "oracle.py"):
        if (origin / kept).exists():
            shutil.copy(origin / kept, home / kept)
    if (origin / "golden").exists():
        shutil.copytree(origin / "golden", home / "golden")
    for dialect, changes in mutant.changes.items():
        text = (origin / f"{mutant.origin}_{dialect}.py").read_text(encoding="utf-8")
        for old, new in changes:
            if old not in text:
                raise ValueError(f"mutant '{name}', {dialect}: {old!r} isn't in the operation any more")
            text = text.replace(old, new)
        (home / f"{home.name}_{dialect}.py").write_text(text, encoding="utf-8")
    return home
