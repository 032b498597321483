"""A question's function as Numba compiles it in its first call: by @njit, unless the file itself says how."""

import warnings
from types import FunctionType, SimpleNamespace

import numba
from numba.core.errors import NumbaError, NumbaPerformanceWarning

# Numba compiles such a function as without parallel=True: it would be measured twice under two names.
warnings.filterwarnings("error", r"(?s).*parallel=True' was specified", NumbaPerformanceWarning)


def code(function, of_inputs, parallel):
    """`of_inputs` makes the function's arguments from named arrays."""
    compiled = numba.njit(function, parallel=parallel) if isinstance(function, FunctionType) else function

    def forward(dims, parameters, /, **inputs):
        try:
            return compiled(**of_inputs(parameters | inputs))
        except NumbaError as refused:
            refused.patch_message(words(str(refused)))
            raise

    return SimpleNamespace(forward=forward)


def words(message):
    """Returns an error's message without the lines that say in which step of the compiler it was raised."""
    return "\n".join(line for line in message.splitlines() if line.strip() and not line.startswith("Failed in "))
