"""TorchTPU with torch.compile: the whole step, its optimizer too, is traced, and XLA compiles it as one program."""

from __future__ import annotations

from suite.stacks.torch_tpu import torch_tpu_eager_adapter as torch_tpu_eager
from suite.stacks.xla import compiler


class Adapter(compiler.Dumping, torch_tpu_eager.Adapter):
    """Forward, backward and update in one graph, as TorchTPU recommends (docs/notebooks/advanced_compile.py)."""

    @classmethod
    def environ(cls, case, cache_directory):
        # TorchTPU's backend keeps its programs in PyTorch's cache of AOTAutograd, which lies here
        # (torch_tpu/_internal/compile/_backend.py, `serializable`).
        return super().environ(case, cache_directory) | {"TORCHINDUCTOR_CACHE_DIR": f"{cache_directory}/inductor"}

    def compile(self, function):
        # `dynamic=False` is the only one that the backend takes. A graph break is an error, not a slow row; of a
        # question it is counted, since its users would compile so.
        return self.torch.compile(function, backend="tpu", dynamic=False, fullgraph=not self.case.implementation)

    def build(self, abstract=False):
        super().build(abstract)
        loss_of = self.in_precision(lambda **batch: self.dialect.loss(self.model, **batch))

        def updating(optimizer, batch):
            loss = loss_of(**batch)
            loss.backward()
            self.update_in_graph(optimizer)
            for p in self.model.parameters():
                p.grad = None  # a gradient that outlives its step is a result of the step's program
            return loss.detach()

        self.updating = self.compile(updating)

    def train_step(self, state, batch):
        _, optimizer = state
        return (state, self.updating(optimizer, batch)) if optimizer else super().train_step(state, batch)

    def make_optimizer(self, parameters, fused=False):
        # In a graph PyTorch's own optimizers break off, and their state would only be made in the first step. TorchTPU
        # has an AdamW without both (torch_tpu/_internal/optim/adamw.py).
        if self.optimizer == "adamw":
            from torch_tpu._internal.optim.adamw import AdamW

            return super().make_optimizer(parameters, fused, AdamW, capturable=True)
        optimizer = super().make_optimizer(parameters, fused)
        for p in optimizer.param_groups[0]["params"]:
            optimizer.state[p]["momentum_buffer"] = self.torch.zeros_like(p)
        return optimizer

    def update_in_graph(self, optimizer):
        if self.optimizer == "adamw":
            optimizer.step()
            return
        from torch.optim.sgd import sgd  # what SGD's `step` calls: all of it that can be traced after a backward pass

        parameters = [p for p in self.model.parameters() if p.grad is not None]
        buffers = [optimizer.state[p]["momentum_buffer"] for p in parameters]
        names = "weight_decay", "momentum", "lr", "dampening", "nesterov", "maximize"
        options = {name: optimizer.param_groups[0][name] for name in names}
        with self.torch.no_grad():
            sgd(parameters, [p.grad for p in parameters], buffers, foreach=False, **options)

    def jit(self, function, static=()):
        return self.torch.compile(function, backend="tpu", dynamic=False)  # probes observe a graph break

    def counters(self):
        from torch._dynamo.utils import counters

        return super().counters() | {"graph_breaks": sum(counters["graph_break"].values())}
