"""Eight pairs of ports in PyTorch, each with two faults that can be planted in the port, run in float64. As a
script, in an environment with PyTorch: writes what `part` takes, pickled, to the file that its argument names."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional as f

KINDS = {
    nn.Linear: "linear",
    nn.Conv2d: "conv",
    nn.LayerNorm: "layer_norm",
    nn.BatchNorm2d: "batch_norm",
    nn.GroupNorm: "group_norm",
    nn.Embedding: "embedding",
    nn.MultiheadAttention: "attention",
    nn.LSTM: "lstm",
    nn.Dropout: "dropout",
    nn.GELU: "activation",
    nn.ReLU: "activation",
}


class Dense(nn.Module):
    """Linear with its kernel as (inputs, outputs), as Flax has it."""

    def __init__(self, inputs, outputs, *, biased=True, as_transpose=False):
        super().__init__()
        self.kernel = nn.Parameter(torch.randn(inputs, outputs))
        self.bias = nn.Parameter(torch.randn(outputs)) if biased else None
        self.as_transpose = as_transpose

    def forward(self, x):
        y = x @ (self.kernel.T if self.as_transpose else self.kernel)
        return y if self.bias is None else y + self.bias


class Conv(nn.Module):
    """A convolution of NHWC images."""

    def __init__(self, inputs, outputs, size=3, stride=1):
        super().__init__()
        self.kernel = nn.Parameter(torch.randn(size, size, inputs, outputs))
        self.bias = nn.Parameter(torch.randn(outputs))
        self.stride, self.padding = stride, 0 if stride > 1 else size // 2

    def forward(self, x):
        y = f.conv2d(x.permute(0, 3, 1, 2), self.kernel.permute(3, 2, 0, 1), self.bias, self.stride, self.padding)
        return y.permute(0, 2, 3, 1)


class Norm(nn.Module):
    """Layer norm, or with `mean` off RMS norm."""

    def __init__(self, width, epsilon=1e-5, *, mean=True):
        super().__init__()
        self.scale = nn.Parameter(torch.randn(width))
        self.bias = nn.Parameter(torch.randn(width)) if mean else None
        self.epsilon = epsilon

    def forward(self, x):
        if self.bias is not None:
            x = x - x.mean(-1, keepdim=True)
        y = x * torch.rsqrt(x.square().mean(-1, keepdim=True) + self.epsilon) * self.scale
        return y if self.bias is None else y + self.bias


class BatchNorm(nn.Module):
    """Of NHWC images."""

    def __init__(self, width, *, by_batch=False):
        super().__init__()
        self.scale, self.bias = nn.Parameter(torch.randn(width)), nn.Parameter(torch.randn(width))
        self.register_buffer("mean", torch.zeros(width))
        self.register_buffer("var", torch.ones(width))
        self.by_batch = by_batch

    def forward(self, x):
        mean, var = (x.mean((0, 1, 2)), x.var((0, 1, 2), correction=0)) if self.by_batch else (self.mean, self.var)
        return (x - mean) / torch.sqrt(var + 1e-5) * self.scale + self.bias


OWN_KINDS = {Dense: "linear", Conv: "conv", Norm: "layer_norm", BatchNorm: "batch_norm"}
LINEAR = {"kernel": "weight.T", "bias": "bias"}
CONV = {"kernel": "weight.transpose(2, 3, 1, 0)", "bias": "bias"}
NORM = {"scale": "weight", "bias": "bias"}
BATCH_NORM = NORM | {"mean": "running_mean", "var": "running_var"}


def table(**modules):
    """The weights' table of modules by their names in the port, each with its name in the first model and its form."""
    return {
        f"{name.replace('__', '.')}.{leaf}": f"{other}.{expression}"
        for name, (other, form) in modules.items()
        for leaf, expression in form.items()
    }


# 1: a perceptron with square layers


class Perceptron(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(12, 32), nn.GELU(), nn.Linear(32, 32), nn.GELU(), nn.Linear(32, 5))

    def forward(self, x):
        return self.net(x)


class PerceptronPort(nn.Module):
    def __init__(self, fault=""):
        super().__init__()
        self.Dense_0, self.Dense_1 = Dense(12, 32), Dense(32, 32, biased=fault != "bias")
        self.Dense_2 = Dense(32, 5)
        self.approximate = "tanh" if fault == "activation" else "none"

    def forward(self, x):
        x = f.gelu(self.Dense_0(x), approximate=self.approximate)
        return self.Dense_2(f.gelu(self.Dense_1(x), approximate=self.approximate))


# 2: a convolutional net with batch norm, NCHW against NHWC


class Convolutional(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8)
        self.conv2, self.bn2 = nn.Conv2d(8, 16, 3, padding=1), nn.BatchNorm2d(16)
        self.fc = nn.Linear(16 * 4 * 4, 10)

    def forward(self, x):
        x = f.max_pool2d(torch.relu(self.bn1(self.conv1(x.permute(0, 3, 1, 2)))), 2)
        x = f.max_pool2d(torch.relu(self.bn2(self.conv2(x))), 2)
        return self.fc(x.flatten(1))


class ConvolutionalPort(nn.Module):
    def __init__(self, fault=""):
        super().__init__()
        self.stem, self.stem_norm = Conv(3, 8), BatchNorm(8)
        self.body, self.body_norm = Conv(8, 16), BatchNorm(16, by_batch=fault == "batch statistics")
        self.head, self.fault = Dense(16 * 4 * 4, 10), fault

    def forward(self, x):
        for conv, norm in ((self.stem, self.stem_norm), (self.body, self.body_norm)):
            x = torch.relu(norm(conv(x)))
            x = f.max_pool2d(x.permute(0, 3, 1, 2), 2).permute(0, 2, 3, 1)
        x = x if self.fault == "order of axes" else x.permute(0, 3, 1, 2)
        return self.head(x.flatten(1))


# 3: an encoder by nn.MultiheadAttention, against queries, keys and values apart


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(50, 16)
        self.attn, self.norm = nn.MultiheadAttention(16, 4, batch_first=True), nn.LayerNorm(16)
        self.up, self.down, self.last = nn.Linear(16, 32), nn.Linear(32, 16), nn.LayerNorm(16)

    def forward(self, tokens):
        x = self.embed(tokens)
        x = self.norm(x + self.attn(x, x, x, need_weights=False)[0])
        return self.last(x + self.down(torch.relu(self.up(x))))


class Attention(nn.Module):
    def __init__(self, fault="", causal=False):
        super().__init__()
        self.q, self.k, self.v, self.o = (Dense(16, 16) for _ in range(4))
        self.fault, self.causal = fault, causal

    def forward(self, x):
        q, k, v = (each(x).unflatten(-1, (4, 4)).transpose(1, 2) for each in (self.q, self.k, self.v))
        scores = q @ k.transpose(-1, -2) / (4 if self.fault == "factor" else 2)
        if self.causal:
            scores = scores.masked_fill(torch.ones(x.shape[1], x.shape[1]).triu(1).bool(), -torch.inf)
        heads = scores.softmax(-2 if self.fault == "softmax" else -1) @ v
        return self.o(heads.transpose(1, 2).flatten(2))


class EncoderPort(nn.Module):
    def __init__(self, fault=""):
        super().__init__()
        self.tokens, self.attention = nn.Embedding(50, 16), Attention(fault)
        self.norm1, self.mlp1, self.mlp2, self.norm2 = Norm(16), Dense(16, 32), Dense(32, 16), Norm(16)

    def forward(self, tokens):
        x = self.tokens(tokens)
        x = self.norm1(x + self.attention(x))
        return self.norm2(x + self.mlp2(torch.relu(self.mlp1(x))))


PARTS = {"q": "0:16", "k": "16:32", "v": "32:48"}
ENCODER = {
    **{f"attention.{it}.kernel": f"attn.in_proj_weight[{part}].T" for it, part in PARTS.items()},
    **{f"attention.{it}.bias": f"attn.in_proj_bias[{part}]" for it, part in PARTS.items()},
    "tokens.weight": "embed.weight",
    **table(attention__o=("attn.out_proj", LINEAR), norm1=("norm", NORM), mlp1=("up", LINEAR), mlp2=("down", LINEAR)),
    **table(norm2=("last", NORM)),
}


# 4: two blocks of a decoder: queries, keys and values in one, pre-norm, tied embedding


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(16), nn.LayerNorm(16)
        self.c_attn, self.c_proj = nn.Linear(16, 48), nn.Linear(16, 16)
        self.fc, self.proj = nn.Linear(16, 64), nn.Linear(64, 16)

    def forward(self, x):
        q, k, v = (it.unflatten(-1, (4, 4)).transpose(1, 2) for it in self.c_attn(self.ln_1(x)).chunk(3, -1))
        heads = f.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.c_proj(heads.transpose(1, 2).flatten(2))
        return x + self.proj(f.gelu(self.fc(self.ln_2(x)), approximate="tanh"))


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(50, 16), nn.Embedding(12, 16)
        self.h, self.ln_f = nn.ModuleList([Block(), Block()]), nn.LayerNorm(16)

    def forward(self, tokens):
        x = self.wte(tokens) + self.wpe(torch.arange(tokens.shape[1]))
        for block in self.h:
            x = block(x)
        return self.ln_f(x) @ self.wte.weight.T


class BlockPort(nn.Module):
    def __init__(self, fault=""):
        super().__init__()
        self.attention, self.norm_a, self.norm_b = Attention(causal=fault != "mask"), Norm(16), Norm(16)
        self.up, self.down, self.fault = Dense(16, 64), Dense(64, 16), fault

    def forward(self, x):
        if self.fault == "order of norms":
            x = self.norm_a(x + self.attention(x))
            return self.norm_b(x + self.down(f.gelu(self.up(x), approximate="tanh")))
        x = x + self.attention(self.norm_a(x))
        return x + self.down(f.gelu(self.up(self.norm_b(x)), approximate="tanh"))


class DecoderPort(nn.Module):
    def __init__(self, fault=""):
        super().__init__()
        self.tokens, self.places = nn.Embedding(50, 16), nn.Embedding(12, 16)
        self.block_0, self.block_1, self.norm = BlockPort(fault), BlockPort(fault), Norm(16)
        self.head = Dense(16, 50, biased=False)

    def forward(self, tokens):
        x = self.tokens(tokens) + self.places(torch.arange(tokens.shape[1]))
        return self.head(self.norm(self.block_1(self.block_0(x))))


DECODER = {
    "tokens.weight": "wte.weight",
    "places.weight": "wpe.weight",
    "head.kernel": "wte.weight.T",
    **table(norm=("ln_f", NORM)),
}
for i in (0, 1):
    for it, part in PARTS.items():
        DECODER[f"block_{i}.attention.{it}.kernel"] = f"h.{i}.c_attn.weight[{part}].T"
        DECODER[f"block_{i}.attention.{it}.bias"] = f"h.{i}.c_attn.bias[{part}]"
    for it, (other, form) in {
        "attention.o": ("c_proj", LINEAR),
        "norm_a": ("ln_1", NORM),
        "norm_b": ("ln_2", NORM),
        "up": ("fc", LINEAR),
        "down": ("proj", LINEAR),
    }.items():
        DECODER |= {f"block_{i}.{it}.{leaf}": f"h.{i}.{other}.{text}" for leaf, text in form.items()}


# 5: an LSTM with two heads


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.lstm = nn.Embedding(40, 12), nn.LSTM(12, 24, batch_first=True)
        self.drop, self.label, self.score = nn.Dropout(0.25), nn.Linear(24, 4), nn.Linear(24, 1)

    def forward(self, tokens):
        x = self.drop(self.lstm(self.embed(tokens))[0][:, -1])
        return {"label": self.label(x), "score": self.score(x)}


class RecurrentPort(nn.Module):
    def __init__(self, fault=""):
        super().__init__()
        self.table, self.rnn = nn.Embedding(40, 12), nn.LSTM(12, 24)
        self.classes, self.value, self.fault = Dense(24, 4), Dense(24, 1), fault

    def forward(self, tokens):
        x = self.rnn(self.table(tokens.T))[0][-1]
        x = f.dropout(x, 0.25, training=self.fault == "dropout")
        if self.fault == "output":
            return {"label": self.classes(x)}
        return {"label": self.classes(x), "score": self.value(x)}


LSTM = {f"{it}_l0": f"{it}_l0" for it in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")}


# 6: RMS norms and a gated layer


class RMSNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(width))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5) * self.weight


class Gated(nn.Module):
    def __init__(self):
        super().__init__()
        self.enter, self.norm, self.norm_f = nn.Linear(10, 24), RMSNorm(24), RMSNorm(24)
        self.gate, self.up, self.down = (nn.Linear(*shape, bias=False) for shape in ((24, 40), (24, 40), (40, 24)))

    def forward(self, x):
        x = self.enter(x)
        y = self.norm(x)
        return self.norm_f(x + self.down(f.silu(self.gate(y)) * self.up(y)))


class GatedPort(nn.Module):
    def __init__(self, fault=""):
        super().__init__()
        epsilon = 1e-6 if fault == "epsilon" else 1e-5
        self.inner, self.outer = Norm(24, epsilon, mean=False), Norm(24, 1e-5, mean=False)
        self.wi = Dense(10, 24)
        self.w1, self.w3, self.w2 = (Dense(*shape, biased=False) for shape in ((24, 40), (24, 40), (40, 24)))
        self.activation = torch.relu if fault == "activation" else f.silu

    def forward(self, x):
        x = self.wi(x)
        y = self.inner(x)
        return self.outer(x + self.w2(self.activation(self.w1(y)) * self.w3(y)))


# 7: a vision transformer of one block, (T, B, C) against (B, T, C)


class Vision(nn.Module):
    def __init__(self):
        super().__init__()
        self.patch, self.cls = nn.Conv2d(3, 16, 4, 4), nn.Parameter(torch.randn(1, 1, 16))
        self.pos = nn.Parameter(torch.randn(1, 5, 16))
        self.ln1, self.ln2, self.attn = nn.LayerNorm(16), nn.LayerNorm(16), nn.MultiheadAttention(16, 4)
        self.fc1, self.fc2, self.head = nn.Linear(16, 32), nn.Linear(32, 16), nn.Linear(16, 10)

    def forward(self, x):
        x = self.patch(x.permute(0, 3, 1, 2)).flatten(2).transpose(1, 2)
        x = torch.cat((self.cls.expand(len(x), -1, -1), x), 1) + self.pos
        x = x.transpose(0, 1)
        y = self.ln1(x)
        x = x + self.attn(y, y, y)[0]
        x = x + self.fc2(f.gelu(self.fc1(self.ln2(x))))
        return self.head(x[0])


class VisionPort(nn.Module):
    def __init__(self, fault=""):
        super().__init__()
        self.patches, self.token = Conv(3, 16, 4, 4), nn.Parameter(torch.randn(1, 1, 16))
        self.places = nn.Parameter(torch.randn(1, 5, 16))
        self.norm1, self.norm2 = Norm(16), Norm(16)
        self.q, self.k, self.v, self.o = (Dense(16, 16) for _ in range(4))
        self.wide, self.narrow, self.logits, self.fault = Dense(16, 32), Dense(32, 16), Dense(16, 10), fault

    def forward(self, x):
        x = self.patches(x).flatten(1, 2)
        x = torch.cat((self.token.expand(len(x), -1, -1), x), 1) + self.places
        y = self.norm1(x)
        shape, order = ((4, 4), (0, 3, 1, 2)) if self.fault == "order of axes" else ((4, 4), (0, 2, 1, 3))
        q, k, v = (each(y).unflatten(-1, shape).permute(order) for each in (self.q, self.k, self.v))
        heads = (q @ k.transpose(-1, -2) / 2).softmax(-1) @ v
        x = x + self.o(heads.transpose(1, 2).flatten(2))
        x = x * (2 if self.fault == "residual" else 1) + self.narrow(f.gelu(self.wide(self.norm2(x))))
        return self.logits(x[:, 0])


VISION = {
    "token": "cls",
    "places": "pos",
    **{f"{it}.kernel": f"attn.in_proj_weight[{part}].T" for it, part in PARTS.items()},
    **{f"{it}.bias": f"attn.in_proj_bias[{part}]" for it, part in PARTS.items()},
    **table(patches=("patch", CONV), o=("attn.out_proj", LINEAR), norm1=("ln1", NORM), norm2=("ln2", NORM)),
    **table(wide=("fc1", LINEAR), narrow=("fc2", LINEAR), logits=("head", LINEAR)),
}


# 8: a residual block with group norm, and a square layer behind


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.enter = nn.Conv2d(3, 8, 3, padding=1)
        self.conv1, self.gn1 = nn.Conv2d(8, 8, 3, padding=1), nn.GroupNorm(2, 8)
        self.conv2, self.gn2 = nn.Conv2d(8, 8, 3, padding=1), nn.GroupNorm(2, 8)
        self.hidden, self.fc = nn.Linear(8, 8), nn.Linear(8, 3)

    def forward(self, x):
        x = self.enter(x.permute(0, 3, 1, 2))
        y = self.conv2(torch.relu(self.gn1(self.conv1(x))))
        x = torch.relu(self.gn2(y) + x)
        return self.fc(torch.tanh(self.hidden(x.mean((2, 3)))))


class GroupNorm(Norm):
    def forward(self, x):
        y = f.group_norm(x.permute(0, 3, 1, 2), 2, self.scale, self.bias, self.epsilon)
        return y.permute(0, 2, 3, 1)


class ResidualPort(nn.Module):
    def __init__(self, fault=""):
        super().__init__()
        self.Conv_0, self.Conv_1, self.Conv_2 = Conv(3, 8), Conv(8, 8), Conv(8, 8)
        self.Norm_0, self.Norm_1 = GroupNorm(8), GroupNorm(8)
        self.Dense_0, self.Dense_1 = Dense(8, 8, as_transpose=fault == "transposed weights"), Dense(8, 3)
        self.fault = fault

    def forward(self, x):
        x = self.Conv_0(x)
        y = self.Norm_1(self.Conv_2(torch.relu(self.Norm_0(self.Conv_1(x)))))
        x = torch.relu(y if self.fault == "residual" else y + x)
        return self.Dense_1(torch.tanh(self.Dense_0(x.mean((1, 2)))))


OWN_KINDS |= {GroupNorm: "group_norm", RMSNorm: "rms_norm"}


def tokens(high):
    return torch.randint(high, (6, 12))


# The first model, its port, the weights' table, inputs, and where each fault is planted.
PAIRS = {
    "perceptron": (
        Perceptron,
        PerceptronPort,
        table(Dense_0=("net.0", LINEAR), Dense_1=("net.2", LINEAR), Dense_2=("net.4", LINEAR)),
        lambda: torch.randn(7, 12),
        {"bias": "Dense_1", "activation": "Dense_1"},
    ),
    "convolutional": (
        Convolutional,
        ConvolutionalPort,
        table(stem=("conv1", CONV), stem_norm=("bn1", BATCH_NORM), body=("conv2", CONV), body_norm=("bn2", BATCH_NORM))
        | table(head=("fc", LINEAR)),
        lambda: torch.randn(5, 16, 16, 3),
        {"batch statistics": "body_norm", "order of axes": "head"},
    ),
    "encoder": (Encoder, EncoderPort, ENCODER, lambda: tokens(50), {"factor": "attention.o", "softmax": "attention.o"}),
    "decoder": (
        Decoder,
        DecoderPort,
        DECODER,
        lambda: tokens(50),
        {"mask": "block_0.attention.o", "order of norms": "block_0.norm_a"},
    ),
    "recurrent": (
        Recurrent,
        RecurrentPort,
        {"table.weight": "embed.weight"}
        | table(rnn=("lstm", LSTM), classes=("label", LINEAR), value=("score", LINEAR)),
        lambda: tokens(40),
        {"dropout": "classes", "output": ""},
    ),
    "gated": (
        Gated,
        GatedPort,
        table(wi=("enter", LINEAR), inner=("norm", {"scale": "weight"}), outer=("norm_f", {"scale": "weight"}))
        | table(
            **{port: (first, {"kernel": "weight.T"}) for port, first in (("w1", "gate"), ("w2", "down"), ("w3", "up"))}
        ),
        lambda: torch.randn(9, 10),
        {"epsilon": "inner", "activation": "w2"},
    ),
    "vision": (
        Vision,
        VisionPort,
        VISION,
        lambda: torch.randn(4, 8, 8, 3),
        {"order of axes": "o", "residual": "logits"},
    ),
    "residual": (
        Residual,
        ResidualPort,
        table(Conv_0=("enter", CONV), Conv_1=("conv1", CONV), Conv_2=("conv2", CONV), Norm_0=("gn1", NORM))
        | table(Norm_1=("gn2", NORM), Dense_0=("hidden", LINEAR), Dense_1=("fc", LINEAR)),
        lambda: torch.randn(6, 8, 8, 3),
        {"residual": "Dense_0", "transposed weights": "Dense_0"},
    ),
}


def arrays(value):
    """The tensors among a call's arguments or results, by name."""
    if isinstance(value, torch.Tensor):
        return {"": value.detach().double().numpy().copy()}
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, (tuple, list)) else ()
    return {f"{name}.{rest}".rstrip("."): it for name, each in items for rest, it in arrays(each).items()}


def traced(name, model, x):
    """A model's run, as plain data."""
    calls = []

    def hook(path, module):
        kind = {**KINDS, **OWN_KINDS}.get(type(module), "other")
        module.register_forward_hook(
            lambda _, given, result: calls.append((path, kind, [*arrays(given).values()], arrays(result)))
        )

    for path, module in model.named_modules():
        hook(path, module)
    with torch.no_grad():
        model(x)
    leaves = {**dict(model.named_parameters()), **dict(model.named_buffers())}
    values = {leaf: it.detach().numpy() for leaf, it in leaves.items() if it.is_floating_point()}
    return {"name": name, "calls": calls, "values": values, "parameters": sum(it.numel() for it in model.parameters())}


def run(pair, fault=""):
    """Runs both models of a pair on the same inputs, with the same weights. Returns both traces."""
    first_class, port_class, weights, make_inputs, _ = PAIRS[pair]
    torch.manual_seed(len(pair))
    first, port = first_class().double().eval(), port_class(fault).double().eval()
    with torch.no_grad():
        for name, value in [*first.named_parameters(), *first.named_buffers()]:
            if value.is_floating_point():
                value.copy_(torch.rand_like(value) + 0.5 if "var" in name else torch.randn_like(value) / 3)
        leaves = {**dict(first.named_parameters()), **dict(first.named_buffers())}
        held = {**dict(port.named_parameters()), **dict(port.named_buffers())}
        for name, value in held.items():
            value.copy_(filled(weights[name], leaves))
    x = make_inputs()
    x = x.double() if x.is_floating_point() else x
    return traced("torch_model", first, x), traced("jax_model", port, x), {leaf: weights[leaf] for leaf in held}


def filled(expression, leaves):
    """The value of an expression of this file's tables."""
    name = max((leaf for leaf in leaves if expression.startswith(leaf)), key=len)
    value, rest = leaves[name], expression.removeprefix(name)
    return eval("value" + rest.replace("transpose", "permute"), {"value": value})  # the tables are above


if __name__ == "__main__":
    faults = {(pair, fault): where for pair, it in PAIRS.items() for fault, where in {"": None, **it[-1]}.items()}
    Path(sys.argv[1]).write_bytes(pickle.dumps({key: (*run(*key), where) for key, where in faults.items()}))
