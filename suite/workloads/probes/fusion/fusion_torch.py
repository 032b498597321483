"""fusion in PyTorch, with SELU made of primitives: `F.elu` would be one kernel, fused by hand."""

import torch


def selu(x):
    return 1.05 * torch.where(x > 0, x, 1.67 * torch.expm1(x))


def run(stack, recorder):
    spec = recorder.spec

    def of_profiler(function, x):
        with torch.profiler.profile() as profile:  # of the CPU, and of a GPU if there is one
            function(x)
            stack.wait(None, None)
        events = profile.events()
        if stack.case.target == "cuda":
            return sum(event.device_type == torch.autograd.DeviceType.CUDA for event in events)
        return sum(event.name.startswith("aten::") and event.cpu_parent is None for event in events)

    def of_inductor(function, x):
        from torch._inductor import metrics

        before = metrics.generated_kernel_count
        stack.jit(function)(x)
        return metrics.generated_kernel_count - before

    def of_torchax(function, x):
        import jax
        from torchax import interop

        return spec.launched(jax.jit(interop.jax_view(function)).lower(interop.jax_view(x)).compile().as_text())

    def of_lazy_tensors(function, x):
        stack.jit(function)(x)  # PyTorch/XLA has no way to ask for the optimized program

    kernels = {
        "torch_eager": of_profiler,
        "torch_inductor": of_inductor,
        "torchax_jit": of_torchax,
        "torch_xla": of_lazy_tensors,
    }
    spec.observe(recorder, selu, kernels[stack.case.stack])
