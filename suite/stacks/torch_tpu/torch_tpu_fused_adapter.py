"""TorchTPU fused eager: operations are deferred and run in groups, each of which XLA compiles as one program."""

from __future__ import annotations

from suite.stacks.torch_tpu import torch_tpu_eager_adapter as torch_tpu_eager


class Adapter(torch_tpu_eager.Adapter):
    """Like `torch_tpu_eager`, in TorchTPU's mode DEFER_AND_FUSE, which its users switch on by this variable
    (docs/notebooks/eager_mode.py)."""

    fuses = True

    def step(self, state, batch):
        state, outputs = super().step(state, batch)
        self.synchronize(self.on_device(state, outputs), wait=False)  # submits what is still deferred
        return state, outputs

    def cut(self):
        # All gradients in one program: reading them one by one would compile a program for each.
        self.synchronize([p.grad for p in self.model.parameters() if p.grad is not None], wait=False)

    def jit(self, function, static=()):
        def submitted(*arguments):
            result = function(*arguments)
            self.synchronize(self.on_device(None, result), wait=False)
            return result

        return submitted
