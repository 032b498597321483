"""Reads devices.toml: the accelerators for which a prediction can be made, with the peaks that their makers publish.

Only the orchestrator reads this file; the job that compiles gets the fields that it needs in its request.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from suite.errors import UserError, check_known
from suite.machine.published_peaks import PublishedPeaks, published_peaks

FILE = Path(__file__).with_name("devices.toml")
# Figures of every NVIDIA GPU since 2016, by the table "Technical Specifications per Compute Capability" of the CUDA C++
# programming guide, under the names of XLA's GpuTargetConfigProto.
EVERY_GPU = """\
  threads_per_block_limit: 1024
  threads_per_warp: 32
  shared_memory_per_block: 49152
  threads_per_core_limit: 2048
  block_dim_limit_x: 2147483647
  block_dim_limit_y: 65535
  block_dim_limit_z: 65535
  registers_per_core_limit: 65536
  registers_per_block_limit: 65536
  thread_dim_limit_x: 1024
  thread_dim_limit_y: 1024
  thread_dim_limit_z: 64
  device_vendor: "NVIDIA Corporation"
"""
CUDNN = "major: 9 minor: 10 patch: 0"  # the version by which XLA chooses cuDNN's algorithms


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """One accelerator, which has one chip or several. `chip` has the published peaks of one chip. The other fields
    describe the device to its compiler: `topology`, `chips` (how many along each axis) and `accelerator_type` a TPU,
    `gpu` a GPU."""

    name: str
    chip: PublishedPeaks
    topology: str = "1x1x1"
    chips: tuple[int, ...] = ()
    accelerator_type: str = ""
    gpu: Mapping[str, Any] = field(default_factory=dict)

    @property
    def target(self) -> str:
        return self.chip.target

    def bound(self, flops: float, bytes_moved: float, precision: str) -> tuple[float, str]:
        """Returns (seconds, `arithmetic` or `memory`): the least time that so many operations and bytes take at the
        chip's published peaks, and which of the two takes longer. If all bytes fit into on-chip memory, they take no
        time."""
        roofline = self.chip.roofline()
        arithmetic, memory = flops / roofline.flops_per_second[precision], roofline.moving_seconds(bytes_moved)
        return max((arithmetic, "arithmetic"), (memory, "memory"))

    @property
    def count(self) -> int:
        return math.prod(self.chips)

    @property
    def target_config(self) -> str:
        """Returns the description of a GPU that XLA's compiler reads, the text of a GpuTargetConfigProto. Empty for a
        TPU."""
        if not self.gpu:
            return ""
        gpu, name = self.gpu, self.chip.reported[0]
        major, minor = gpu["compute_capability"]
        feature = "ACCELERATED_FEATURES" if gpu["accelerated"] else "NONE"
        return (
            f"gpu_device_info {{\n{EVERY_GPU}"
            f"  shared_memory_per_core: {gpu['shared_bytes_per_core']}\n"
            f"  shared_memory_per_block_optin: {gpu['shared_bytes_per_block']}\n"
            f"  core_count: {gpu['cores']}\n"
            f"  fpus_per_core: {gpu['fpus_per_core']}\n"
            f"  clock_rate_ghz: {gpu['clock_ghz']}\n"
            f"  l2_cache_size: {self.chip.on_chip_bytes}\n"
            f"  memory_bandwidth: {round(self.chip.bytes_per_second)}\n"
            f"  device_memory_size: {self.chip.memory_bytes}\n"
            f"  cuda_compute_capability {{ major: {major} minor: {minor} feature_extension: {feature} }}\n"
            f'  name: "{name}"\n}}\n'
            f'platform_name: "CUDA"\n'
            f"dnn_version_info {{ {CUDNN} }}\n"
            f'device_description_str: "{name}"\n'
        )


@cache
def devices() -> Mapping[str, Device]:
    tables = tomllib.loads(FILE.read_text(encoding="utf-8"))
    chips = published_peaks()
    return {
        name: Device(name=name, **table | {"chip": chips[table["chip"]], "chips": tuple(table.get("chips", ()))})
        for name, table in tables.items()
    }


def find(name: str, target: str | None = None) -> Device:
    check_known("device", name, devices())
    device = devices()[name]
    if target not in (None, device.target):
        raise UserError(f"{name} is a device of --target={device.target}, not of {target}.")
    return device


def first(target: str) -> Device:
    """Returns the first device that is listed for a target. Raises UserError for a target that has none."""
    known: dict[str, Device] = {}
    for device in devices().values():
        known.setdefault(device.target, device)
    check_known("target", target, known, of="Prediction")
    return known[target]
