"""NumPy's calls are counted, and counting changes no answer."""

from __future__ import annotations

import numpy as np

from suite.stacks.numpy import numpy_calls


def test_products_are_openblas_s_and_the_rest_numpy_s_own_loops() -> None:
    numpy_calls.calls.clear()
    plain = np.arange(9, dtype=np.float32).reshape(3, 3)
    tree = numpy_calls.recording(({"parameters": {"w": plain}, "count": 0}, {"x": plain}))
    state, batch = tree
    y = batch["x"] @ state["parameters"]["w"]
    y += 1.0
    np.tanh(y, out=y)
    total = np.mean(np.square(y))
    expected = np.tanh(plain @ plain + 1.0)
    assert np.array_equal(np.asarray(y), expected) and total == np.mean(np.square(expected))
    assert state["count"] == 0
    used = numpy_calls.kernels_used()
    assert sum(each.calls or 0 for each in used if each.library == "NumPy") >= 4
    [blas] = [each for each in used if each.library == "OpenBLAS"]
    assert blas.calls == 1 and blas.isa == numpy_calls.blas_core() and blas.isa
    assert all(each.seconds is not None and each.seconds > 0 for each in used)


def test_without_a_product_there_is_no_blas() -> None:
    numpy_calls.calls.clear()
    np.expm1(numpy_calls.recording(np.ones(4, np.float32)))
    [used] = numpy_calls.kernels_used()
    assert (used.library, used.calls, used.isa) == ("NumPy", 1, numpy_calls.loop_target("expm1"))


def test_a_function_without_a_float32_loop_of_its_own_is_unknown() -> None:
    assert numpy_calls.loop_target("no_such_function") is None
