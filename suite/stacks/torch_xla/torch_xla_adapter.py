"""PyTorch/XLA: lazy tensors record the step, `sync` cuts the graph, XLA compiles and runs it."""

from __future__ import annotations

from suite.stacks import base
from suite.stacks.knobs import Knob
from suite.stacks.torch import torch_eager_adapter as torch_eager
from suite.stacks.torch import torch_modules
from suite.stacks.xla import compiler
from suite.workloads import trees

CLEARED = "zero_grad after optimizer.step"


class Adapter(compiler.Dumping, torch_eager.Adapter):
    """The nn.Module on an XLA device. The second step compiles again: the optimizer's moments have appeared."""

    knobs = (
        *compiler.KNOBS,
        Knob(
            CLEARED, "a gradient that outlives its step is a result of the step's program", ("cpu", "tpu"), updates=True
        ),
    )
    packages = ("torch", "torch_xla", "libtpu", "numpy")

    @classmethod
    def environ(cls, case, cache_directory):
        return (
            super().environ(case, cache_directory) | compiler.flags_environ(case) | {"PJRT_DEVICE": case.target.upper()}
        )

    @classmethod
    def profile_environ(cls, case, cache_directory):
        # Each operation of a program then names the PyTorch operation that it was made for; norms are found by it.
        return super().profile_environ(case, cache_directory) | {"XLA_HLO_DEBUG": "1"}

    def compile_on_shapes(self, parameters, batch):
        # Placeholders hold no memory. A graph with them can be compiled but not run, so `sync`, which runs graphs,
        # isn't called. It would also find out which tensors are updated in place: `placeholder` marks them as donated.
        from torch_xla.utils.buffer_donor_context import alias_with_buffer_donor_config

        if hasattr(self.dialect, "loop"):
            raise base.Unsupported(
                "a step of many calls has many graphs, and without tensors none can be cut from another"
            )
        torch, state = self.torch, self.model.state_dict()
        for name, value in state.items():
            self.model.load_state_dict({name: self.placeholder(value)}, strict=False, assign=True)
        for name, value in self.model.named_buffers():
            if name not in state:  # a buffer that isn't persistent
                torch_modules.set_buffer(self.model, name, self.placeholder(value))
        optimizer = self.make_optimizer(self.model.parameters()) if self.train and self.optimizer else None
        names = (*torch_modules.MOMENTS.get(self.optimizer, {}).values(),)
        for p in self.model.parameters() if optimizer else ():
            optimizer.state[p] = {name: self.placeholder(p) for name in names} | {"step": torch.tensor(0.0)}
        inputs = {
            name: self.placeholder(self.empty_input(tensor, "meta"), donated=False) for name, tensor in batch.items()
        }
        _, result = self.call((self.model, optimizer), inputs)
        outputs = [*self.model.state_dict().values(), *(p.grad for p in self.model.parameters() if p.grad is not None)]
        outputs += [
            value
            for p in self.model.parameters()
            for name, value in (optimizer.state[p].items() if optimizer else ())
            if name in names
        ]
        results = [tensor for _, tensor in trees.leaves(result)]
        with alias_with_buffer_donor_config():
            self.torch_xla._XLAC._xla_warm_up_cache([value.detach() for value in (*results, *outputs)], [])
        return None, None

    def placeholder(self, like, donated=True):
        tensor = self.builder.create_placeholder_tensor(like.shape, like.dtype)
        self.torch_xla._XLAC._set_buffer_donation(tensor, donated)
        return tensor

    def __init__(self, case, workload):
        super().__init__(case, workload)
        import torch_xla
        import torch_xla.backends
        import torch_xla.core.xla_builder as builder
        import torch_xla.core.xla_model as xm
        from torch_xla.debug import metrics

        if not self.is_function:
            self.no_gradients = self.torch.no_grad  # XLA's tensors need a version counter; inference tensors have none
        self.torch_xla, self.xm, self.builder, self.metrics = torch_xla, xm, builder, metrics
        torch_xla.backends.set_mat_mul_precision("highest" if case.precision == "f32" else "default")

    def device(self):
        try:
            self.home = self.torch_xla.device()
        except (RuntimeError, OSError) as missing:  # OSError: no libtpu
            raise self.no_device(missing) from missing
        return {"device": self.xm.xla_device_hw(self.home), "torch_threads": self.torch.get_num_threads()}

    def build(self, abstract=False):
        super().build(abstract)
        for module in self.model.modules():
            if isinstance(module, self.batch_norms):
                module.register_forward_pre_hook(remember_variance)
                module.register_forward_hook(unbias_variance)

    def is_unstable(self):
        # Layer norms, too, are lowered to XLA's batch norm, whose variance is E[x^2] - E[x]^2.
        norms = self.torch.nn.LayerNorm, *self.batch_norms
        return any(isinstance(module, norms) for module in self.model.modules())

    @property
    def batch_norms(self):
        """Returns the kinds of batch norms."""
        return self.torch.nn.BatchNorm1d, self.torch.nn.BatchNorm2d, self.torch.nn.BatchNorm3d

    def make_optimizer(self, parameters, fused=False):
        # The fused CPU and CUDA kernels can't be traced; XLA fuses the plain formula itself.
        return super().make_optimizer(parameters, fused)

    def place(self, parameters, batch, moments=True):
        placed = super().place(parameters, batch, moments)
        self.torch_xla.sync(wait=True)  # so that no operation of the placing is part of the first step's graph
        return placed

    def load(self, parameters):
        # Assigned, not copied into existing tensors: a copy would be a graph, and the model would be in memory twice.
        tied = torch_modules.tied(self.model)
        for name, value in parameters:
            tensor = self.put(self.layouts.native(name, value)).to(getattr(self.torch, self.types[name]))
            self.model.load_state_dict({name: tensor}, strict=False, assign=True)
        torch_modules.tie(self.model, tied)
        for name, value in self.model.named_buffers():
            if name not in self.buffers:
                constant = self.constants.get(name, self.torch.zeros(value.shape, dtype=value.dtype))
                torch_modules.set_buffer(self.model, name, constant.to(self.home))

    def put(self, value):
        return self.torch.as_tensor(value).to(self.home)  # `to` copies; torch.tensor would copy on the host before

    def train_step(self, state, batch):
        # Gradients are cleared at the beginning of a step, as in PyTorch/XLA's examples (train_decoder_only_base.py,
        # train_resnet_base.py): a step's gradients are alive when its graph is cut, and so become results.
        state, outputs = super().train_step(state, batch)
        if CLEARED in self.tuned:
            self.model.zero_grad(set_to_none=True)
        return state, outputs

    def looped(self, call):
        return super().looped(self.jit(call))

    def step(self, state, batch):
        state, outputs = self.call(state, batch)
        self.cut()
        return state, outputs

    def jit(self, function, static=()):
        def cut_after(*arguments):
            result = function(*arguments)
            self.cut()
            return result

        return cut_after

    def cut(self):
        self.torch_xla.sync(wait=False)

    def wait(self, state, outputs):
        self.xm.wait_device_ops()

    def profile(self, steps, folder):
        from torch_xla.debug import profiler

        profiler.start_trace(str(folder))
        steps()
        profiler.stop_trace()
        return base.Trace("torch_xla.debug.profiler")

    def counters(self):
        compiled = self.metrics.metric_data("CompileTime")  # (count, total in ns, samples)
        # Each aten:: counter is an operation that XLA can't lower and the CPU ran instead. Reading a
        # scalar (`item`) is a transfer, not such an operation.
        fallbacks = [
            name
            for name in self.metrics.counter_names()
            if name.startswith("aten::") and name != "aten::_local_scalar_dense"
        ]
        return super().counters() | {
            "compiles": compiled[0] if compiled else 0,
            "compile_seconds": compiled[1] / 1e9 if compiled else 0.0,
            "fallback_ops": sum(self.metrics.counter_value(name) for name in fallbacks),
        }

    def probe_counters(self):
        # The number of scalars that Python has waited for.
        return {"reads": self.metrics.counter_value("aten::_local_scalar_dense") or 0}

    def memory(self):
        if self.case.target == "cpu":
            return base.Adapter.memory(self)
        info = self.xm.get_memory_info(self.home)
        return {
            "device_peak_bytes": info.get("peak_bytes_used"),
            "device_reserved_bytes": None,
            "device_total_bytes": info.get("bytes_limit"),
        }


def remember_variance(norm, inputs):
    """Keeps a batch norm's running variance from before a training step, for `unbias_variance`."""
    if norm.training:
        norm.variance_before = norm.running_var.clone()


def unbias_variance(norm, inputs, output):
    """Corrects the running variance after the step: PyTorch moves it towards the batch's unbiased variance, PyTorch/XLA
    towards the biased one."""
    if norm.training:
        values = output.numel() // output.shape[1]  # in each channel
        moved = norm.running_var - (1.0 - norm.momentum) * norm.variance_before
        norm.running_var.data += moved.detach() / (values - 1)  # `.data`: autograd tracks changes of the tensor
