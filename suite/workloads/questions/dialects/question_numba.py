"""A question's function as Numba compiles it in its first call: by @njit, unless the file itself says how."""

import warnings
from types import FunctionType, SimpleNamespace

import numba
from numba.core.errors import NumbaError, NumbaPerformanceWarning, UnsupportedBytecodeError

# Numba compiles such a function as without parallel=True: it would be measured twice under two names.
warnings.filterwarnings("error", r"(?s).*parallel=True' was specified", NumbaPerformanceWarning)
STEPS = ("Failed in ", "- Resolution failure")  # lines that say where in the compiler an error was raised


def code(function, of_inputs, parallel):
    """`of_inputs` makes the function's arguments from named arrays."""
    compiled = numba.njit(function, parallel=parallel) if isinstance(function, FunctionType) else function

    def forward(dims, parameters, /, **inputs):
        try:
            return compiled(**of_inputs(parameters | inputs))
        except (NumbaError, UnsupportedBytecodeError) as refused:
            refused.args = (words(str(refused), getattr(compiled, "py_func", forward).__code__),)
            raise

    return SimpleNamespace(forward=forward)


def words(message, code):
    """Returns an error's message, with what is wrong in its first line, and a line of the user's function in it."""
    said = "\n".join(line for line in message.splitlines() if line.strip() and not line.startswith(STEPS))
    return said if 'File "' in said else f'{said}\nFile "{code.co_filename}", line {code.co_firstlineno}'
