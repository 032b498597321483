"""TorchTPU eager: the nn.Module as written, every operation compiled by XLA when it is first met, and dispatched alone.

What is said here of TorchTPU is from the code of its wheel, torch-tpu 0.2.0, and the notebooks of its documentation.
"""

from __future__ import annotations

from suite.stacks import base
from suite.stacks.torch import torch_eager_adapter as torch_eager
from suite.workloads import trees


class Adapter(torch_eager.Adapter):
    """Like `torch_eager`, on the device `tpu`, in TorchTPU's mode DEFER_NEVER."""

    knobs = ()
    packages = ("torch", "torch_tpu", "libtpu", "numpy")
    fuses = False

    @classmethod
    def environ(cls, case, cache_directory):
        return super().environ(case, cache_directory) | {"TORCH_TPU_DEFER_AND_FUSE": str(int(cls.fuses))}

    def __init__(self, case, workload):
        super().__init__(case, workload)
        from torch_tpu._internal.sync import synchronize

        self.synchronize = synchronize
        if not self.is_function:
            self.no_gradients = self.torch.no_grad  # as TorchTPU's benchmarks (harness/steps/forward.py)
        # On a TPU `import torch` replaces this function (torch_tpu/_loader.py). Its "medium" is TorchTPU's default, one
        # pass in bfloat16; "highest" are six passes, the whole of float32 (docs/notebooks/precision_management.py).
        self.torch.set_float32_matmul_precision("highest" if case.precision == "f32" else "medium")

    def device(self):
        # Only where `import torch` has found a TPU among the PCI devices does PyTorch know the device `tpu`
        # (torch_tpu/_loader.py, `load`). The runtime starts with the first tensor.
        try:
            self.home = self.torch.device("tpu")
            self.put([0.0])
        except RuntimeError as missing:
            raise self.no_device(missing) from missing
        return {"device": self.torch.tpu.get_device_name(), "torch_threads": self.torch.get_num_threads()}

    def is_unstable(self):
        # Layer norms, too, are lowered with the variance E[x^2] - E[x]^2; a batch norm is StableHLO's.
        nn = self.torch.nn
        norms = nn.LayerNorm, nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d
        return any(isinstance(module, norms) for module in self.model.modules())

    def wait(self, state, outputs):
        # `torch.accelerator.synchronize` waits for deferred operations and for copies to the host, `synchronize` until
        # these tensors are computed (torch_tpu/_internal/sync).
        self.synchronize(self.on_device(state, outputs), wait=True)
        self.torch.accelerator.synchronize()

    def on_device(self, state, outputs):
        """Returns the tensors of state and outputs that are on the device."""
        model, optimizer = state or (None, None)
        moments = list(optimizer.state.values()) if optimizer else []
        found = [model.state_dict() if model else {}, moments, outputs]
        tensors = [leaf for _, leaf in trees.leaves(found)]
        return [tensor for tensor in tensors if self.torch.is_tensor(tensor) and tensor.device.type == self.home.type]

    def kernels_used(self, logs):
        return base.Adapter.kernels_used(self, logs)

    def holders(self, logs, state, batch):
        return None  # PyTorch's profiler, which knows a CPU's allocations, doesn't see a TPU's

    def compile_on_shapes(self, parameters, batch):
        return base.Adapter.compile_on_shapes(self, parameters, batch)

    def profile(self, steps, folder):
        from torch_tpu._internal import profiler

        with profiler.profile(on_trace_ready=profiler.xprof_trace_handler(folder)):
            steps()
        return base.Trace("torch_tpu.profiler")

    def counters(self):
        # TorchTPU's compilation cache: each miss is a compilation, whose duration it keeps in microseconds
        # (docs/notebooks/compilation_cache.py). An operation that it can't lower is an error, as long as
        # `execution_mode.enable_cpu_fallback` is off, its default.
        entries = self.torch.tpu._get_cache_stats().per_entry_stats
        return super().counters() | {
            "compiles": self.torch.tpu._get_cache_misses(),
            "compile_seconds": sum(entry.compilation_duration for entry in entries) / 1e6,
            "fallback_ops": 0,
        }

    def memory(self):
        memory = self.torch.accelerator
        _, total = memory.get_memory_info(self.home)
        return {
            "device_peak_bytes": memory.max_memory_allocated(self.home),
            "device_reserved_bytes": memory.max_memory_reserved(self.home),
            "device_total_bytes": total,
        }
