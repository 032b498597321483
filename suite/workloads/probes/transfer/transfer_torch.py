"""transfer in PyTorch. `torch.tensor` would always copy."""

from importlib.util import find_spec

import torch

if find_spec("torch_xla"):
    import torch_xla


def to_cpu(host):
    return torch.from_numpy(host)


def to_cuda(host):
    return torch.from_numpy(host).to("cuda")


def to_torchax(host):
    return torch.from_numpy(host).to("jax")


def to_xla(host):
    x = torch.from_numpy(host).to("xla")
    torch_xla.sync(wait=True)
    return x


def to_host(x):
    return x.numpy()


def by_cpu_to_host(x):
    return x.cpu().numpy()


def from_pinned(pinned):
    return pinned.to("cuda", non_blocking=True)


def run(stack, recorder):
    spec, target = stack.workload.spec, stack.case.target
    plain = to_cuda if target == "cuda" else to_cpu
    into = {"torch_xla": to_xla, "torchax_jit": to_torchax}.get(stack.case.stack, plain)
    spec.observe(stack, recorder, into, to_host if into in (to_cpu, to_torchax) else by_cpu_to_host)
    if into is to_cuda:
        spec.observe_pinned(stack, recorder, from_pinned, torch.from_numpy(spec.large(stack)).pin_memory())
    else:
        recorder.lacks("pinned", spec.NOTHING_TO_PIN if target == "cpu" else "pin_memory is for CUDA's devices")
