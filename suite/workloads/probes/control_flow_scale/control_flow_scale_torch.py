"""PyTorch: torch.compile and lazy tensors unroll Python's loops; each compiled stack has a scan of its own."""

import torch


def unrolled(x, ws):
    for w in ws:
        x = torch.tanh(x @ w)
    return x


def scanned(x, ws):
    from torch._higher_order_ops import scan  # as in its documentation

    def layer(x, w):
        x = torch.tanh(x @ w)
        return x, x.clone()

    return scan(layer, x, ws)[0]


def scanned_by_xla(x, ws):
    from torch_xla.experimental.scan import scan

    def layer(x, w):
        x = torch.tanh(x @ w)
        return x, x.clone()

    return scan(layer, x, ws)[0]


def scanned_by_jax(x, ws):
    import jax
    from torchax.interop import call_jax

    return call_jax(jax.lax.scan, lambda x, w: (torch.tanh(x @ w), None), x, ws)[0]


def dynamo_operations(code, function, *arguments):
    return torch._dynamo.explain(code)(*arguments).op_count


def lazy_operations(code, function, *arguments):
    from torch_xla.debug import metrics

    def recorded():
        return sum(metrics.counter_value(name) for name in metrics.counter_names() if name.startswith("xla::"))

    before = recorded()
    code(*arguments)
    return recorded() - before


def jax_operations(code, function, *arguments):
    import jax
    from torchax.interop import jax_view

    return len(jax.make_jaxpr(jax_view(code))(*jax_view(arguments)).eqns)


def run(stack, recorder):
    observe, name = recorder.spec.observe, stack.case.stack
    named = {
        "torch_eager": {},
        "torch_inductor": {"operations": dynamo_operations, "forget": torch.compiler.reset},
        "torch_xla": {"operations": lazy_operations},
        "torchax_jit": {"operations": jax_operations},
    }[name]
    observe(stack, recorder, "unrolled", unrolled, **named)
    if name == "torch_eager":
        recorder.lacks("scanned", "eager has no loop but Python's: torch's scan is for torch.compile and torch.export")
    elif name == "torch_inductor":
        with torch._dynamo.config.patch(capture_scalar_outputs=True):
            observe(
                stack,
                recorder,
                "scanned",
                scanned,
                **named,
                words="with torch._dynamo.config.capture_scalar_outputs; without it Inductor raises",
            )
    else:
        observe(stack, recorder, "scanned", scanned_by_xla if name == "torch_xla" else scanned_by_jax, **named)
    for aspect in ("batch", "sequence"):
        observe(stack, recorder, aspect, unrolled, **named)
