"""`./stackwars ask`: a question file, or one that the typed expressions make."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from suite.case import BEFORE
from suite.cli.measure.run import run
from suite.cli.options import OFTEN, RunOptions, command
from suite.environments import revisions, say
from suite.errors import COMMAND, UserError
from suite.guard.out import write_own
from suite.plan.planning import Selection

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
    """The options of `ask`: those of `run`, and a question typed in place of a file."""

    TASK = "ask"

    preset: Annotated[str, OFTEN] = "ask"
    """the preset: a name (./stackwars list) or a path to a TOML file"""
    check: bool = False
    """run every stack once and briefly, to say in under a minute what is wrong before anything is measured"""
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
    before: str | None = None
    """compare with what the file imports at another commit, branch or tag, in a folder, or in a release: einops==0.8"""
    over: str | None = None
    """compare the tags of the file's repository that match, like 'v1.*', with the oldest of them"""
    install: str | None = None
    """with --before or --over: installs each revision, like 'pip install -e .' (default: its tree is on the path)"""

    def selection(self, cores: Sequence[int]) -> Selection:
        chosen = super().selection(cores)
        stacks = chosen.stacks or self.chosen_preset().stacks
        return replace(chosen, stacks=revisions.variants_of(stacks)) if revisions.KNOWN else chosen

    def given(self, **replaced: Any) -> tuple[str, ...]:
        known = revisions.KNOWN.get(BEFORE)  # a branch moves, and a folder is a place of this machine
        return super().given(**replaced, **({"before": known.name} if known else {}))


def ask(*file: str, options: AskOptions = AskOptions()) -> int:
    """Measures a question. Returns the exit code.

    :param file: the question file: `ask layernorm.py`
    """
    options = replace(options, file=(*options.file, *file))
    typed = [name for name in (*IMPORTS, "input") if getattr(options, name)]
    if len(options.file) > 1:
        raise UserError(f"`{COMMAND} ask` takes one file, and `{command(['run', *options.file])}` several.")
    if options.file and typed:
        raise UserError(f"--{typed[0]} types a question, and {options.file[0]} is one: choose.")
    if not options.file and options.resume is None:
        text = question(options)
        path = Path(f"question_{hashlib.sha256(text.encode()).hexdigest()[:6]}.py")
        if path.is_file() and path.read_text(encoding="utf-8") != text:
            raise UserError(f"{path} was written for these expressions, and changed since: `{COMMAND} ask {path}`.")
        write_own(path, text)
        say(f"The question is in {path}: change it, and `{COMMAND} ask {path}` asks it again.")
        options = replace(options, file=(str(path),), numpy=(), jax=(), torch=(), tf=(), input=())
    if options.gradient:
        options = replace(options, pass_=(*options.pass_, "gradient"), gradient=False)
    # A check's times are nobody's answer, so other runs may go on beside it.
    options = replace(options, preset="check", force=True) if options.check else options
    if (options.before, options.over, options.install) == (None, None, None):
        return run(options=options)
    check_revisions(options)
    if options.until is None and options.repeats is None:
        options = replace(options, until="blocks")  # each stack is judged over itself, not over the run's baseline
    with revisions.of_question(
        Path(options.file[0]).resolve(), options.before or "", options.over or "", options.install or ""
    ):
        return run(options=replace(options, engine="local") if options.install else options)


def check_revisions(options: AskOptions) -> None:
    """Raises UserError for options that don't go with --before and --over."""
    if options.install is not None:
        revisions.install_words(options.install)
    if bool(options.before) == bool(options.over) or options.resume is not None:
        raise UserError("--before=REV compares a question file with one revision, --over='v1.*' with tags: choose one.")
    if options.shard or options.scheduler:
        raise UserError("Revisions lie on this machine: leave --shard and --scheduler out.")
    released = options.before and "==" in options.before
    if options.python and (options.install or released):
        raise UserError("--python is an interpreter that has everything: nothing is installed for it.")
    if options.install and options.engine == "docker":
        raise UserError("--install makes environments of this machine, not images: leave --engine=docker out.")


def question(options: AskOptions) -> str:
    """Returns the text of the question file that the typed expressions make. Raises UserError for what isn't
    understood."""
    typed = {dialect: getattr(options, dialect) for dialect in IMPORTS if getattr(options, dialect)}
    if not typed or not options.input:
        raise UserError(
            f"Ask a question file, `{COMMAND} ask layernorm.py`, or type one: "
            "--jax='jnp.cumsum(x, 0)' --torch='torch.cumsum(x, 0)' --input='x=f32[4096,1024]'."
        )
    typed_inputs = [*map(tensor, options.input)]
    inputs = dict(typed_inputs)
    if len(inputs) < len(typed_inputs):
        raise UserError("Two --input have the same name: each is an argument of the expressions.")
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
