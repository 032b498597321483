"""A question's module in PyTorch, unchanged: its parameters are found, its dropout is off, its results are trees."""

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import fields, is_dataclass
from types import SimpleNamespace

import torch
from torch import nn

from suite.workloads.questions.dialects.question_torch import mean_cube


def code(make, of_inputs, loss):
    """`make` returns the module, `of_inputs` makes its arguments from named tensors."""

    class Model(nn.Module):
        def __init__(self, **dims):
            super().__init__()
            with torch.device("cpu"):  # on `meta` many modules can't be made
                self.module = without_dropout(make())

        def train(self, mode=True):
            super().train(mode)
            for module in self.modules():
                if isinstance(module, nn.modules.dropout._DropoutNd):
                    module.eval()
            return self

        def forward(self, **inputs):
            return tree(self.module(**of_inputs(inputs)))

    def scalar(model, /, **inputs):
        return loss(model(**inputs), mean_cube)

    return SimpleNamespace(Model=Model, loss=scalar)


def without_dropout(module):
    """Turns off dropout that isn't a module of its own: in attention, LSTMs, stochastic depth."""
    for each in module.modules():
        for name, value in vars(each).items():
            if "drop" in name and isinstance(value, float):
                setattr(each, name, 0.0)
    return module


def tree(result):
    """Returns a result as nested dicts of tensors: of a list its places, of a dataclass its fields, of an object such
    as a cache its attributes. What isn't a tensor, like a flag or None, is left out."""
    if isinstance(result, torch.Tensor):
        return result
    if isinstance(result, Mapping):
        branches = result.items()
    elif isinstance(result, (tuple, list)):
        branches = ((str(place), branch) for place, branch in enumerate(result))
    elif is_dataclass(result):
        branches = ((field.name, getattr(result, field.name)) for field in fields(result))
    else:
        branches = getattr(result, "__dict__", {}).items()
    trees = ((name, tree(branch)) for name, branch in branches)
    return {name: branch for name, branch in trees if isinstance(branch, torch.Tensor) or branch}


def parameters(make):
    """Returns {name: (shape in canonical layout, type, the one value that all elements have, or None)} of the module's
    parameters."""
    from suite.stacks.torch.torch_modules import Layouts

    model = code(make, dict, None).Model()
    layouts, found = Layouts(torch, model), {}
    for name, value in model.named_parameters():
        first = value.detach().reshape(-1)[:1]
        constant = float(first) if value.numel() and bool((value == first).all()) else None
        shape = tuple(layouts.canonical(name, value.detach().numpy() if value.dtype != torch.bfloat16 else value).shape)
        found[name] = shape, str(value.dtype).removeprefix("torch."), constant
    return found


def reference(make, of_inputs, loss, train, dims, named, /, target=None, **batch):
    """Returns what is right: the module's own results in float64, without compiling, on the host; where gradients are
    taken, also the loss and the gradients, in canonical layout."""
    from suite.stacks.torch.torch_modules import Layouts

    with plain_torch():
        form = code(make, of_inputs, loss)
        model = form.Model().double().eval()
        layouts = Layouts(torch, model)
        with torch.no_grad():
            for name, value in model.named_parameters():
                value.copy_(torch.from_numpy(layouts.native(name, named[name]).copy()))
        inputs = {name: torch.from_numpy(value.copy()) for name, value in batch.items()}
        with torch.no_grad():
            answer = {"output": mapped(model(**inputs))}
        if not train:
            return answer
        total = form.loss(model.train(), **inputs)
        total.backward()
        of = {name: torch.zeros_like(p) if p.grad is None else p.grad for name, p in model.named_parameters()}
        answer |= {name: layouts.canonical(name, gradient.numpy()) for name, gradient in of.items()}
        return answer | {"loss": total.item()}


def mapped(result):
    if isinstance(result, dict):
        return {name: mapped(branch) for name, branch in result.items()}
    return result.detach().numpy()


def plain_torch():
    """PyTorch itself, in a process in which torchax takes its functions."""
    import sys

    torchax = sys.modules.get("torchax")
    return torchax.disable_temporarily() if torchax else nullcontext()
