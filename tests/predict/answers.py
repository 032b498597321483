"""Answers of compilations, as their processes would leave them."""

from __future__ import annotations

from typing import Any

from suite.predict.answer import CompileAnswer, CompiledProgram, Prediction


def compiled(**sizes: int) -> CompiledProgram:
    """A compiled program of these sizes in bytes: argument, output, aliased, temporary, peak."""
    zero = dict.fromkeys(("argument", "output", "aliased", "temporary", "code", "peak"), 0)
    return CompiledProgram(
        **{f"{name}_bytes": size for name, size in (zero | sizes).items()},
        flops=1e9,
        bytes_accessed=1e6,
        operations=30,
        fusions=20,
        collectives={"all-reduce": (3, 2**20)},
    )


def answer(program: CompiledProgram, compiler: str = "libtpu 0.0.50.1") -> CompileAnswer:
    """The answer of a compilation that took two seconds."""
    return CompileAnswer(compiler=compiler, seconds=2.0, compiled=program)


def refused(message: str) -> CompileAnswer:
    """The answer of a compiler that refuses."""
    kind = "jax.errors.JaxRuntimeError"
    return CompileAnswer(
        compiler="libtpu 0.0.50.1",
        seconds=0.5,
        exception={"type": kind, "message": message, "traceback": f"{kind}: {message}\n"},
    )


def prediction(program: CompiledProgram, **changes: Any) -> Prediction:
    """The prediction of a program for a device of 32 GB."""
    fields: dict[str, Any] = {
        "compiled": program,
        "compiler": "libtpu 0.0.50.1",
        "device": "TPU v6e, one chip",
        "device_bytes": 32_000_000_000,
        "needed_bytes": program.needed_bytes("tpu"),
        "verdict_by": "the device's compiler: it refuses what doesn't fit",
        "program": "third-0002-step",
        "bound_seconds": 1.5e-3,
        "bound_by": "memory",
    }
    return Prediction(**fields | changes)
