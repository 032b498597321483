"""Reads facts about this machine and this process, on Linux. It needs only the standard library. A fact that the system
hides is None."""

from __future__ import annotations

import hashlib
import itertools
import os
import platform
import re
import socket
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from statistics import median
from typing import Any, TypedDict

from suite.case import canonical_json
from suite.errors import UserError
from suite.machine import cgroups, limits

RELEVANT = re.compile(
    r"XLA_|JAX_|TF_|TORCH|OMP|MKL|KMP|NPROC|CUDA|PJRT|OPENBLAS|ONEDNN|DNNL|MALLOC_|THP_|LD_PRELOAD|GLIBC_TUNABLES"
)
# Cores of ARM servers by /proc/cpuinfo's implementer and part, as Linux's arch/arm64/include/asm/cputype.h and
# util-linux's sys-utils/lscpu-arm.c name them. Not asked of lscpu: a newer one would give the same machine another id.
ARM_CORES: dict[str, tuple[str, dict[str, str]]] = {
    "0x41": ("ARM", {"0xd08": "Cortex-A72", "0xd0b": "Cortex-A76", "0xd0c": "Neoverse-N1", "0xd40": "Neoverse-V1",
                     "0xd49": "Neoverse-N2", "0xd4f": "Neoverse-V2", "0xd84": "Neoverse-V3", "0xd8e": "Neoverse-N3"}),
    "0x46": ("Fujitsu", {"0x001": "A64FX"}), "0x48": ("HiSilicon", {"0xd01": "Kunpeng-920"}),
    "0x4e": ("NVIDIA", {"0x010": "Olympus"}), "0x6d": ("Microsoft", {"0xd49": "Azure-Cobalt-100"}),
    "0xc0": ("Ampere", {"0xac3": "Ampere-1", "0xac4": "Ampere-1a"}), "0x61": ("Apple", {}),
}  # fmt: skip


def refuse_platform(system: str | None = None, machine: str | None = None) -> str:
    """Returns a system's name, `Linux on aarch64`. Raises UserError if it isn't Linux on x86-64 or 64-bit ARM."""
    system, machine = system or platform.system(), machine or platform.machine()
    if system != "Linux" or machine not in ("x86_64", "aarch64"):
        raise UserError(f"Stack Wars runs on Linux on x86-64 and aarch64 (64-bit ARM); this is {system} on {machine}.")
    return f"{system} on {machine}"


def read(path: str) -> str | None:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return None


def cpu_fields() -> dict[str, str]:
    """Returns the fields of the first core in /proc/cpuinfo, by the names that they have on x86-64."""
    block = (read("/proc/cpuinfo") or "").split("\n\n")[0]
    pairs = (line.partition(":") for line in block.splitlines())
    fields = {name.strip(): value.strip() for name, _, value in pairs}
    return arm_fields(fields) if "CPU implementer" in fields else fields


def arm_fields(fields: Mapping[str, str]) -> dict[str, str]:
    """Returns an ARM core's fields by their names on x86-64. Its vector width is added to its features: `sve256`."""
    implementer, part = fields["CPU implementer"], fields.get("CPU part", "?")
    vendor, parts = ARM_CORES.get(implementer, (f"implementer {implementer}", {}))
    vector_bytes = read("/proc/sys/abi/sve_default_vector_length") or ""
    return {
        "vendor_id": vendor,
        "model name": f"{vendor} {parts.get(part, f'part {part}')}",
        "cpu family": fields.get("CPU architecture", "?"),
        "model": part,
        "stepping": f"r{int(fields.get('CPU variant', '0'), 16)}p{fields.get('CPU revision', '?')}",
        "flags": fields.get("Features", "") + (f" sve{8 * int(vector_bytes)}" if vector_bytes.isdigit() else ""),
    }


def usable_cores() -> list[int]:
    """Returns the cores that this process may run on: at most as many as the cgroup's CPU quota allows."""
    cores = sorted(os.sched_getaffinity(0))
    quota = cgroups.cpu_quota()
    return cores if quota is None else cores[: max(1, int(quota))]


def apart(cores: Iterable[int]) -> list[int]:
    """Returns cores in the order in which a process with fewer of them gets them: one thread of each core first."""
    return sorted(cores, key=lambda core: (siblings(core).index(core), core))


def siblings(core: int) -> list[int]:
    """Returns the processors that share a core with this one, itself included; it alone where that is hidden."""
    listed = read(f"/sys/devices/system/cpu/cpu{core}/topology/thread_siblings_list") or ""
    ends = [part.split("-") for part in listed.split(",") if re.fullmatch(r"\d+(-\d+)?", part)]
    found = [number for first, *last in ends for number in range(int(first), int((last or [first])[0]) + 1)]
    return found if core in found else [core]


def whole(cores: Iterable[int]) -> int:
    """Returns how many cores these processors are, each with all its hyperthreads."""
    return len({min(siblings(core)) for core in cores})


def memory() -> dict[str, int]:
    """Returns the bytes of memory, available memory and swap, and of a limit on this program; by their names in
    machine.json."""
    fields = dict(re.findall(r"^(\w+):\s+(\d+) kB", read("/proc/meminfo") or "", re.MULTILINE))
    names = {"MemTotal": "ram_bytes", "MemAvailable": "available_bytes", "SwapTotal": "swap_bytes"}
    found = {name: 1024 * int(fields[field]) for field, name in names.items() if field in fields}
    limit, left = cgroups.memory_limit(), cgroups.memory_left()
    if limit is not None and left is not None and limit < found.get("ram_bytes", limit + 1):
        found["memory_limit_bytes"] = limit
        found["available_bytes"] = min(left, found.get("available_bytes", left))
    return found


def mhz() -> float | None:
    clocks = [float(value) for value in re.findall(r"cpu MHz\s*:\s*([\d.]+)", read("/proc/cpuinfo") or "")]
    return sum(clocks) / len(clocks) if clocks else None


def cpu_times() -> tuple[int, int]:
    """Returns (jiffies that the hypervisor took, all jiffies) of all cores since boot. Only the difference between two
    readings has a meaning."""
    fields = [int(value) for value in (read("/proc/stat") or "cpu 0").split("\n")[0].split()[1:9]]
    return (fields[7] if len(fields) > 7 else 0), sum(fields)


def cache_sizes() -> dict[str, str | None]:
    """Returns the first core's caches as the kernel names them: {`L3 Unified`: `32768K`}."""
    caches = sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*"))
    return {f"L{read(f'{cache}/level')} {read(f'{cache}/type')}": read(f"{cache}/size") for cache in caches}


def identity() -> dict[str, Any]:
    """Returns the facts that tell one processor from another. The name isn't enough: of two machines with two cores of
    an "AMD EPYC", one multiplied twice as fast on 512-bit vectors."""
    cpu = cpu_fields()
    return {
        "cpu_vendor": cpu.get("vendor_id"),
        "cpu_model": cpu.get("model name"),
        "cpu_family_model_stepping": "/".join(cpu.get(name, "?") for name in ("cpu family", "model", "stepping")),
        "cpu_flags": cpu.get("flags", "").split(),
        "cores_online": os.cpu_count(),
        "caches": cache_sizes(),
    }


class Facts(TypedDict, total=False):
    """The facts that `machine` returns and a set keeps; None for an unknown one."""

    machine_id: str
    name: str
    platform: str
    kernel: str
    cpu_vendor: str | None
    cpu_model: str | None
    cpu_family_model_stepping: str
    cpu_flags: list[str]
    cores_online: int | None
    cores_usable: list[int]
    cores_whole: int
    caches: dict[str, str | None]
    cpu_quota: float | None
    numa_nodes: int | None
    smt: str | None
    threads_per_core: int
    microcode: str | None
    mitigations: dict[str, str]
    limits: dict[str, int]
    governor: str | None
    boost: str | None
    ram_bytes: int
    available_bytes: int
    memory_limit_bytes: int
    swap_bytes: int
    huge_pages: str | None
    clock_source: str | None
    hypervisor: bool | None
    product: str | None
    gpus: list[dict[str, Any]]


def machine(name: str = "") -> dict[str, Any]:
    """Returns the facts that stay the same during a run: processor, caches, memory, kernel, virtualisation. `name` is
    the machine's, if its user gave it one."""
    processor = identity()
    return {
        "machine_id": machine_id(name),
        **({"name": name} if name else {}),
        "platform": f"{platform.system()} {platform.machine()}",
        "kernel": platform.release(),
        **processor,
        "cores_usable": usable_cores(),
        "cores_whole": whole(usable_cores()),
        "cpu_quota": cgroups.cpu_quota(),
        "numa_nodes": len(list(Path("/sys/devices/system/node").glob("node[0-9]*"))) or None,
        "smt": read("/sys/devices/system/cpu/smt/control"),
        "threads_per_core": len(siblings(0)),
        "microcode": cpu_fields().get("microcode"),
        "mitigations": mitigations(),
        "limits": limits.limits(),
        "governor": read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        "boost": read("/sys/devices/system/cpu/cpufreq/boost"),
        **memory(),
        "huge_pages": read("/sys/kernel/mm/transparent_hugepage/enabled"),
        "clock_source": read("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        "hypervisor": "hypervisor" in processor["cpu_flags"] if platform.machine() == "x86_64" else None,
        "product": read("/sys/class/dmi/id/product_name"),
    }


def mitigations() -> dict[str, str]:
    """Returns what the kernel does about each vulnerability of the processor: {`retbleed`: `Mitigation: IBRS`}."""
    folder = Path("/sys/devices/system/cpu/vulnerabilities")
    return {path.name: text for path in sorted(folder.glob("*")) if (text := read(str(path))) is not None}


def machine_id(name: str = "") -> str:
    """Returns a pseudonym of this machine with this processor that stays the same and reveals nothing. Results with
    different ones are never paired. A container may have another host name each time: `name` stands for it."""
    host = name or read("/etc/machine-id") or socket.gethostname()
    return hashlib.sha256(canonical_json({"host": host, **identity()}).encode()).hexdigest()[:16]


def process(environ: Mapping[str, str]) -> dict[str, Any]:
    return {
        "affinity": sorted(os.sched_getaffinity(0)),
        "environment_variables": {k: v for k, v in sorted(environ.items()) if RELEVANT.search(k)},
        "mhz_before": mhz(),
        "load_before": os.getloadavg()[0],
        "pressure_cpu_before": read("/proc/pressure/cpu"),
        "timer_resolution_seconds": time.get_clock_info("perf_counter").resolution,
        "timer_cost_seconds": timer_cost(),
    }


def process_end() -> dict[str, Any]:
    switches = re.search(r"nonvoluntary_ctxt_switches:\s*(\d+)", read("/proc/self/status") or "")
    return {
        "mhz_after": mhz(),
        "load_after": os.getloadavg()[0],
        "involuntary_switches": int(switches[1]) if switches else None,
    }


def timer_cost() -> float:
    readings = [time.perf_counter_ns() for _ in range(1002)]
    return median(b - a for a, b in itertools.pairwise(readings)) / 1e9
