"""JAX: arrays never change. An array can be donated to a function, and a Ref can be written to."""

import jax
import numpy as np


def write_views(x):
    x[1:3].at[0].set(1.0)  # each returns a new array
    x.reshape(-1).at[0].set(2.0)
    return x


def change(x_ref):
    x_ref[...] += 1.0


def donate():
    return jax.jit(lambda x: x + 1.0, donate_argnums=0)


def add_one():
    return lambda x: x + 1.0  # without jax.jit nothing can be donated


def add_one_donated():
    return jax.jit(lambda x: x + 1.0, donate_argnums=0)


def set_first():
    return lambda x: x.at[0].set(1.0)


def set_first_donated():
    return jax.jit(lambda x: x.at[0].set(1.0), donate_argnums=0)


def run(stack, recorder):
    spec, zeros = recorder.spec, np.zeros((4, 4), np.float32)
    compiled = stack.case.stack == "jax_jit"

    spec.observe_assign(recorder)
    written = stack.fetch(stack.jit(write_views)(stack.put(zeros)))
    recorder.record("view", write_views, slice=float(written[1, 0] == 1), reshaped=float(written[0, 0] == 2))
    x_ref = jax.new_ref(stack.put(zeros))
    stack.jit(change)(x_ref)
    recorder.record("compiled", change, visible=float(stack.fetch(x_ref[...])[0, 0] == 1))
    if compiled:
        given = stack.put(zeros)
        stack.wait(None, donate()(given))
        deleted, reuse = float(given.is_deleted()), recorder.watch(lambda: given + 1.0)
        recorder.record("donate", donate, words=reuse.words, deleted=deleted, reuse_raises=float(bool(reuse.error)))
    else:
        recorder.lacks("donate", "arguments can be donated only to functions that jax.jit has compiled")
    for aspect, code in {
        "own_way": add_one_donated if compiled else add_one,
        "one_value": set_first_donated if compiled else set_first,
    }.items():
        spec.observe_update(recorder, aspect, code, code(), lambda x: x.unsafe_buffer_pointer())
