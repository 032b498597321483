"""Numba: a question's function, compiled by LLVM in its first call. Its arrays are NumPy's."""

from __future__ import annotations

from suite.stacks import base
from suite.stacks.numpy import numpy_adapter as numpy


class Adapter(numpy.Adapter):
    """State: as `numpy` has it."""

    packages = ("numba", "llvmlite", "numpy")
    family = "numba"
    # What NumPy's own protocol tells isn't there: a compiled function doesn't call NumPy.
    listen, kernels_used = base.Adapter.listen, base.Adapter.kernels_used
    profile, watched = base.Adapter.profile, base.Adapter.watched

    @classmethod
    def environ(cls, case, cache_directory):
        # The folder is for functions that the file compiles with cache=True, beside which Numba would keep them.
        return super().environ(case, cache_directory) | {
            "NUMBA_NUM_THREADS": str(case.threads),
            "NUMBA_CACHE_DIR": f"{cache_directory}/numba",
        }

    def __init__(self, case, workload):
        super().__init__(case, workload)
        import numba
        from numba.core import event

        self.numba = numba
        self.heard = event.RecordingListener()
        event.register("numba:compile", self.heard)

    def device(self):
        return {"device": "cpu", "numba_threads": self.numba.get_num_threads()}

    def jit(self, function, static=()):
        return self.numba.njit(function)

    def matmul(self, a, b):
        return self.jit(lambda a, b: a @ b)(a, b)

    def counters(self):
        """Returns Numba's counts. What a function calls is compiled with it, and isn't counted apart."""
        depth, seconds, compiles = 0, 0.0, 0
        for at, event in self.heard.buffer:
            depth += 1 if event.is_start else -1
            if depth == event.is_start:  # the outermost one begins, or ends
                seconds += -at if event.is_start else at
                compiles += event.is_end
        return super().counters() | {"compiles": compiles, "compile_seconds": seconds}
