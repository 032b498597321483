"""Reads published_peaks.toml: the memory, bandwidth and operations a second that makers publish for accelerators."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Literal

from msgspec import Meta, Struct

from suite.case import PRECISIONS
from suite.machine.roofline import MemoryLevel, Roofline
from suite.machine.tables import entries

FILE = Path(__file__).with_suffix(".toml")
Positive = Annotated[float, Meta(gt=0)]
Precision = Annotated[str, Meta(pattern=rf"\A({'|'.join(PRECISIONS)})\Z")]


class PeakSource(Struct, frozen=True, forbid_unknown_fields=True):
    """A document from which figures of a chip were taken; `has` says which figures."""

    title: str
    url: str
    has: str


class PublishedPeaks(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The figures that the maker of one chip publishes. `reported` are the names under which frameworks report it;
    `flops_per_second` has only the precisions for which there is a published figure."""

    name: str
    target: Literal["cpu", "cuda", "tpu"]
    title: str
    reported: tuple[str, ...]
    memory_bytes: Annotated[int, Meta(gt=0)]
    bytes_per_second: Positive
    on_chip_bytes: int
    flops_per_second: dict[Precision, Positive]
    sources: tuple[PeakSource, ...]

    def roofline(self) -> Roofline:
        """Returns the roofline of these peaks.

        A precision without a figure gets the figure of the next narrower precision. A TPU, for example, multiplies only
        in bf16, and makes one f32 product from several bf16 products. bf16 is the narrowest here: without a figure, as
        on a T4, it has no roof.
        """
        roofs: dict[str, float] = {}
        figure: float | None = None
        for precision in reversed(PRECISIONS):
            figure = self.flops_per_second.get(precision, figure)
            if figure is not None:
                roofs[precision] = figure
        return Roofline(roofs, (MemoryLevel(self.bytes_per_second, self.on_chip_bytes),))


@lru_cache(maxsize=1)
def published_peaks(path: Path = FILE) -> Mapping[str, PublishedPeaks]:
    return entries(path, PublishedPeaks)


def peaks_of(device: str) -> PublishedPeaks | None:
    """Returns the chip of a device. `device` is the chip's name in the file, a TPU slice of one chip (`v6e-1`), or the
    name that a framework reports. None for any other device, such as a slice of several chips."""
    peaks = published_peaks()
    name = re.sub(r"^(v\d\w*)-1$", r"\1", device.strip().lower())
    reported = {title.lower(): chip for chip in peaks.values() for title in chip.reported}
    return peaks.get(name) or reported.get(name)
