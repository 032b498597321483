"""Describes the machine in one line, which every published table shows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from suite import units
from suite.machine.roofline import undisturbed

# Vector and matrix units in words, by the kernel's flags.
EXTENSIONS = (
    ("avx512f", "AVX-512"),
    ("avx512_vnni", "VNNI"),
    ("avx512_bf16", "BF16"),
    ("avx512_fp16", "FP16"),
    ("amx_tile", "AMX"),
    ("amx_bf16", "AMX-BF16"),
    *((f"sve{bits}", f"SVE of {bits} bits") for bits in (128, 256, 512)),
    *((flag, flag.upper()) for flag in ("sme", "bf16", "i8mm")),  # ARM's
)
# Of a processor without AVX-512 and SVE, the first of these that it has is shown.
OLDER = (("avx2", "AVX2"), ("avx", "AVX"), ("sse4_2", "SSE4.2"), ("asimd", "NEON"))
STEPPING = ("family", "model", "stepping")
CHANGE_MAX = 0.10  # a ceiling that differs by more than this share from a set's first reading gives a warning


def describe(machine: Mapping[str, Any], ceiling: Mapping[str, Any] | None = None) -> str:
    """Returns `AMD EPYC (family 26, model 2, stepping 1), 2 of 2 cores, AVX-512, …`, from `facts.machine()` and a
    reading of `roofline.ceiling`. Unknown facts are left out."""
    parts = [processor(machine), cores(machine), ", ".join(extensions(machine.get("cpu_flags") or ())), caches(machine)]
    parts += [memory(machine), *map(gpu, machine.get("gpus") or ())]
    if machine.get("hypervisor"):
        parts.append("a virtual machine")
    if ceiling:
        parts.append(reached(ceiling, machine.get("cpu_quota")))
    return ", ".join(part for part in parts if part)


def named(machine: Mapping[str, Any]) -> str:
    """Returns `AMD EPYC, 2 of 2 cores, 23.5 GiB of memory`: enough to recognise one's own machine."""
    parts = [*map(gpu, machine.get("gpus") or ()), str(machine.get("cpu_model") or "unknown processor")]
    parts += [cores(machine), memory(machine)]
    return ", ".join(part for part in parts if part)


def place(machine: Mapping[str, Any], rows: Iterable[Mapping[str, Any]]) -> str:
    """Returns `2-core AMD EPYC`; empty unless all rows are of one machine and ran on all cores of its processor."""
    cores, model = len(machine.get("cores_usable") or ()), machine.get("cpu_model")
    thread = "hyperthread" if machine.get("threads_per_core", 1) > 1 else "core"
    ran = {(row["machine_id"], row["target"], row["threads"]) for row in rows if row["machine_id"]}
    return f"{cores}-{thread} {model}" if model and [it[1:] for it in ran] == [("cpu", cores)] else ""


def processor(machine: Mapping[str, Any]) -> str:
    """Returns the processor's name and numbers: processors of the same name differ up to twofold in speed."""
    name = str(machine.get("cpu_model") or "unknown processor")
    numbers = str(machine.get("cpu_family_model_stepping") or "").split("/")
    if len(numbers) != 3:
        return name
    return f"{name} ({', '.join(f'{word} {number}' for word, number in zip(STEPPING, numbers, strict=True))})"


def cores(machine: Mapping[str, Any]) -> str:
    """Returns `2 of 4 cores`; of a processor with hyperthreads, `2 hyperthreads of 1 core (of 8 hyperthreads)`. In sets
    without that fact a hyperthread counts as a core."""
    usable, online = machine.get("cores_usable"), machine.get("cores_online")
    if not (usable and online):
        return ""
    quota, told = machine.get("cpu_quota"), f"{len(usable)} of {online} cores"
    if machine.get("threads_per_core", 1) > 1:
        count = machine.get("cores_whole") or len(usable)
        rest = f" (of {online} hyperthreads)" if online > len(usable) else ""
        told = f"{len(usable)} {'hyperthreads' if len(usable) > 1 else 'hyperthread'} of {count} "
        told += f"{'cores' if count > 1 else 'core'}{rest}"
    return told + (f", a quota of {quota:.3g} cores" if quota else "")


def memory(machine: Mapping[str, Any]) -> str:
    ram, limit = machine.get("ram_bytes"), machine.get("memory_limit_bytes")
    limited = f" ({units.quantity(limit)} allowed)" if limit else ""
    return f"{units.quantity(ram)} of memory{limited}" if ram else ""


def gpu(facts: Mapping[str, Any]) -> str:
    """Returns `NVIDIA H200 (140 GiB, driver 580.159.04, 700 W)`, from one of `devices.gpus()`."""
    mib, watts, driver = (facts.get(name) for name in ("memory_mib", "power_limit_watts", "driver"))
    numbers = [f"{units.quantity(mib * 2**20)}" if mib else "", f"driver {driver}" if driver else ""]
    numbers.append(f"{watts:.4g} W" if watts else "")
    return f"{facts.get('name') or 'an NVIDIA GPU'} ({', '.join(filter(None, numbers))})"


def extensions(flags: Sequence[str]) -> list[str]:
    known = [word for flag, word in EXTENSIONS if flag in flags]
    return known or [word for flag, word in OLDER if flag in flags][:1]


def caches(machine: Mapping[str, Any]) -> str:
    sizes = machine.get("caches") or {}
    return ", ".join(f"{name.split()[0]} {size}" for name, size in sizes.items() if "Instruction" not in name and size)


def reached(ceiling: Mapping[str, Any], quota: float | None = None) -> str:
    """Returns a reading of the ceiling in words, `reaches 210 GFLOP/s in f32 (…)`. The words say so if other programs,
    or a quota of so many cores, took a part of the cores' time meanwhile, or why this reading is withdrawn."""
    why = f"the quota is {quota:.3g} cores" if quota else "other programs were running meanwhile"
    share, figure = ceiling.get("cores_had", 1.0), f"{ceiling['flops_per_second'] / 1e9:.3g} GFLOP/s"
    alone = "" if undisturbed(ceiling) else f"; these products got only {share:.0%} of the cores' time, because {why}"
    if reason := ceiling.get("withdrawn"):
        alone = f"; the reading of their share of the cores' time is withdrawn: {reason}"
    return f"reaches {figure} in f32 (matrix products of side {ceiling['side']}{alone})"


def change(first: Mapping[str, Any], now: Mapping[str, Any]) -> float:
    return float(now["flops_per_second"] / first["flops_per_second"] - 1)


def comparable(readings: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Returns the readings of the ceiling that can be compared. Readings that had to share their cores can't, because
    they say more about the other programs; nor can readings that were taken in the middle of a run."""
    return [reading for reading in readings if undisturbed(reading) and not reading.get("in_doubt")]


def furthest(readings: Sequence[Mapping[str, Any]]) -> float | None:
    """Returns the greatest relative change from the first reading of the ceiling to a later one, by magnitude; None
    without two readings that can be compared."""
    alone = comparable(readings)
    return max((change(alone[0], reading) for reading in alone[1:]), key=abs, default=None)


def moved(readings: Sequence[Mapping[str, Any]]) -> str | None:
    """Returns a warning if a later reading of the ceiling differs much from the first; else None."""
    alone = comparable(readings)
    far = [reading for reading in alone[1:] if abs(change(alone[0], reading)) > CHANGE_MAX]
    if not far:
        return None
    first = alone[0]
    worst = max(far, key=lambda reading: abs(change(first, reading)))
    then, later = (f"{reading['flops_per_second'] / 1e9:.3g} GFLOP/s" for reading in (first, worst))
    return (
        f"The machine reached {later} in f32 when this set was resumed and {then} when it was begun "
        f"({change(first, worst):+.0%}). Ratios are formed inside a block and keep their meaning; times of "
        "blocks before and after the resume can't be compared."
    )
