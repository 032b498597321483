"""How much stands in a Parquet file, counted before any of it is unpacked.

The footer says how many values a column has, but Arrow's reader believes the pages: a footer that lies is no bound. So
the headers of the pages are read here, and nothing else of them. Names and numbers are those of parquet.thrift.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from suite.results.store.parquet.thrift import Fields, struct

MALFORMED = (ValueError, KeyError, TypeError, AttributeError)  # fields that are missing, or of another kind
VALUES_MAX = 2**26  # in all columns that are read; 10,000 attempts of 200 samples have 10 million
BYTES_MAX = 2**30  # of pages unpacked, and of texts, each counted as often as it stands there
FOOTER_BYTES_MAX = 2**22
HEADER_BYTES_MAX = 2**15  # of one page; its least and greatest values take some kilobytes of it
WRITER = b"parquet-cpp"  # Arrow's; of some others Arrow reads beyond what the footer says
TAIL_BYTES = 8  # of a file: the footer's length, and four letters
BYTE_ARRAY = 6


@dataclass(frozen=True, slots=True)
class Column:
    """A column's part of a group of rows: its path in the schema, its type, and where in the file its pages lie."""

    path: tuple[str, ...]
    type: int
    begin: int
    end: int

    @classmethod
    def of(cls, chunk: Fields) -> Column:
        """From a ColumnChunk. Arrow begins with the dictionary's page where that comes first, and reads nothing of a
        column that says it has no values."""
        about = chunk[3]
        begin, dictionary = about[9], about.get(11, 0)
        begin = min(begin, dictionary) if dictionary > 0 else begin
        nbytes = about[7] if about[5] > 0 else 0
        return cls(tuple(part.decode() for part in about[3]), about[1], begin, begin + nbytes)


def columns(file: Any, name: str) -> list[Column]:
    """Of every group of an open Parquet file. Raises ArrowInvalid for what isn't one."""
    size = file.size()
    file.seek(max(0, size - TAIL_BYTES))
    length = int.from_bytes(file.read(TAIL_BYTES)[:4], "little")
    if not 0 < length <= min(FOOTER_BYTES_MAX, size - TAIL_BYTES):
        raise pa.ArrowInvalid(f"{name} has no footer of a Parquet file")
    file.seek(size - TAIL_BYTES - length)
    try:
        footer, _ = struct(file.read(length))
        by_arrow = footer.get(6, b"").startswith(WRITER)
        found = [Column.of(chunk) for group in footer[4] for chunk in group[1]]
        if any(not 0 <= column.begin <= column.end <= size for column in found):
            raise ValueError("a column lies outside of it")
    except MALFORMED as broken:
        raise pa.ArrowInvalid(f"{name} has a footer that can't be read: {broken}") from None
    if not by_arrow:
        raise pa.ArrowInvalid(f"{name} wasn't written by Arrow, as every result is")
    return found


def check(file: Any, found: Collection[Column], name: str) -> None:
    """Raises ArrowInvalid where these columns of an open file hold more than any set does, or no pages at all."""
    values = unpacked = 0
    for column in found:
        for of_page, nbytes in pages(file, column, name):
            values, unpacked = values + 1 + of_page, unpacked + nbytes
            if values > VALUES_MAX or unpacked > BYTES_MAX:
                raise too_large(name)


def pages(file: Any, column: Column, name: str) -> Iterator[tuple[int, int]]:
    """(values, bytes once unpacked) of every page of a column. Raises ArrowInvalid for what is none."""
    at = column.begin
    while at < column.end:
        file.seek(at)
        try:
            header, length = struct(file.read(min(HEADER_BYTES_MAX, column.end - at)))
            unpacked, packed = header[2], header[3]
            values = [header.get(data, {}).get(1, 0) for data in (5, 8)]  # of either version
            if min(unpacked, packed, *values) < 0:
                raise ValueError("a size below 0")
        except MALFORMED as broken:
            raise pa.ArrowInvalid(f"{name} has a page whose header can't be read: {broken}") from None
        yield sum(values), unpacked
        at += length + packed


def too_large(name: str) -> pa.ArrowInvalid:
    """What is said of it."""
    return pa.ArrowInvalid(
        f"{name} would unpack to more than any set has, {VALUES_MAX:,} values or {BYTES_MAX / 2**30:.0f} GiB of them"
    )
