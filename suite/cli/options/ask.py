"""The options of `./stackwars ask`: those of `run`, and a question typed in place of a file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from suite.cli.options.measuring import RunOptions
from suite.errors import UserError

# The names under which everybody has the frameworks.
IMPORTS = {
    "numpy": "import numpy as np",
    "jax": "import jax\nimport jax.numpy as jnp",
    "torch": "import torch\nimport torch.nn.functional as F",
    "tf": "import tensorflow as tf",
}
TYPES = {"f64": "float64", "f32": "float32", "f16": "float16", "bf16": "bfloat16", "c64": "complex64",
         "c128": "complex128", **{f"i{n}": f"int{n}" for n in (8, 16, 32, 64)},
         **{f"u{n}": f"uint{n}" for n in (8, 16, 32)}, "bool": "bool"}  # fmt: skip
INPUT = re.compile(r"([A-Za-z_]\w*)=(\w+)\[((?:\d+(?:,\d+)*)?)\]")


@dataclass(frozen=True, kw_only=True)
class AskOptions(RunOptions):
    """The options of `./stackwars ask`."""

    TASK = "ask"
    TYPED: ClassVar[tuple[str, ...]] = ("numpy", "jax", "torch", "tf", "input")

    check: bool = False
    """run every stack once, briefly: says in under a minute what is wrong before anything is measured"""
    numpy: tuple[str, ...] = ()
    """an expression of NumPy, `np`, in place of a file; repeated, further implementations"""
    jax: tuple[str, ...] = ()
    """an expression of JAX, `jax` and `jnp`"""
    torch: tuple[str, ...] = ()
    """an expression of PyTorch, `torch` and `F`"""
    tf: tuple[str, ...] = ()
    """an expression of TensorFlow, `tf`"""
    input: tuple[str, ...] = ()
    """an input of these expressions, like x=f32[4096,1024]"""
    gradient: bool = False
    """the gradient, in place of the result alone"""

    def with_words(self, words: Sequence[str]) -> Self:
        """Returns the options with the question's file, which may be typed without an option."""
        return replace(self, file=(*self.file, *words))

    def question(self) -> str:
        """Returns the text of the question file that the typed expressions make. Raises UserError for what isn't
        understood."""
        typed = {dialect: getattr(self, dialect) for dialect in IMPORTS if getattr(self, dialect)}
        if not typed or not self.input:
            raise UserError(
                "Ask a question file, `./stackwars ask layernorm.py`, or type one: "
                "--jax='jnp.cumsum(x, 0)' --torch='torch.cumsum(x, 0)' --input='x=f32[4096,1024]'."
            )
        inputs = dict(map(tensor, self.input))
        arguments = ", ".join(inputs)
        kinds = sorted({call.partition("(")[0] for call in inputs.values()})
        expressions = [(d, n, text) for d, texts in typed.items() for n, text in enumerate(texts, 1)]
        for _, _, text in expressions:
            try:
                compile(text, "<the expression>", "eval")
            except SyntaxError as broken:
                raise UserError(f"`{text}` is no expression: {broken.msg}.") from None
        entries = ", ".join(f'"{name}": {call}' for name, call in inputs.items())
        title = " or ".join(text for _, _, text in expressions).replace("\\", "\\\\").replace('"', '\\"')
        return "\n".join(
            [
                f'"""{title}?"""',
                *(IMPORTS[dialect] for dialect in typed),
                "",
                f"from suite.ask import {', '.join(kinds)}",
                "",
                "",
                f"def inputs():\n    return {{{entries}}}",
                *(f"\n\ndef {d}_{n}({arguments}):\n    return {text}" for d, n, text in expressions),
                "",
            ]
        )

    def without_words(self, file: str) -> AskOptions:
        """Returns the options with a question file in place of what was typed."""
        passes = (*self.pass_, "gradient") if self.gradient else self.pass_
        return replace(self, file=(file,), pass_=passes, gradient=False, numpy=(), jax=(), torch=(), tf=(), input=())


def tensor(text: str) -> tuple[str, str]:
    """Returns (name, call of `suite.ask`) of an input like `x=f32[4096,1024]`. Raises UserError for another text."""
    match = INPUT.fullmatch(text.replace(" ", ""))
    kind = TYPES.get(match[2]) if match else None
    if match is None or kind is None:
        raise UserError(
            f"--input={text} isn't understood: it is a name, a type and a shape, like x=f32[4096,1024]; types are "
            f"{', '.join(TYPES)}."
        )
    shape = f"{match[3]}, " if match[3] else ""
    if kind.startswith(("int", "uint", "bool")):
        return match[1], f'integers({shape}high={2 if kind == "bool" else 100}, dtype="{kind}")'
    return match[1], f"normal({match[3]})" if kind == "float32" else f'normal({shape}dtype="{kind}")'
