"""Makes MKL take another path than it would: MKL asks a function of its own whether the processor is Intel's, and takes
its slowest path if it isn't.

PyTorch's CPU library exports that function, `mkl_serv_intel_cpu_true`, and calls it through the dynamic linker: of
several libraries with a function of this name, the one that was loaded first answers. So a library with such a
function, loaded before PyTorch, decides which path MKL takes.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Collection
from pathlib import Path

from suite.stacks.base import Unsupported
from suite.stacks.knobs import Knob

KNOB = Knob(
    "mkl_serv_intel_cpu_true",
    "MKL takes its slowest path on processors that aren't Intel's",
    ("cpu",),
    products=True,
    processor="AuthenticAMD",
)

loaded: list[ctypes.CDLL] = []  # the library, once it is interposed in this process


def named(tuned: Collection[str]) -> str | None:
    """Returns the name of MKL's path if the function is interposed, since MKL's log doesn't give it then: the log
    describes the processor as it is. None if the function isn't interposed."""
    return "the path for Intel's processors" if KNOB.name in tuned else None


def interpose(answer: int = 1) -> None:
    """Makes MKL get `answer`: 1 for an Intel processor, 0 for any other. PyTorch must not be imported yet, unless this
    process has called this function before: then nothing is left to do.

    Raises Unsupported where there is no C compiler.
    """
    if loaded:
        return
    if "torch" in sys.modules:
        raise Unsupported(
            f"{KNOB.name} must be set before PyTorch is imported, and the question file imports it at its top"
        )
    compiler = shutil.which(os.environ.get("CC", "cc")) or shutil.which("gcc")
    if compiler is None:
        raise Unsupported(f"{KNOB.name} is a one-line function for a C compiler to build, and there is no C compiler")
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder) / "mkl_path.c", Path(folder) / "mkl_path.so"
        source.write_text(f"int {KNOB.name}(void) {{ return {answer}; }}\n", encoding="ascii")
        done = subprocess.run(
            [compiler, "-shared", "-fPIC", "-o", str(library), str(source)], capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            raise Unsupported(f"{KNOB.name}: {compiler} makes no shared library: {done.stderr.strip()[-200:]}")
        loaded.append(ctypes.CDLL(str(library), mode=ctypes.RTLD_GLOBAL))
