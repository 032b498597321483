"""A question's module in PyTorch, unchanged: its parameters are found, its dropout is off, its results are trees."""

from contextlib import nullcontext
from functools import partial
from types import SimpleNamespace

import torch
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from suite.workloads.questions.dialects.question_torch import mean_cube
from suite.workloads.questions.models import as_tree, chosen, kind_of, takes

NORMS = nn.modules.batchnorm._NormBase  # whose buffers are statistics


def code(make, of_inputs, loss, optimizer, labels):
    """`make` returns the module, `of_inputs` makes its arguments from named tensors, `loss` a scalar of its outputs and
    the arguments, among which are the `labels`, and `optimizer` an optimizer of its parameters."""

    class Model(nn.Module):
        def __init__(self, **dims):
            super().__init__()
            with torch.device("cpu"):  # on `meta` many modules can't be made
                self.module = with_buffers(without_dropout(make()))
            self.takes = takes(self.module.forward)  # here, since JAX looks only while it traces

        def train(self, mode=True):
            super().train(mode)
            for module in self.modules():
                if isinstance(module, nn.modules.dropout._DropoutNd):
                    module.eval()
            return self

        def call(self, arguments):
            return self.module(**chosen(*self.takes, arguments, labels))

        def forward(self, **inputs):
            return tree(self.call(of_inputs(inputs)))

    def scalar(model, /, **inputs):
        arguments = of_inputs(inputs)
        return loss(model.call(arguments), arguments | widened(arguments, labels), mean_cube)

    return SimpleNamespace(Model=Model, loss=scalar, optimizer=optimizer)


def widened(arguments, labels):
    """Returns the labels that are int32 as int64, since PyTorch's losses take no other whole numbers. The cast is part
    of the step, as where a file says `label.long()`: labels of another type wouldn't be the same inputs on all stacks.
    """
    of_loss = {name: arguments[name] for name in labels if name in arguments}
    return {name: value.long() for name, value in of_loss.items() if getattr(value, "dtype", None) == torch.int32}


def without_dropout(module):
    """Turns off dropout that isn't a module's own call: in attention, which takes a dropout module's probability, in
    LSTMs, in stochastic depth, and where a model looks it up in its config."""
    for each in module.modules():
        if isinstance(each, nn.modules.dropout._DropoutNd):
            each.p = 0.0
        for holder in filter(None, (each, getattr(each, "config", None))):
            for name, value in getattr(holder, "__dict__", {}).items():
                if "drop" in name and isinstance(value, float):
                    setattr(holder, name, 0.0)
    return module


def with_buffers(module):
    """Makes buffers of frozen parameters: they are constants, of which no stack takes gradients."""
    for each in module.modules():
        for name, value in list(each._parameters.items()):
            if value is not None and not value.requires_grad:
                del each._parameters[name]
                each.register_buffer(name, value.detach())
    return module


def tree(result):
    return as_tree(result, torch.Tensor)


def leaves(make, arguments, labels):
    """Returns the module's parameters and the running statistics of its norms, as ModelLeaf has them."""
    from suite.stacks.torch.torch_modules import COUNTER, Layouts

    model = code(make, dict, None, None, ()).Model()
    layouts, modules = Layouts(torch, model), dict(model.named_modules())
    found = []
    for trained, named in ((True, model.named_parameters()), (False, model.named_buffers())):
        for name, value in named:
            owner = modules[name.rpartition(".")[0]]
            if trained or (isinstance(owner, NORMS) and not name.endswith(COUNTER)):
                layout = "T" if name in layouts.dense else "HWIO" if name in layouts.kernels else ""
                found.append(
                    (name, trained, *leaf(layouts, name, value.detach()), kind_of(type(owner).__name__), layout)
                )
    return found


def leaf(layouts, name, value):
    first = value.reshape(-1)[:1]
    constant = float(first) if value.numel() and bool((value == first).all()) else None
    shape = layouts.canonical(name, value.float().numpy()).shape
    return tuple(shape), str(value.dtype).removeprefix("torch."), constant, None


class exact:  # called like a function
    """The module in float64, without compiling, on the host. `values` are those of its parameters and statistics."""

    def __init__(self, make, of_inputs, loss, optimizer, labels, values, batch):
        from suite.stacks.torch.torch_modules import Layouts

        with plain_torch():
            form = code(make, of_inputs, loss, optimizer, labels)
            self.model, self.loss = form.Model().double(), form.loss
            self.layouts = Layouts(torch, self.model)
            held = dict(self.model.named_parameters()) | dict(self.model.named_buffers())
            self.held = {name: held[name] for name in values}
            with torch.no_grad():
                for name, value in values.items():
                    held[name].copy_(torch.from_numpy(self.layouts.native(name, value).copy()))
            self.inputs = {name: torch.from_numpy(value.copy()) for name, value in batch.items()}
            self.optimizer = optimizer(self.model.parameters()) if optimizer else None

    def output(self):
        with plain_torch(), torch.no_grad():
            return mapped(self.model.eval()(**self.inputs))

    def step(self):
        """Takes a step. Returns the loss and the gradients of its parameters."""
        with plain_torch():
            self.model.train().zero_grad()
            loss = self.loss(self.model, **self.inputs)
            loss.backward()
            of = {name: torch.zeros_like(p) if p.grad is None else p.grad for name, p in self.model.named_parameters()}
            gradients = {name: self.layouts.canonical(name, each.numpy().copy()) for name, each in of.items()}
            if self.optimizer:
                self.optimizer.step()
            return loss.item(), gradients

    def calls(self, training):
        """Returns (path, kind, inputs, results) of the calls of submodules, in the order in which they end: the
        model's own, without a path, is the last."""
        found = []

        def hook(path, module, inputs, result):
            arrays = [each.detach().numpy() for each in inputs if isinstance(each, torch.Tensor)]
            found.append((path, kind_of(type(module).__name__), arrays, mapped(tree(result))))

        with plain_torch(), torch.no_grad():
            named = [(path, module) for path, module in self.model.named_modules() if path != "module"]
            hooks = [module.register_forward_hook(partial(hook, path)) for path, module in named]
            self.model.train(training)(**self.inputs)
            for each in hooks:
                each.remove()
        return found

    def flops(self):
        """Returns the FLOPs of the matrix products and convolutions of a forward pass, by PyTorch's own counter: it
        doesn't know attention in one kernel, which is therefore computed step by step."""
        fast = torch.backends.mha.get_fastpath_enabled()
        torch.backends.mha.set_fastpath_enabled(False)
        try:
            with (
                plain_torch(),
                torch.no_grad(),
                sdpa_kernel(SDPBackend.MATH),
                FlopCounterMode(display=False) as counted,
            ):
                self.model.eval()(**self.inputs)
        finally:
            torch.backends.mha.set_fastpath_enabled(fast)
        return counted.get_total_flops()

    def values(self):
        return {name: self.layouts.canonical(name, each.detach().numpy()) for name, each in self.held.items()}


def mapped(result):
    if isinstance(result, dict):
        return {name: mapped(branch) for name, branch in result.items()}
    return result.detach().numpy()


def plain_torch():
    """PyTorch itself, in a process in which torchax takes its functions."""
    import sys

    torchax = sys.modules.get("torchax")
    if torchax is None:
        return nullcontext()
    # A context of torchax that ends inside another one says that all have ended, and then nothing would be disabled.
    torchax.default_env().enabled = torch._C._len_torch_function_stack() > 0
    return torchax.disable_temporarily()
