"""Deliberately wrong workloads: copies of operations and models with a line changed, which the gate must refuse.

`make_mutant` writes one as a folder outside the repository, to be run through `--workload-path`.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from suite.workloads.catalog import HOME

Replacement = tuple[str, str]  # a text of the source, and what stands in its place


@dataclass(frozen=True, slots=True)
class Mutant:
    """What is wrong with a copy of the operation `origin`, dialect by dialect: texts and their replacements."""

    origin: str
    what: str
    changes: dict[str, tuple[Replacement, ...]]
    passes: tuple[str, ...] = ("forward", "train")  # in which the gate must see it


NORM_BEFORE = 'layer_norm(parameters["attention_norm"], x_BSD, EPSILON)'
BIASED = """moved = var_D - (1 - MOMENTUM) * self.running_var
            self.running_var.assign(var_D - moved / (x_BRCD.shape.num_elements() // x_BRCD.shape[-1]))"""

# Veltkamp's splitting (Dekker 1971): what is left has 11 significant bits, as TF32 has. Differentiable.
TF32 = """

def tf32(x):
    c = x * 8193.0
    return c - (c - x)

"""

# nn.LSTM step by step, so that a step can be wrong.
STEPS = """

def steps(lstm, x):
    h = c = x.new_zeros(len(x), lstm.hidden_size)
    found = []
    for x_t in x.unbind(1):
        gates = F.linear(x_t, lstm.weight_ih_l0, lstm.bias_ih_l0) + F.linear(h, lstm.weight_hh_l0)
        i, f, g, o = gates.chunk(4, -1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        h = torch.sigmoid(o) * torch.tanh(c)
        found.append(h)
    return torch.stack(found, 1)

"""


def lstm_steps(*changes: Replacement) -> tuple[Replacement, ...]:
    """The changes that put `STEPS`, themselves changed, in place of nn.LSTM."""
    steps = STEPS
    for old, new in changes:
        assert old in steps, old
        steps = steps.replace(old, new)
    return ("\n\nclass Model", f"{steps}\nclass Model"), ("self.lstm(x)[0]", "steps(self.lstm, x)")


GATES = ("i_BH, f_BH, g_BH, o_BH = ", "f_BH, i_BH, g_BH, o_BH = ")
MUTANTS: dict[str, Mutant] = {
    "erf_gelu": Mutant("ffn", "erf instead of the tanh form of GELU", {
        "numpy": (("np.tanh(t_NF, out=t_NF)",
                   "t_NF = np.vectorize(math.erf, otypes=[np.float32])(h_NF / math.sqrt(2.0))"),),
        "jax": (("approximate=True", "approximate=False"),),
        "torch": (('approximate="tanh"', 'approximate="none"'),),
        "tf": (("approximate=True", "approximate=False"),),
        "keras": (("approximate=True", "approximate=False"),),
    }),
    "dropped_bias": Mutant("ffn", "the second bias is never added", {
        "numpy": (('    y_ND += parameters["down.bias"]\n', ""), ('    e_ND += parameters["down.bias"]\n', "")),
        "jax": ((' + down["bias"]', ""),),
        "torch": (("self.down(F.gelu(self.up(x), approximate=\"tanh\"))",
                   "F.linear(F.gelu(self.up(x), approximate=\"tanh\"), self.down.weight)"),),
        "tf": (("self.down(tf.nn.gelu(self.up(x), approximate=True))",
                "tf.matmul(tf.nn.gelu(self.up(x), approximate=True), self.down.weight)"),),
        "keras": (("    return keras.Model(x, layers.Dense(width, name=\"down\")(h))",
                   "    down = layers.Dense(width, name=\"down\")\n    return keras.Model(x, down(h) - down.bias)"),),
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
        "keras": (("3, axis=2))", "3, axis=2), scale=width**-0.5)"),),
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
    "swapped_gates": Mutant("rnn", "the forget gate comes before the input gate", {
        "numpy": (GATES, ("di_BH, df_BH, dg_BH, do_BH = ", "df_BH, di_BH, dg_BH, do_BH = ")),
        "jax": (GATES,),
        "torch": lstm_steps(("i, f, g, o = ", "f, i, g, o = ")),
        "tf": (GATES,),
    }),
    "stale_state": Mutant("rnn", "each step begins with the first step's state", {
        "numpy": (("(h_SBH[s] @", "(h_SBH[0] @"), ("(f_BH, c_SBH[s], out", "(f_BH, c_SBH[0], out")),
        "jax": (("return (h_BH, c_BH), h_BH", "return state, h_BH"),),
        "torch": lstm_steps(("found.append(h)", "found.append(h)\n        h = c = torch.zeros_like(h)")),
        "tf": (("return s + 1, h_BH, c_BH,", "return s + 1, zeros_BH, zeros_BH,"),),
    }),
    "forget_bias": Mutant("rnn", "one is added to the forget gate", {
        "numpy": (("    gates_SB4H = gates_PG", "    gates_PG[:, H : 2 * H] += 1.0\n    gates_SB4H = gates_PG"),),
        "jax": (("sigmoid(f_BH)", "sigmoid(f_BH + 1.0)"),),
        "torch": lstm_steps(("sigmoid(f)", "sigmoid(f + 1.0)")),
        "tf": (("sigmoid(f_BH)", "sigmoid(f_BH + 1.0)"),),
    }),
    "tanh_gate": Mutant("rnn", "the output gate is a tanh", {
        "numpy": (("[0.5, 0.5, 1.0, 0.5]", "[0.5, 0.5, 1.0, 1.0]"),),
        "jax": (("jax.nn.sigmoid(o_BH)", "jnp.tanh(o_BH)"),),
        "torch": lstm_steps(("torch.sigmoid(o)", "torch.tanh(o)")),
        "tf": (("tf.sigmoid(o_BH)", "tf.tanh(o_BH)"),),
    }),
    "cut_gradient": Mutant("rnn", "no gradient flows from a step to the one before: the forward pass is right", {
        "numpy": (("dh_BH = dgates_SB4H[s].reshape(B, 4 * H) @ u_GH", "dh_BH[:] = 0.0"),
                  ("dc_BH *= f_BH", "dc_BH *= 0.0")),
        "jax": (("h_BH, c_BH = state", "h_BH, c_BH = jax.lax.stop_gradient(state)"),),
        "torch": lstm_steps(("F.linear(h, ", "F.linear(h.detach(), "), ("(f) * c", "(f) * c.detach()")),
        "tf": (("tf.matmul(h_BH, u_HG)", "tf.matmul(tf.stop_gradient(h_BH), u_HG)"),
               ("(f_BH) * c_BH", "(f_BH) * tf.stop_gradient(c_BH)")),
    }, ("train",)),
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
        "keras": (("is_causal=True", "mask=ops.tril(ops.ones([1, 1, T, T], bool), 1)"),),
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
        "keras": (("KEPT = 0.9", "KEPT = 0.99"),),
    }),
}  # fmt: skip

# Run by benchmarks/mutants.py alone: each has one wrong line, of the kind that a port of a model gets wrong.
MORE_MODEL_MUTANTS: dict[str, Mutant] = {
    "next_positions": Mutant("gpt2", "each position has the embedding of the next", {
        "jax": (("[: tokens.shape[1]]", "[1 : tokens.shape[1] + 1]"),),
        "torch": (("[: tokens.shape[1]]", "[1 : tokens.shape[1] + 1]"),),
        "tf": (("self.positions[:T]", "self.positions[1 : T + 1]"),),
        "keras": (("x_BSD + self.table_PD[: x_BSD.shape[1]]", "x_BSD + self.table_PD[1 : x_BSD.shape[1] + 1]"),),
    }),
    "stopped_gradient": Mutant("gpt2", "no gradient flows through the keys: the forward pass is right", {
        "jax": (("(q_BTNH, k_BTNH, v_BTNH, is_causal", "(q_BTNH, jax.lax.stop_gradient(k_BTNH), v_BTNH, is_causal"),),
        "torch": (("(q_BNTH, k_BNTH, v_BNTH, is_causal", "(q_BNTH, k_BNTH.detach(), v_BNTH, is_causal"),),
        "tf": (("H**-0.5, k_BNSH, transpose_b", "H**-0.5, tf.stop_gradient(k_BNSH), transpose_b"),),
    }, ("train",)),
    "shorter_loss": Mutant("gpt2", "the last position has no part in the loss", {
        "jax": (("parameters, tokens), target)", "parameters, tokens)[:, :-1], target[:, :-1])"),),
        "torch": (("model(tokens).flatten(0, 1), target.flatten()",
                   "model(tokens)[:, :-1].flatten(0, 1), target[:, :-1].flatten()"),),
        "tf": (("labels=target, logits=model(tokens)", "labels=target[:, :-1], logits=model(tokens)[:, :-1]"),),
    }, ("train",)),
    "skipped_norm": Mutant("gpt2", "the last norm is left out", {
        "jax": (('norm(parameters["norm"], x_BTD), embedding_VD', "x_BTD, embedding_VD"),),
        "torch": (("F.linear(self.norm(x_BTD)", "F.linear(x_BTD"),),
        "tf": (("tf.matmul(self.norm(x_PD), embedding_VD", "tf.matmul(x_PD, embedding_VD"),),
    }),
    "window_off_by_one": Mutant("gpt_neo", "a token attends one more before it", {
        "jax": (('dims["window"] - 1 if', 'dims["window"] if'),),
        "torch": (("(back_TS < self.window)", "(back_TS <= self.window)"),),
        "tf": (("min(self.window, T) - 1, 0)", "min(self.window, T - 1), 0)"),),
    }),
    "even_layers_local": Mutant("gpt_neo", "the even layers are the local ones", {
        "jax": (("local if layer % 2 else None", "None if layer % 2 else local"),),
        "torch": (("local_TS if layer % 2 else None", "None if layer % 2 else local_TS"),),
        "tf": (("local_TS if layer % 2 else global_TS", "global_TS if layer % 2 else local_TS"),),
    }),
    "scaled_logits": Mutant("gpt_neo", "attention is scaled, as everywhere else", {
        "jax": (("scale=1.0,", "scale=None,"),),
        "torch": (("scale=1.0,", "scale=None,"),),
        "tf": (("tf.matmul(q_BNTH, k_BNSH", "tf.matmul(q_BNTH * q_BNTH.shape[-1] ** -0.5, k_BNSH"),),
    }),
    "unscaled_frequencies": Mutant("llama", "rotary frequencies as before Llama 3.1", dict.fromkeys(
        ("jax", "torch", "tf"), (("500000.0, 8.0, 1.0", "500000.0, 1.0, 1.0"),)
    )),
    "interleaved_pairs": Mutant("llama", "neighbours are turned, not elements half a head apart", {
        "jax": (("jnp.split(x_BSNH, 2, axis=-1)", "x_BSNH[..., ::2], x_BSNH[..., 1::2]"),),
        "torch": (("x_BNSH.chunk(2, dim=-1)", "(x_BNSH[..., ::2], x_BNSH[..., 1::2])"),),
        "tf": (("tf.split(x_BKGSH, 2, axis=-1)", "x_BKGSH[..., ::2], x_BKGSH[..., 1::2]"),),
    }),
    "gelu_gate": Mutant("llama", "GELU where SwiGLU has SiLU", {
        "jax": (("jax.nn.silu", "jax.nn.gelu"),),
        "torch": (("F.silu", "F.gelu"),),
        "tf": (("tf.nn.silu", "tf.nn.gelu"),),
    }),
    "larger_epsilon": Mutant("llama", "ten times the epsilon of every norm", dict.fromkeys(
        ("jax", "torch", "tf"), (("EPSILON = 1e-5", "EPSILON = 1e-4"),)
    )),
    "tanh_gelu": Mutant("bert", "the tanh form of GELU instead of erf, in the blocks", {
        "jax": (("x_BSD, approximate=False)", "x_BSD, approximate=True)"),),
        "torch": (('approximate="none"', 'approximate="tanh"'),),
        "tf": (("approximate=False", "approximate=True"),),
    }),
    "no_types": Mutant("bert", "types aren't added", {
        "jax": (("tokens_BSD + types_BSD + positions_SD", "tokens_BSD + positions_SD"),),
        "torch": (("self.tokens(tokens) + self.types(types)", "self.tokens(tokens)"),),
        "tf": (("tokens_BSD + types_BSD + ", "tokens_BSD + "),),
    }),
    "norm_before": Mutant("bert", "attention's norm is before it, not after the sum", {
        "jax": (('attention(parameters["attention"], x_BSD, heads)',
                 f'attention(parameters["attention"], {NORM_BEFORE}, heads)'),
                ('layer_norm(parameters["attention_norm"], x_BSD + attended_BSD, EPSILON)', "x_BSD + attended_BSD")),
        "torch": (("self.attention_norm(x_BSD + self.attention(x_BSD))",
                   "x_BSD + self.attention(self.attention_norm(x_BSD))"),),
        "tf": (("self.attention_norm(x_PD + self.attention(x_PD))",
                "x_PD + self.attention(self.attention_norm(x_PD))"),),
    }),
    "last_token": Mutant("vit", "the last patch is classified, not the class token", dict.fromkeys(
        ("jax", "torch"), (("x_BSD[:, 0]", "x_BSD[:, -1]"),)
    ) | {"tf": (("self.shape)[:, 0]", "self.shape)[:, -1]"),)}),
    "no_positions": Mutant("vit", "positions aren't added", {
        "jax": ((' + parameters["positions"]', ""),),
        "torch": ((" + self.positions", ""),),
        "tf": ((" + self.positions", ""),),
    }),
    "no_patch_bias": Mutant("vit", "the bias of the patches is never added", {
        "jax": (("(x_BhwD + bias)", "x_BhwD"),),
        "torch": (("self.patches(image)", "F.conv2d(image, self.patches.weight, stride=self.patches.stride)"),),
        "tf": (("tf.nn.bias_add(x_BhwD, self.bias)", "x_BhwD"),),
    }),
    "frozen_statistics": Mutant("resnet50", "running statistics that never move", {
        "jax": (("mean_D, var_D), updated", "mean_D, var_D), running"),),
        "torch": (("momentum=0.1", "momentum=0.0"),),
        "tf": (("        if training:\n", "        if False:\n"),),
    }, ("train",)),
    "biased_variance": Mutant("resnet50", "the running variance follows the biased one", {
        "jax": (("MOMENTUM * count / (count - 1) * var_D", "MOMENTUM * var_D"),),
        "tf": (("self.running_var.assign(var_D)",
                BIASED),),
        "keras": (("* unbiased)", "* 1.0)"),),
    }, ("train",)),
    "stale_means": Mutant("resnet50", "of the running statistics the means never move", {
        "jax": (('(1 - MOMENTUM) * running["running_mean"] + MOMENTUM * mean_D', 'running["running_mean"]'),),
        "tf": (("            self.running_mean.assign(mean_D)\n", ""),),
    }, ("train",)),
    "norm_of_inference": Mutant("resnet50", "training with the statistics of inference", {
        "jax": (("network(norm_train,", "network(norm_infer,"),),
        "tf": (("training=True", "training=False"),),
    }, ("train",)),
    "one_sided_padding": Mutant("resnet50", "maps with even sides are padded on one side", {
        "tf": (("both_sides(size // 2)", '"SAME"'),),
    }),
}  # fmt: skip

# Of a token at a time. `make_mutant` and benchmarks/mutants.py run them in the only pass that there is.
DECODE_MUTANTS: dict[str, Mutant] = {
    name: Mutant("decode", what, changes, ("forward",))
    for name, what, changes in (
        ("unwritten_keys", "the keys of a token never reach the cache", {
            "jax": (('write(cache["keys"], position, k_BNH)', 'cache["keys"]'),),
            "torch": (("        keys_BNSH.index_copy_(2, position, k_BN1H.to(keys_BNSH.dtype))\n", ""),),
            "tf": (("        self.keys.scatter_nd_update(rows_BN3, k_BN1H[:, :, 0])\n", ""),),
        }),
        ("late_values", "a token attends before its value is in the cache", {
            "jax": (("p_BNS, values_BNSH.astype", 'p_BNS, cache["values"].astype'),),
            "torch": (("        values_BNSH.index_copy_(2, position, v_BN1H.to(values_BNSH.dtype))\n", ""),
                      ("        return self.out(o_BN1H",
                       ("        values_BNSH.index_copy_(2, position, v_BN1H.to(values_BNSH.dtype))\n"
                       "        return self.out(o_BN1H"))),
            "tf": (("        self.values.scatter_nd_update(rows_BN3, v_BN1H[:, :, 0])\n", ""),
                   ("        return self.out(tf.reshape(o_BN1H",
                    ("        self.values.scatter_nd_update(rows_BN3, v_BN1H[:, :, 0])\n"
                    "        return self.out(tf.reshape(o_BN1H"))),
        }),
        ("overwritten_row", "all tokens are written to the first row", {
            "jax": (("new_BNH.astype(cache_BNSH.dtype), position", "new_BNH.astype(cache_BNSH.dtype), 0 * position"),),
            "torch": (("index_copy_(2, position", "index_copy_(2, 0 * position"),),
            "tf": (("shape[:2], 1], position)", "shape[:2], 1], 0)"),),
        }),
        ("next_position", "each token has the embedding of the next position", {
            "jax": (('["positions"]["weight"], position', '["positions"]["weight"], position + 1'),),
            "torch": (("self.positions(position)", "self.positions(position + 1)"),),
            "tf": (("tf.gather(self.positions, position)", "tf.gather(self.positions, position + 1)"),),
        }),
        ("next_token", "a token is the one after it, the last one the first", {
            "jax": (("(tokens, position, axis=1", "(jnp.roll(tokens, -1, 1), position, axis=1"),),
            "torch": (("tokens.index_select(1, position)", "tokens.roll(-1, 1).index_select(1, position)"),),
            "tf": (("tf.gather(tokens, position", "tf.gather(tf.roll(tokens, -1, 1), position"),),
        }),
        ("no_mask", "a token attends to rows that are still empty", {
            "jax": (("jnp.where(seen_S, logits_BNS, -jnp.inf)", "logits_BNS"),),
            "torch": ((", attn_mask=seen_1S", ""),),
            "tf": (("transpose_b=True) + hidden_S", "transpose_b=True)"),),
        }),
        ("wide_mask", "a token attends to one row too many, which is empty", {
            "jax": (("<= position", "<= position + 1"),),
            "torch": (("[None] <= position", "[None] <= position + 1"),),
            "tf": (("<= position", "<= position + 1"),),
        }),
        ("larger_epsilon", "ten times the epsilon of every norm", dict.fromkeys(
            ("jax", "torch", "tf"), (("EPSILON = 1e-5", "EPSILON = 1e-4"),)
        )),
        ("erf_gelu", "erf instead of the tanh form of GELU", {
            "jax": (("approximate=True", "approximate=False"),),
            "torch": (('approximate="tanh"', 'approximate="none"'),),
            "tf": (("approximate=True", "approximate=False"),),
        }),
        ("second_largest", "the score is the second largest logit", {
            "jax": (("jnp.max(logits_BV, axis=-1)", "jnp.sort(logits_BV, axis=-1)[:, -2]"),),
            "torch": (("logits_BV.amax(dim=-1)", "logits_BV.topk(2, dim=-1).values[:, 1]"),),
            "tf": (("tf.reduce_max(logits_BV, axis=-1)", "tf.sort(logits_BV, axis=-1)[:, -2]"),),
        }),
    )
}  # fmt: skip


def file_of(mutant: Mutant, dialect: str) -> Path:
    """The file that a mutant changes: its origin's own, or the one with the layers that several models share."""
    (own,) = HOME.glob(f"*/{mutant.origin}/{mutant.origin}_{dialect}.py")
    text = own.read_text(encoding="utf-8")
    return own if all(old in text for old, _ in mutant.changes[dialect]) else HOME / f"layers/layers_{dialect}.py"


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
