"""The machine in one line, to stand beside every published table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from suite import units
from suite.machine.roofline import undisturbed

# Vector and matrix units by the kernel's flags, in words; the first of those that mean the same counts.
EXTENSIONS = (
    ("avx512f", "AVX-512"),
    ("avx512_vnni", "VNNI"),
    ("avx512_bf16", "BF16"),
    ("avx512_fp16", "FP16"),
    ("amx_tile", "AMX"),
    ("amx_bf16", "AMX-BF16"),
)
OLDER = (("avx2", "AVX2"), ("avx", "AVX"), ("sse4_2", "SSE4.2"))  # what those without AVX-512 have
STEPPING = ("family", "model", "stepping")
CHANGE_MAX = 0.10  # of the ceiling, from a set's first reading to that of a resume


def describe(machine: Mapping[str, Any], ceiling: Mapping[str, Any] | None = None) -> str:
    """`AMD EPYC (family 26, model 2, stepping 1), 2 of 2 cores, AVX-512, …`, from `facts.machine()` and a reading of
    `roofline.ceiling`. What isn't known is left out."""
    parts = [processor(machine), cores(machine), ", ".join(extensions(machine.get("cpu_flags") or ())), caches(machine)]
    if ram := machine.get("ram_bytes"):
        parts.append(f"{units.quantity(ram)} of memory")
    if machine.get("hypervisor"):
        parts.append("a virtual machine")
    if ceiling:
        parts.append(reached(ceiling))
    return ", ".join(part for part in parts if part)


def named(machine: Mapping[str, Any]) -> str:
    """`AMD EPYC, 2 of 2 cores, 23.5 GiB of memory`: enough to know one's own machine by."""
    ram = machine.get("ram_bytes")
    parts = [
        str(machine.get("cpu_model") or "unknown processor"),
        cores(machine),
        f"{units.quantity(ram)} of memory" if ram else "",
    ]
    return ", ".join(part for part in parts if part)


def processor(machine: Mapping[str, Any]) -> str:
    """Its name alone says little: hosts that call themselves alike differ twofold."""
    name = str(machine.get("cpu_model") or "unknown processor")
    numbers = str(machine.get("cpu_family_model_stepping") or "").split("/")
    if len(numbers) != 3:
        return name
    return f"{name} ({', '.join(f'{word} {number}' for word, number in zip(STEPPING, numbers, strict=True))})"


def cores(machine: Mapping[str, Any]) -> str:
    """How many there are and how many of them a run may use."""
    usable, online = machine.get("cores_usable"), machine.get("cores_online")
    return f"{len(usable)} of {online} cores" if usable and online else ""


def extensions(flags: Sequence[str]) -> list[str]:
    """The vector and matrix units, widest first."""
    found = [word for flag, word in EXTENSIONS if flag in flags]
    return found or [word for flag, word in OLDER if flag in flags][:1]


def caches(machine: Mapping[str, Any]) -> str:
    """`L1 48K, L2 1024K, L3 32768K`, each of one core's; instructions' left out."""
    sizes = machine.get("caches") or {}
    return ", ".join(f"{name.split()[0]} {size}" for name, size in sizes.items() if "Instruction" not in name and size)


def reached(ceiling: Mapping[str, Any]) -> str:
    """`reaches 210 GFLOP/s in f32`, by a reading of the ceiling; what shared its cores says so."""
    had, figure = ceiling.get("cores_had", 1.0), f"{ceiling['flops_per_second'] / 1e9:.3g} GFLOP/s"
    alone = "" if undisturbed(ceiling) else f", with {had:.0%} of its cores: something else was running"
    return f"reaches {figure} in f32 (matrix products of side {ceiling['side']}{alone})"


def change(first: Mapping[str, Any], now: Mapping[str, Any]) -> float:
    """By which part of the first reading of the ceiling a later one differs."""
    return float(now["flops_per_second"] / first["flops_per_second"] - 1)


def moved(readings: Sequence[Mapping[str, Any]]) -> str | None:
    """What a reader must know where a later reading of the ceiling isn't where the first was; else None.

    One that had to share its cores tells of what it shared them with, and isn't compared.
    """
    alone = [each for each in readings if undisturbed(each)]
    far = [each for each in alone[1:] if abs(change(alone[0], each)) > CHANGE_MAX]
    if not far:
        return None
    first = alone[0]
    worst = max(far, key=lambda each: abs(change(first, each)))
    then, later = (f"{each['flops_per_second'] / 1e9:.3g} GFLOP/s" for each in (first, worst))
    return (
        f"The machine reached {later} in f32 when this set was resumed and {then} when it was begun "
        f"({change(first, worst):+.0%}). Ratios are formed inside a block and keep their meaning; times of "
        "blocks before and after don't compare."
    )
