"""PyTorch: its memory pool grows as needed and keeps what it has; PyTorch/XLA and torchax use XLA's pool."""


def first_array(target):
    import torch

    return torch.ones(1024, device=target)


def first_array_xla(target):
    import torch
    import torch_xla

    x = torch.ones(1024, device=torch_xla.device())
    torch_xla.sync(wait=True)
    return x


def first_array_torchax(target):
    import torch
    import torchax

    torchax.enable_globally()
    return torch.ones(1024, device="jax").jax().block_until_ready()


WAYS = {
    "torch_xla": ("torch_xla", first_array_xla, {}, "PyTorch/XLA preallocates only on GPUs, which it has given up"),
    "torchax_jit": ("torchax", first_array_torchax, {"XLA_PYTHON_CLIENT_PREALLOCATE": "false"}),
}
PLAIN = ("torch", first_array, {}, "PyTorch takes memory as tensors need it; there is nothing to turn off")


def run(stack, recorder):
    recorder.spec.observe(recorder, *WAYS.get(stack.case.stack, PLAIN))
