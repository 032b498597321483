"""PyTorch: Python waits for the value, or torch.compile breaks its graph; `torch.cond` puts both branches into it."""

import torch


def run(stack, recorder):
    spec, doubled, lessened = recorder.spec, recorder.spec.doubled, recorder.spec.lessened

    def cond(x):
        return torch.cond(x.sum() > 0, doubled, lessened, (x,))

    def cond_by_jax(x):
        import jax
        from torchax.interop import call_jax

        return call_jax(jax.lax.cond, x.sum() > 0, doubled, lessened, x)

    spec.observe(recorder, "static", spec.static_if)  # first: the others compile the same branches
    spec.observe(recorder, "python_if", spec.python_if)
    # torchax has no lowering of torch.cond; its own way is to call JAX's lax.cond.
    spec.observe(recorder, "remedy", cond_by_jax if stack.case.stack == "torchax_jit" else cond)
