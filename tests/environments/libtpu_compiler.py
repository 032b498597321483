"""Compiles a StableHLO module for a TPU v6e by the libtpu of the environment that runs this, through the C interface
that every framework uses (PJRT).

Standard library only: the environments of PyTorch/XLA and TensorFlow have no JAX. The places of functions and fields
are those of `pjrt_c_api.h`, whose tables only grow at their ends.
"""

from __future__ import annotations

import ctypes
import importlib.util
from ctypes import c_char_p, c_int64, c_size_t, c_void_p
from pathlib import Path
from typing import Any

WORD = ctypes.sizeof(c_void_p)
BEFORE_FUNCTIONS = 5  # words of a table before its functions: its size, extensions, and three of its version
MESSAGE, INITIALIZE, CODE_SIZE, TOPOLOGY, COMPILE = 1, 3, 45, 82, 89  # places of functions in the table
INTEGERS = 2  # the kind of an option that is a list of integers
# `CompileOptionsProto`: executable_build_options (3) of one replica (4) and one partition (5).
OPTIONS = b"\x1a\x04\x20\x01\x28\x01"
SLICE, CHIPS = b"v6e:1x1", (c_int64 * 3)(1, 1, 1)


class Option(ctypes.Structure):
    """`PJRT_NamedValue`, with a list of integers as its value."""

    _fields_ = [
        ("struct_size", c_size_t),
        ("extension", c_void_p),
        ("name", c_char_p),
        ("name_size", c_size_t),
        ("kind", ctypes.c_int),
        ("value", c_void_p),
        ("value_size", c_size_t),
    ]


class Program(ctypes.Structure):
    """`PJRT_Program`."""

    _fields_ = [
        ("struct_size", c_size_t),
        ("extension", c_void_p),
        ("code", c_char_p),
        ("code_size", c_size_t),
        ("format", c_char_p),
        ("format_size", c_size_t),
    ]


def call(table: int, place: int, *words: Any) -> list[int]:
    """Calls the function at a place of the table with arguments of a word each. Returns the arguments afterwards, since
    results are written into the last. Raises RuntimeError with libtpu's message."""
    address = c_size_t.from_address(table + WORD * (BEFORE_FUNCTIONS + place)).value
    function = ctypes.CFUNCTYPE(c_void_p, c_void_p)(address)
    arguments = (c_void_p * (2 + len(words)))(WORD * (2 + len(words)), None, *words)
    if (error := function(ctypes.addressof(arguments))) is not None:
        *_, text, size = call(table, MESSAGE, error, None, None)
        raise RuntimeError(ctypes.string_at(text, size).decode())
    return [word or 0 for word in arguments]


def compile(code: bytes) -> int:
    """Loads libtpu, describes a slice of one chip and compiles a StableHLO module. Returns the bytes of the code that
    libtpu generated."""
    found = importlib.util.find_spec("libtpu")
    assert found is not None and found.origin is not None, "libtpu isn't installed"
    library = ctypes.CDLL(str(Path(found.origin).with_name("libtpu.so")))
    library.GetPjrtApi.restype = c_void_p
    table = library.GetPjrtApi()
    call(table, INITIALIZE)
    name, slice_ = b"chips_per_host_bounds", ctypes.create_string_buffer(SLICE)
    option = Option(ctypes.sizeof(Option), None, name, len(name), INTEGERS, ctypes.addressof(CHIPS), len(CHIPS))
    *_, topology = call(table, TOPOLOGY, ctypes.addressof(slice_), len(SLICE), ctypes.addressof(option), 1, None)
    program = Program(ctypes.sizeof(Program), None, code, len(code), b"mlir", 4)
    options = ctypes.create_string_buffer(OPTIONS)
    *_, executable = call(
        table, COMPILE, topology, ctypes.addressof(program), ctypes.addressof(options), len(OPTIONS), None, None
    )
    return call(table, CODE_SIZE, executable, None)[-1]
