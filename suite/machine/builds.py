"""Reads facts that may differ between the processes of two environments or engines: how Python was built, the compiler,
the C library, where compile caches lie.

It needs only the standard library. An unknown fact is None.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sysconfig
from functools import lru_cache
from pathlib import Path
from typing import Any

from suite.machine import cgroups, facts

IN_MEMORY = ("tmpfs", "ramfs")  # file systems in memory


def process(cache_directory: str) -> dict[str, Any]:
    """Returns {name: fact} of this process; a report compares them between environments and engines."""
    return {
        "interpreter": interpreter(),
        "compiler": compiler_version(os.environ.get("CXX")),
        "c_library": c_library(),
        "cache_medium": medium(cache_directory),
        "cpu_quota": cgroups.cpu_quota() or "none",
    }


def interpreter() -> str:
    """Returns how this Python was built: `CPython 3.11.9, PGO, LTO, GCC 13.2.0`. The speed of Python code, and so of
    eager stacks, depends on it."""
    options, flags = (str(sysconfig.get_config_var(name) or "") for name in ("CONFIG_ARGS", "PY_CFLAGS"))
    words = [
        f"{platform.python_implementation()} {platform.python_version()}",
        "PGO" if "--enable-optimizations" in options or "-fprofile-use" in flags else "no PGO",
        "LTO" if "--with-lto" in options or "-flto" in flags else "no LTO",
        *(["debug"] if sysconfig.get_config_var("Py_DEBUG") else []),
        platform.python_compiler(),
    ]
    return ", ".join(words)


@lru_cache(maxsize=4)
def compiler_version(named: str | None) -> str | None:
    """Returns the first line of `--version` of the C++ compiler `named` (CXX), by default g++; None without one."""
    try:
        done = subprocess.run([named or "g++", "--version"], capture_output=True, text=True, check=False)
    except OSError:
        return None
    return done.stdout.splitlines()[0].strip() if done.returncode == 0 and done.stdout else None


def c_library() -> str | None:
    """Returns the C library, `glibc 2.36`: every framework uses its malloc, memcpy and threads."""
    try:
        return os.confstr("CS_GNU_LIBC_VERSION")
    except (ValueError, OSError):  # another C library
        return None


def medium(directory: str) -> str | None:
    """Returns where a folder's files are stored: `memory (tmpfs)` or `disk (ext4)`, for example."""
    kind = file_system(os.path.realpath(directory), facts.read("/proc/self/mountinfo") or "")
    return kind and f"{'memory' if kind in IN_MEMORY else 'disk'} ({kind})"


def file_system(path: str, mountinfo_text: str) -> str | None:
    """Returns the type of the file system that holds a path: that of the deepest mount above the path, and of several
    at one place the last."""
    mounts = enumerate(cgroups.mounts(mountinfo_text))
    above = [(len(point), n, kind) for n, (_, point, kind, _) in mounts if Path(path).is_relative_to(point)]
    return max(above)[-1] if above else None
