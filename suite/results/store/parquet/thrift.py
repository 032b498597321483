"""Parses Thrift's compact protocol into fields by number, as far as Parquet's footers and page headers need it.

Arrow's own readers end the whole process for some damaged files, and don't give the headers of single pages.
"""

from __future__ import annotations

from typing import Any

TRUE, FALSE, BYTE, SHORT, LONG, DOUBLE, BINARY, LIST, SET, STRUCT = 1, 2, 3, 4, 6, 7, 8, 9, 10, 12

Fields = dict[int, Any]


def struct(data: bytes, at: int = 0) -> tuple[Fields, int]:
    """Returns (fields by number, offset after them). Raises ValueError for a malformed struct."""
    try:
        return fields_at(data, at)
    except IndexError:
        raise ValueError("it is cut short") from None
    except RecursionError:
        raise ValueError("it is too deep") from None


def fields_at(data: bytes, at: int) -> tuple[Fields, int]:
    """Returns (fields, offset after them) of one struct, which ends with a byte of 0."""
    fields: Fields = {}
    last = 0
    while head := data[at]:
        at += 1
        if head >> 4:
            last += head >> 4
        else:
            last, at = signed(data, at)
        if last in fields:
            raise ValueError("it has a field twice")
        kind = head & 15
        if SHORT <= kind <= LONG and data[at] < 128:  # a fast path: history reads 200 footers of 5,000 such fields
            fields[last], at = (data[at] >> 1) ^ -(data[at] & 1), at + 1
        else:
            fields[last], at = value(data, at, kind)
    return fields, at + 1


def value(data: bytes, at: int, kind: int) -> tuple[Any, int]:
    """Returns (value, offset after it) of one field."""
    if SHORT <= kind <= LONG:
        return signed(data, at)
    if kind == BINARY:
        length, at = number(data, at)
        return data[at : at + length], at + length
    if kind == STRUCT:
        return fields_at(data, at)
    if kind in (LIST, SET):
        return items(data, at)
    if kind in (TRUE, FALSE):
        return kind == TRUE, at
    if kind in (BYTE, DOUBLE):
        return None, at + (1 if kind == BYTE else 8)
    raise ValueError(f"it has a field of kind {kind}")


def items(data: bytes, at: int) -> tuple[list[Any], int]:
    """Returns (items, offset after them) of a list, in which a truth value takes a byte."""
    count, kind = data[at] >> 4, data[at] & 15
    at += 1
    if count == 15:
        count, at = number(data, at)
    values = []
    for _ in range(count):
        item, at = value(data, at, BYTE if kind in (TRUE, FALSE) else kind)
        if at > len(data):
            raise ValueError("it is cut short")
        values.append(item)
    return values, at


def signed(data: bytes, at: int) -> tuple[int, int]:
    """Returns (number, offset after it) of a whole number whose last bit is its sign."""
    zigzag, at = number(data, at)
    return (zigzag >> 1) ^ -(zigzag & 1), at


def number(data: bytes, at: int) -> tuple[int, int]:
    """Returns (number, offset after it): seven bits a byte, the lowest first, in ten bytes at most."""
    if data[at] < 128:
        return data[at], at + 1
    bits, shift = data[at] & 0x7F, 7
    while data[at] & 0x80:
        at += 1
        bits |= (data[at] & 0x7F) << shift
        shift += 7
        if shift > 70:
            raise ValueError("it has a number of more than 64 bits")
    return bits, at + 1
