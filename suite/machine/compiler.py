"""Finds the C++ compiler that Inductor will use, and tries it on a small program like those that Inductor builds."""

from __future__ import annotations

import os
import shutil
import subprocess
import sysconfig
import tempfile
from functools import lru_cache
from pathlib import Path

# Inductor compiles kernels with OpenMP and loads them as modules of Python: both must build.
PROBE = "#include <Python.h>\n#include <omp.h>\nint main() { return omp_get_max_threads() < 1; }\n"


def find() -> str | None:
    return probe(os.environ.get("CXX"))[0]


@lru_cache(maxsize=4)
def probe(named: str | None) -> tuple[str | None, str]:
    """Returns (path, "") of the compiler `named` (CXX), by default g++, or (None, why it can't be used)."""
    compiler = shutil.which(named or "g++")
    if compiler is None:
        return None, f"{named or 'g++'} wasn't found"
    with tempfile.TemporaryDirectory() as folder:
        source, program = Path(folder) / "probe.cpp", Path(folder) / "probe"
        source.write_text(PROBE, encoding="ascii")
        headers = f"-I{sysconfig.get_path('include')}"
        for command in ([compiler, "-fopenmp", headers, str(source), "-o", str(program)], [str(program)]):
            try:
                done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
            except OSError as broken:
                return None, f"{command[0]} can't be run: {broken}"
            if done.returncode != 0:
                complaint = next((line for line in done.stderr.splitlines() if "error" in line), "")
                return None, f"{compiler} can't build a Python module that uses OpenMP. {complaint}".strip()
    return compiler, ""
