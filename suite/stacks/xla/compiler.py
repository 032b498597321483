"""What every stack that compiles with XLA shares: its knobs, and how to read which kernels its programs run."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

from suite.case import Case
from suite.ir import files
from suite.stacks.base import Adapter
from suite.stacks.kernels import Told, Used
from suite.stacks.knobs import Knob

KNOBS = (
    Knob(
        "xla_cpu_prefer_vector_width=512",
        "XLA asks for vectors of 256 bits even where a CPU has 512",
        ("cpu",),
        processor="avx512f",
    ),
)

DUMP = "xla"  # in the folder of caches
OPTIMIZED = "*after_optimizations.txt"
PRODUCT = re.compile(r" (?:dot|convolution)\(")
COMPUTATION = re.compile(r"^(?:ENTRY )?%?([\w.-]+) .*\{$")
FUSION = re.compile(r" fusion\(.*calls=%?([\w.-]+)")
CUSTOM = re.compile(r'custom_call_target="([^"]+)"|"kind":"(__\w+)"')
WIDTH = re.compile(r'"prefer-vector-width"="(\d+)"')
# Other libraries, by what XLA's own names of fusions and calls begin with.
LIBRARIES = {"__ynn": "YNNPACK", "__xnn": "XNNPACK", "__onednn": "oneDNN"}


def compiler_options(tuned: Iterable[str]) -> dict[str, str] | None:
    """The chosen knobs as `jax.jit` takes them; None for no options at all."""
    return dict(name.split("=", 1) for name in sorted(tuned)) or None


def flags_environ(case: Case) -> dict[str, str]:
    """The variable by which other frameworks' XLA learns of them."""
    flags = [f"--{knob.name}" for knob in KNOBS if case.track == "tuned" and case.target in knob.targets]
    return {"XLA_FLAGS": " ".join(flags)} if flags else {}


class Dumping(Adapter):
    """An adapter whose programs XLA compiles and leaves in the folder of caches, in a process that isn't timed."""

    @classmethod
    def explain_environ(cls, case: Case, cache_directory: str) -> dict[str, str]:
        """See `base.Adapter.explain_environ`: programs as text."""
        return dumping(super().explain_environ(case, cache_directory), cache_directory, "text")

    @classmethod
    def profile_environ(cls, case: Case, cache_directory: str) -> dict[str, str]:
        """See `base.Adapter.profile_environ`: by its programs an operation's name is known."""
        return dumping(super().profile_environ(case, cache_directory), cache_directory, "text")

    @classmethod
    def ir_environ(cls, case: Case, cache_directory: str) -> dict[str, str]:
        """See `base.Adapter.ir_environ`: programs as protocol buffers, too, from which nothing is left out."""
        return dumping(super().ir_environ(case, cache_directory), cache_directory, "proto --xla_dump_hlo_as_text")

    def programs(self, caches: Path) -> Iterable[tuple[str, Path]]:
        """See `base.Adapter.programs`."""
        return files.dumped(caches / DUMP)


def dumping(variables: Mapping[str, str], cache_directory: str, form: str) -> dict[str, str]:
    """These variables, and that XLA is to leave its programs, beside the flags that it has."""
    dump = f'--xla_dump_to="{cache_directory}/{DUMP}" --xla_dump_hlo_as_{form}'  # a folder may have a space in its name
    return {**variables, "XLA_FLAGS": f"{variables.get('XLA_FLAGS', '')} {dump}".strip()}


def kernels_used(told: Told, one_program: bool = True) -> list[Used]:
    """Whose kernels the programs call, by the optimized programs themselves: libraries, XLA's runtime for the products
    that no library takes, and generated code. Who has products comes first.

    `one_program`: the step is one, the largest; else each operation has its own.
    """
    files = sorted((told.folder / DUMP).glob(OPTIMIZED), key=lambda path: path.stat().st_size)
    found: Counter[str] = Counter()
    products: Counter[str] = Counter()
    for path in files[-1:] if one_program else files:
        for library, product in places(path.read_text(encoding="utf-8", errors="replace")):
            found[library] += 1
            products[library] += product
    order = sorted(found, key=lambda library: (-products[library], -found[library]))
    return [Used(name, generated_width(told.folder) if name == "XLA" else None, found[name]) for name in order]


def places(program: str) -> list[tuple[str, bool]]:
    """Of an optimized program each place that runs a kernel: (whose, whether it is a product)."""
    bodies: dict[str, list[str]] = {}
    name = ""
    for line in program.splitlines():
        if begins := COMPUTATION.match(line):
            name = begins[1]
        bodies.setdefault(name, []).append(line)
    fused = {called[1] for lines in bodies.values() for line in lines if (called := FUSION.search(line))}
    found = []
    for line in (line for name, lines in bodies.items() if name not in fused for line in lines):
        called, custom = FUSION.search(line), CUSTOM.search(line)
        product = any(map(PRODUCT.search, bodies.get(called[1], ()))) if called else bool(PRODUCT.search(line))
        if called or custom or product:
            word = (custom[1] or custom[2]) if custom else ""
            library = next((LIBRARIES[start] for start in LIBRARIES if word.startswith(start)), word)
            found.append((library or ("XLA" if called else "XLA runtime"), product))
    return found


def generated_width(folder: Path) -> str | None:
    """The vectors of generated code, as XLA has asked its compiler for them: `256-bit vectors`."""
    texts = (path.read_text(encoding="utf-8", errors="replace") for path in (folder / DUMP).glob("*ir-with-opt.ll"))
    widths = {found for text in texts for found in WIDTH.findall(text)}
    return f"{'/'.join(sorted(widths))}-bit vectors" if widths else None
