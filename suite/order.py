"""The order of names for people, in which numbers count: 96 before 1,000, 2.00 GiB before 16.0 GiB, 0.9 before 0.10."""

from __future__ import annotations

import re

NUMBER = re.compile(r"(\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:(\.\d+)? ?([KMGT])iB\b)?")


def natural(text: str) -> str:
    """Returns the key by which a name sorts: the name with its whole numbers, and numbers of KiB to TiB, all of one
    length. Any other dot is a version's."""
    return NUMBER.sub(padded, text)


def padded(found: re.Match[str]) -> str:
    whole, part, unit = found[1].replace(",", ""), found[2] or "", found[3]
    return f"{round(float(whole + part) * 1024 ** ' KMGT'.index(unit)) if unit else int(whole):020}"
