"""Reads from libraries' own logs which library ran in a step, and with which instruction set (docs/why/method.md)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

VERBOSE = {"ONEDNN_VERBOSE": "1", "MKL_VERBOSE": "1"}  # the variables that make the libraries log

# onednn_verbose,v1,primitive,exec,cpu,matmul,brg_matmul:avx512_core,undef,[tensors],[attributes],,512x512:512x512,7.02
ONEDNN = re.compile(r"^onednn_verbose,(?:v\d+,)?(?:primitive,)?exec,cpu,\w+,([^,\n]*),.*,([\d.e+-]+)$", re.MULTILINE)
# onednn_verbose,v1,info,cpu,isa:Intel AVX-512 with Intel DL Boost and bfloat16 support
ONEDNN_ISA = re.compile(r"^onednn_verbose,(?:v\d+,)?info,cpu,isa:(.+)$", re.MULTILINE)
# MKL_VERBOSE SGEMM(N,N,512,512,512,[pointers]) 52.59ms CNR:OFF Dyn:0 FastMM:1 TID:0  NThr:2
MKL = re.compile(r"^MKL_VERBOSE \w+\(.*\) ([\d.]+)(ns|us|ms|s) CNR", re.MULTILINE)
# MKL_VERBOSE oneMKL 2024.0 Update 2 Product build 20240605 for Intel(R) 64 architecture [path] processors, Lnx 2.60GHz
# or, with AMX, … Intel(R) Advanced Vector Extensions 512 (Intel(R) AVX-512) with support for INT8, … instructions, …
MKL_PATH = re.compile(
    r"^MKL_VERBOSE .* for Intel\(R\) 64 architecture (.+?)(?: enabled processors| processors| instructions),",
    re.MULTILINE,
)
SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
MKL_DEFAULT = "default path"  # MKL's path on processors that aren't Intel's (`mkl_blas_def_…`)
INSTRUCTIONS = re.compile(r"(?:avx|sse|amx|sve|asimd|acl)\w*")  # acl: the Arm Compute Library


@dataclass(frozen=True, slots=True)
class LibraryUse:
    """How a step uses one library: the library's name, its instruction set in its own words, and the number and time of
    its calls.

    None means unknown. An entry without `calls` is the library that runs all operations which no other entry counts.
    For a compiled program there are no times, and `calls` counts the places in the program that run the library's
    kernels.
    """

    library: str
    isa: str | None = None
    calls: int | None = None
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class LibraryLogs:
    """What a process's libraries wrote to standard output before the explained step (`before`) and in it (`step`), and
    the folder of compile caches, where compilers leave their programs."""

    before: str
    step: str
    folder: Path


def libraries(logs: LibraryLogs, mkl_path: str | None = None) -> list[LibraryUse]:
    """Returns what oneDNN and MKL ran in the step, by their logs, the longest-running first. If `mkl_path` is given, it
    is the name of MKL's path, whatever MKL's log says."""
    text = logs.before + logs.step
    announced, mkl = ONEDNN_ISA.search(text), MKL_PATH.search(text)
    generated = announced[1].replace("Intel ", "") if announced else None
    calls: list[tuple[str, str | None, float]] = [
        ("oneDNN", instructions(call[1], generated), float(call[2]) / 1e3) for call in ONEDNN.finditer(logs.step)
    ]
    path = mkl_path or (plain(mkl[1]) if mkl else None)
    calls += [("MKL", path, float(call[1]) * SECONDS[call[2]]) for call in MKL.finditer(logs.step)]
    return summed(calls)


def instructions(implementation: str, generated: str | None) -> str | None:
    """Returns the instruction set of an implementation: `avx512_core` of `brg_matmul:avx512_core`. Calls without an
    implementation (`gemm_api`) and code that oneDNN generates (`x64:gemm:jit`) have the one that oneDNN announced for
    this processor; other implementations are returned as oneDNN names them."""
    if named := INSTRUCTIONS.search(implementation):
        return named[0]
    return generated if not implementation or "jit" in implementation else implementation


def plain(path: str) -> str:
    """Returns MKL's path by its name in brackets: `AVX-512`. On processors that aren't Intel's MKL has no such name and
    says `Intel(R) Architecture`: its default path."""
    named = re.search(r"\(Intel\(R\) ([^()]+)\)", path)
    return named[1] if named else MKL_DEFAULT


def summed(calls: Iterable[tuple[str, str | None, float]]) -> list[LibraryUse]:
    seconds: dict[tuple[str, str | None], list[float]] = {}
    for library, isa, taken in calls:
        seconds.setdefault((library, isa), []).append(taken)
    used = [LibraryUse(library, isa, len(taken), sum(taken)) for (library, isa), taken in seconds.items()]
    return sorted(used, key=lambda library: -(library.seconds or 0.0))
