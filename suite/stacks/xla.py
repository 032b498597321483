"""XLA's own knobs, for every stack that compiles with it: as options of one function, or as flags of the process."""

from __future__ import annotations

from collections.abc import Iterable

from suite.case import Case
from suite.stacks.knobs import Knob

KNOBS = (
    Knob("xla_cpu_prefer_vector_width=512", "XLA asks for vectors of 256 bits even where a CPU has 512", ("cpu",),
         processor="avx512f"),
)  # fmt: skip


def compiler_options(tuned: Iterable[str]) -> dict[str, str] | None:
    """The chosen knobs as `jax.jit` takes them; None for no options at all."""
    return dict(name.split("=", 1) for name in sorted(tuned)) or None


def flags_environ(case: Case) -> dict[str, str]:
    """The variable by which other frameworks' XLA learns of them."""
    flags = [f"--{knob.name}" for knob in KNOBS if case.track == "tuned" and case.target in knob.targets]
    return {"XLA_FLAGS": " ".join(flags)} if flags else {}
