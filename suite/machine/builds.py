"""What a process's interpreter, C library and caches are made of. Engines and environments may differ in it.

Standard library only. A fact that can't be found out is None.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sysconfig
from functools import lru_cache
from pathlib import Path
from typing import Any

from suite.machine import facts

MEMORY = ("tmpfs", "ramfs")  # file systems that are no disk


def process(cache_directory: str) -> dict[str, Any]:
    """What a report compares between environments and engines, by name. The same in every process of one of them."""
    return {
        "interpreter": interpreter(),
        "compiler": compiler_version(os.environ.get("CXX")),
        "c_library": c_library(),
        "cache_medium": medium(cache_directory),
        "cpu_quota": facts.cpu_quota() or "none",
    }


def interpreter() -> str:
    """How this Python was built: `CPython 3.11.9, PGO, LTO, GCC 13.2.0`. Its loops, and so an eager stack's, depend
    on it."""
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
    """The first line of what the C++ compiler, `named` (CXX) or g++, says of itself; None where there is none."""
    try:
        done = subprocess.run([named or "g++", "--version"], capture_output=True, text=True, check=False)
    except OSError:
        return None
    return done.stdout.splitlines()[0].strip() if done.returncode == 0 and done.stdout else None


def c_library() -> str | None:
    """`glibc 2.36`: malloc, memcpy and the threads of every framework."""
    try:
        return os.confstr("CS_GNU_LIBC_VERSION")
    except (ValueError, OSError):  # another C library
        return None


def medium(directory: str) -> str | None:
    """What a folder lies on: `memory (tmpfs)` or `disk (ext4)`. Compilers write there and read it again."""
    kind = file_system(os.path.realpath(directory), facts.read("/proc/self/mountinfo") or "")
    return kind and f"{'memory' if kind in MEMORY else 'disk'} ({kind})"


def file_system(path: str, mounts: str) -> str | None:
    """The type of the file system that holds a path, by the text of mountinfo (proc(5)): the deepest mount above it."""
    found: tuple[int, str | None] = (0, None)
    for line in mounts.splitlines():
        left, _, right = line.partition(" - ")
        fields = left.split()
        if len(fields) < 5 or not right:
            continue
        point = fields[4].encode().decode("unicode_escape")  # a space stands there as \040
        if Path(path).is_relative_to(point) and len(point) >= found[0]:
            found = len(point), right.split()[0]
    return found[1]
