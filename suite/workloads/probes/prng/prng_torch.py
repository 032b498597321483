"""PyTorch: a global state for each device, and generators with a state of their own."""

import torch


def same_seed(seed, n, device):
    seed(0)
    first = torch.randn(n, device=device)
    seed(0)
    return first, torch.randn(n, device=device)


def two_draws(seed, n, device):
    seed(0)
    return torch.randn(n, device=device), torch.randn(n, device=device)


def split(n, device, home):
    first, second = (torch.Generator(home).manual_seed(seed) for seed in (1, 2))
    return [torch.randn(n, generator=stream, device=device) for stream in (first, second, first)]


def draw(n, device):
    return torch.randn(n, device=device)


def draw_from(generator, n, device):
    return torch.randn(n, generator=generator, device=device)


def uniforms(seed, device):
    seed(0)
    return torch.rand(1000, device=device)


def state_of(stack, target):
    """Returns the function that seeds a stack's global state, and the device. `torch.manual_seed` seeds neither
    PyTorch/XLA's state nor torchax's."""
    if stack == "torch_xla":
        import torch_xla

        return torch_xla.manual_seed, torch_xla.device()
    if stack == "torchax_jit":
        import torchax

        return torchax.default_env().manual_seed, "jax"
    return torch.manual_seed, torch.device(target)


def uniforms_afresh(stack, target):
    """What `uniforms` draws, on the host, in a process of its own."""
    if stack == "torchax_jit":
        import torchax

        torchax.enable_globally()
    return uniforms(*state_of(stack, target)).cpu().numpy()


def run(stack, recorder):
    compare, n, many = recorder.spec.compare, stack.dims["n"], stack.dims["many"]
    name, target = stack.case.stack, stack.case.target
    seed, device = state_of(name, target)
    # PyTorch/XLA and torchax have no generators of their own and take the host's.
    home = device if name in ("torch_eager", "torch_inductor") else "cpu"
    function = stack.jit(draw, static=(0, 1))

    def both(first, second, seeds):
        seed(0)
        numbers = first(n, device)
        if seeds > 1:
            seed(0)
        return numbers, second(n, device)

    def from_generators():
        streamed = stack.jit(draw_from, static=(0, 1, 2))
        first, second = (torch.Generator(home).manual_seed(1) for _ in range(2))
        return draw_from(first, n, device), streamed(second, n, device)

    compare(recorder, "same_seed", same_seed, lambda: same_seed(seed, n, device))
    compare(recorder, "two_draws", two_draws, lambda: two_draws(seed, n, device))
    compare(recorder, "split", split, lambda: split(n, device, home), seeds=2)
    compare(recorder, "compiled", draw, lambda: both(draw, function, seeds=2))
    compare(recorder, "compiled_seed", draw, lambda: both(function, function, seeds=2))
    compare(recorder, "compiled_draws", draw, lambda: both(function, function, seeds=1))
    afresh = stack.jit(draw, static=(0, 1))  # a new function, because what tracing does to the state counts, too
    compare(recorder, "compiled_leaves", draw, lambda: both(afresh, draw, seeds=1))
    compare(recorder, "compiled_stream", draw_from, from_generators)
    numbers = stack.fetch(uniforms(seed, device))
    recorder.spec.observe_generator(recorder, uniforms, numbers, uniforms_afresh, name, target)
    seed(0)
    stack.wait(None, function(many, device))
    recorder.record("normals", draw, seconds=recorder.seconds(lambda: function(many, device), 3))
