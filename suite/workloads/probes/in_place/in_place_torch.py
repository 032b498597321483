"""PyTorch: tensors change, views share their memory, and a method with a trailing underscore works in place."""

import numpy as np


def write_views(x):
    part, flat = x[1:3], x.view(-1)
    part[0] = 1.0
    flat[0] = 2.0
    return x


def change(x):
    x.add_(1.0)


def donate():
    from torchax import interop

    return interop.jax_jit(lambda x: x + 1.0, {"donate_argnums": 0})


def add_one(x):
    return x.add_(1.0)


def set_first(x):
    x[0].fill_(1.0)
    return x


def add_one_donated():
    from torchax import interop

    return interop.jax_jit(add_one, {"donate_argnums": 0})


def set_first_donated():
    from torchax import interop

    return interop.jax_jit(set_first, {"donate_argnums": 0})


def address_of(stack):
    """Returns the function that reads the address of a tensor's values; in PyTorch/XLA it is a private one."""
    if stack == "torch_xla":
        import torch_xla

        return torch_xla._XLAC._unsafe_buffer_pointer
    if stack == "torchax_jit":
        return lambda x: x.jax().unsafe_buffer_pointer()
    return lambda x: x.data_ptr()


def run(stack, recorder):
    spec, name, zeros = recorder.spec, stack.case.stack, np.zeros((4, 4), np.float32)

    spec.observe_assign(recorder)
    x = stack.put(zeros)
    seen = recorder.watch(lambda: stack.jit(write_views)(x))
    written = stack.fetch(x if seen.error else seen.value)
    sliced, reshaped = float(written[1, 0] == 1), float(written[0, 0] == 2)
    recorder.record("view", write_views, seen, seconds=None, slice=sliced, reshaped=reshaped)
    x = stack.put(zeros)
    seen = recorder.watch(lambda: stack.jit(change)(x))
    visible = float(stack.fetch(x)[0, 0] == 1)
    recorder.record("compiled", change, seen, seconds=None, visible=visible)
    if name == "torchax_jit":
        given = stack.put(zeros)
        stack.wait(None, donate()(given))
        deleted, reuse = float(given.jax().is_deleted()), recorder.watch(lambda: given + 1.0)
        recorder.record("donate", donate, words=reuse.words, deleted=deleted, reuse_raises=float(bool(reuse.error)))
    elif name == "torch_xla":
        recorder.lacks("donate", "PyTorch/XLA itself donates the memory of what is changed in place")
    else:
        recorder.lacks("donate", "PyTorch has no donated arguments: what may be overwritten is changed in place")
    donated = {add_one: add_one_donated, set_first: set_first_donated} if name == "torchax_jit" else {}
    for aspect, code in (("own_way", add_one), ("one_value", set_first)):
        shown = donated.get(code, code)
        update = shown() if donated else stack.jit(code)
        spec.observe_update(recorder, aspect, shown, update, address_of(name))
