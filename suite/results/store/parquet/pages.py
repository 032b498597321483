"""Counts the values and bytes in a Parquet file before any of it is unpacked.

The footer says how many values a column has, but Arrow's reader believes the pages, so a false footer limits nothing.
That is why this module reads the header of every page. Names and numbers are those of parquet.thrift.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from suite.results.store.parquet.thrift import Fields, struct

MALFORMED = (ValueError, KeyError, TypeError, AttributeError)  # raised by fields that are missing or of another type
VALUES_MAX = 2**26  # in all columns that are read; 10,000 attempts of 200 samples have 10 million
BYTES_MAX = 2**30  # of all pages once unpacked; also of all texts, each counted as often as it occurs
FOOTER_BYTES_MAX = 2**22
HEADER_BYTES_MAX = 2**15  # of one page; the page's least and greatest values take some kilobytes of it
WRITER = b"parquet-cpp"  # Arrow itself; in files of some other writers Arrow reads more than the footer says
TAIL_BYTES = 8  # the end of a file: the footer's length, and four letters
BYTE_ARRAY = 6


@dataclass(frozen=True, slots=True)
class ColumnChunk:
    """A column's part of a group of rows: its path in the schema, its type, and where its pages are in the file."""

    path: tuple[str, ...]
    type: int
    begin: int
    end: int

    @classmethod
    def of(cls, chunk: Fields) -> ColumnChunk:
        """Returns the chunk of Thrift's ColumnChunk. Arrow starts at the dictionary's page if that comes first, and
        reads nothing of a column without values."""
        about = chunk[3]
        begin, dictionary = about[9], about.get(11, 0)
        begin = min(begin, dictionary) if dictionary > 0 else begin
        nbytes = about[7] if about[5] > 0 else 0
        return cls(tuple(part.decode() for part in about[3]), about[1], begin, begin + nbytes)


def columns(file: Any, name: str) -> list[ColumnChunk]:
    """Returns the column chunks of an open file. Raises ArrowInvalid unless Arrow wrote it and its footer is sound."""
    size = file.size()
    file.seek(max(0, size - TAIL_BYTES))
    length = int.from_bytes(file.read(TAIL_BYTES)[:4], "little")
    if not 0 < length <= min(FOOTER_BYTES_MAX, size - TAIL_BYTES):
        raise pa.ArrowInvalid(f"{name} doesn't end with the footer of a Parquet file")
    file.seek(size - TAIL_BYTES - length)
    try:
        footer, _ = struct(file.read(length))
        by_arrow = footer.get(6, b"").startswith(WRITER)
        chunks = [ColumnChunk.of(chunk) for group in footer[4] for chunk in group[1]]
        if any(not 0 <= chunk.begin <= chunk.end <= size for chunk in chunks):
            raise ValueError("a column lies outside of the file")
    except MALFORMED as broken:
        raise pa.ArrowInvalid(f"{name} has a footer that can't be read: {broken}") from None
    if not by_arrow:
        raise pa.ArrowInvalid(f"{name} wasn't written by Arrow, as every result is")
    return chunks


def check(file: Any, chunks: Collection[ColumnChunk], name: str) -> None:
    """Raises ArrowInvalid if these columns of an open file have more than any set does, or damaged pages."""
    values = unpacked = 0
    for chunk in chunks:
        for page_values, page_bytes in pages(file, chunk, name):
            values, unpacked = values + 1 + page_values, unpacked + page_bytes
            if values > VALUES_MAX or unpacked > BYTES_MAX:
                raise too_large(name)


def pages(file: Any, chunk: ColumnChunk, name: str) -> Iterator[tuple[int, int]]:
    """Yields (values, bytes once unpacked) of every page of a chunk. Raises ArrowInvalid for a damaged header."""
    offset = chunk.begin
    while offset < chunk.end:
        file.seek(offset)
        try:
            header, length = struct(file.read(min(HEADER_BYTES_MAX, chunk.end - offset)))
            unpacked, packed = header[2], header[3]
            values = [header.get(data, {}).get(1, 0) for data in (5, 8)]  # pages of version 1 and 2
            if min(unpacked, packed, *values) < 0:
                raise ValueError("a size below 0")
        except MALFORMED as broken:
            raise pa.ArrowInvalid(f"{name} has a page whose header can't be read: {broken}") from None
        yield sum(values), unpacked
        offset += length + packed


def too_large(name: str) -> pa.ArrowInvalid:
    """Returns the error for a file that unpacks to too much."""
    return pa.ArrowInvalid(
        f"{name} would unpack to more than any set has: {VALUES_MAX:,} values or {BYTES_MAX / 2**30:.0f} GiB"
    )
