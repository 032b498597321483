"""Which library ran, on which instructions: read from what libraries say of themselves (docs/methodology.md)."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

VERBOSE = {"ONEDNN_VERBOSE": "1", "MKL_VERBOSE": "1"}  # what makes them say it

# onednn_verbose,v1,primitive,exec,cpu,matmul,brg_matmul:avx512_core,undef,[tensors],[attributes],,512x512:512x512,7.02
ONEDNN = re.compile(r"^onednn_verbose,(?:v\d+,)?(?:primitive,)?exec,cpu,\w+,([^,\n]*),.*,([\d.e+-]+)$", re.MULTILINE)
# onednn_verbose,v1,info,cpu,isa:Intel AVX-512 with Intel DL Boost and bfloat16 support
ONEDNN_ISA = re.compile(r"^onednn_verbose,(?:v\d+,)?info,cpu,isa:(.+)$", re.MULTILINE)
# MKL_VERBOSE SGEMM(N,N,512,512,512,[pointers]) 52.59ms CNR:OFF Dyn:0 FastMM:1 TID:0  NThr:2
MKL = re.compile(r"^MKL_VERBOSE \w+\(.*\) ([\d.]+)(ns|us|ms|s) CNR", re.MULTILINE)
# MKL_VERBOSE oneMKL 2024.0 Update 2 Product build 20240605 for Intel(R) 64 architecture [path] processors, Lnx 2.60GHz
MKL_PATH = re.compile(r"^MKL_VERBOSE .* for Intel\(R\) 64 architecture (.+?)(?: enabled)? processors,", re.MULTILINE)
SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
INSTRUCTIONS = re.compile(r"(?:avx|sse|amx)\w*")


@dataclass(frozen=True, slots=True)
class Used:
    """One library at work: its name, the instruction set as it says it, how often a step calls it, for how long.

    None is unknown. Without `calls` it is what the stack runs where no other library is named. A compiled program has
    no times: its `calls` are places in it.
    """

    library: str
    isa: str | None = None
    calls: int | None = None
    seconds: float | None = None

    def to_json(self) -> dict[str, Any]:
        """A plain dict."""
        return dataclasses.asdict(self)


@dataclass(frozen=True, slots=True)
class Told:
    """What a process's libraries wrote on standard output before the step that was listened to, and in it; and the
    folder of its caches, where compilers leave what they made."""

    before: str
    step: str
    folder: Path


def libraries(told: Told) -> list[Used]:
    """oneDNN and MKL, by their logs: what took most of the step first."""
    heard = told.before + told.step
    announced, mkl = ONEDNN_ISA.search(heard), MKL_PATH.search(heard)
    generated = announced[1].replace("Intel ", "") if announced else None
    calls: list[tuple[str, str | None, float]] = [
        ("oneDNN", instructions(found[1], generated), float(found[2]) / 1e3) for found in ONEDNN.finditer(told.step)
    ]
    path = plain(mkl[1]) if mkl else None
    calls += [("MKL", path, float(found[1]) * SECONDS[found[2]]) for found in MKL.finditer(told.step)]
    return summed(calls)


def instructions(implementation: str, generated: str | None) -> str | None:
    """Of `brg_matmul:avx512_core` the instruction set. Calls past all implementations (`gemm_api`) and code that oneDNN
    generates (`x64:gemm:jit`) have the one that it has announced for this processor; others as it calls them."""
    if found := INSTRUCTIONS.search(implementation):
        return found[0]
    return generated if not implementation or "jit" in implementation else implementation


def plain(path: str) -> str:
    """MKL's path, by the name that it has in brackets: `AVX-512`. On a processor that isn't Intel's MKL names none, and
    says `Intel(R) Architecture`: the path for all others (`mkl_blas_def_…`)."""
    named = re.search(r"\(Intel\(R\) ([^()]+)\)", path)
    return named[1] if named else "default path"


def summed(calls: Iterable[tuple[str, str | None, float]]) -> list[Used]:
    """Calls as (library, instruction set, seconds), by library and instruction set, the longest first."""
    seconds: dict[tuple[str, str | None], list[float]] = {}
    for library, isa, taken in calls:
        seconds.setdefault((library, isa), []).append(taken)
    found = [Used(library, isa, len(taken), sum(taken)) for (library, isa), taken in seconds.items()]
    return sorted(found, key=lambda used: -(used.seconds or 0.0))
