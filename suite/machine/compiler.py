"""Finds the C++ compiler that Inductor will use, and tries it on a small program like those that Inductor builds."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sysconfig
import tempfile
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

# Inductor compiles kernels with OpenMP and loads them as modules of Python: both must build.
PROBE = "#include <Python.h>\n#include <omp.h>\nint main() { return omp_get_max_threads() < 1; }\n"


def find() -> str | None:
    """Returns the compiler's path; None if there is none that can be used. A compiler that could be used is remembered
    in the user's cache until its file changes, because to try it takes a quarter of a second; `doctor` always does."""
    named = os.environ.get("CXX")
    path = shutil.which(named or "g++")
    if path is None:
        return None
    home = Path(os.environ.get("HOME", tempfile.gettempdir()))
    file, cache = Path(path).stat(), Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache")
    tried = f"{path} {file.st_size} {file.st_mtime_ns} {sysconfig.get_path('include')} {PROBE}"
    mark = cache / "stack-wars" / f"compiler-{hashlib.sha256(tried.encode()).hexdigest()}"
    with suppress(OSError):  # a cache that can't be used
        if not mark.exists() and probe(named)[0]:
            mark.parent.mkdir(parents=True, exist_ok=True)
            mark.touch()
        return path if mark.exists() else None
    return probe(named)[0]


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
