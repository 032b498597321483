"""Reads published_peaks.toml: the memory, bandwidth and operations a second that makers publish for accelerators."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from suite.case import TARGETS
from suite.errors import UserError
from suite.machine.roofline import MemoryLevel, Roofline

FILE = Path(__file__).with_suffix(".toml")
PRECISIONS = ("f32", "tf32", "bf16")  # from slow to fast: no chip is faster in one than in the next


@dataclass(frozen=True, slots=True)
class PeakSource:
    """A document from which figures of a chip were taken; `has` says which figures."""

    title: str
    url: str
    has: str


@dataclass(frozen=True, slots=True)
class PublishedPeaks:
    """The figures that the maker of one chip publishes. `reported` are the names under which frameworks report it;
    `flops_per_second` has only the precisions for which there is a published figure."""

    name: str
    target: str
    title: str
    reported: tuple[str, ...]
    memory_bytes: int
    bytes_per_second: float
    on_chip_bytes: int
    flops_per_second: Mapping[str, float]
    sources: tuple[PeakSource, ...]

    def roofline(self) -> Roofline:
        """Returns the roofline of these peaks.

        A precision without a figure gets the figure of the next narrower precision. A TPU, for example, multiplies only
        in bf16, and makes one f32 product from several bf16 products. bf16 is the narrowest here: without a figure, as
        on a T4, it has no roof.
        """
        roofs: dict[str, float] = {}
        for precision, narrower in zip(PRECISIONS[::-1], (None, *PRECISIONS[:0:-1]), strict=True):
            published = self.flops_per_second.get(precision) or (roofs.get(narrower) if narrower else None)
            if published:
                roofs[precision] = published
        return Roofline(roofs, (MemoryLevel(self.bytes_per_second, self.on_chip_bytes),))


@lru_cache(maxsize=1)
def published_peaks(path: Path = FILE) -> Mapping[str, PublishedPeaks]:
    """Returns {name: chip} of the file. Raises UserError, naming the chip, if an entry isn't valid."""
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError) as broken:
        raise UserError(f"{path} can't be read: {broken}.") from broken
    return {name: chip(name, table, path) for name, table in tables.items()}


def chip(name: str, table: Mapping[str, Any], path: Path) -> PublishedPeaks:
    """Returns the chip of one table. Raises UserError for a key or value that isn't valid."""
    try:
        peaks = PublishedPeaks(
            name=name,
            **{
                **table,
                "reported": tuple(table["reported"]),
                "sources": tuple(PeakSource(**source) for source in table["sources"]),
            },
        )
    except (KeyError, TypeError) as wrong:
        raise UserError(f"{path}, [{name}]: a key is missing or unknown: {wrong}.") from wrong
    figures = (peaks.memory_bytes, peaks.bytes_per_second, *peaks.flops_per_second.values())
    if peaks.target not in TARGETS or set(peaks.flops_per_second) - set(PRECISIONS) or min(figures) <= 0:
        raise UserError(
            f"{path}, [{name}]: a target is one of {', '.join(TARGETS)}, a precision one of {', '.join(PRECISIONS)}, "
            "and figures are greater than 0."
        )
    return peaks


def peaks_of(device: str) -> PublishedPeaks | None:
    """Returns the chip of a device. `device` is the chip's name in the file, a TPU slice of one chip (`v6e-1`), or the
    name that a framework reports. None for any other device, such as a slice of several chips."""
    peaks = published_peaks()
    name = re.sub(r"^(v\d\w*)-1$", r"\1", device.strip().lower())
    reported = {title.lower(): chip for chip in peaks.values() for title in chip.reported}
    return peaks.get(name) or reported.get(name)
