"""Thrift's compact protocol, as far as Parquet's footers and page headers need it: bytes to fields by number.

Arrow's own readers of these end the whole process for some damaged ones, and say nothing of single pages.
"""

from __future__ import annotations

from typing import Any

TRUE, FALSE, BYTE, SHORT, LONG, DOUBLE, BINARY, LIST, SET, STRUCT = 1, 2, 3, 4, 6, 7, 8, 9, 10, 12

Fields = dict[int, Any]


def struct(data: bytes, at: int = 0) -> tuple[Fields, int]:
    """(fields by number, where they end). Raises ValueError for what is no struct, or has a field twice."""
    try:
        return fields_at(data, at)
    except IndexError:
        raise ValueError("it is cut short") from None
    except RecursionError:
        raise ValueError("it is too deep") from None


def fields_at(data: bytes, at: int) -> tuple[Fields, int]:
    """One struct, up to the byte that ends it."""
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
        if SHORT <= kind <= LONG and data[at] < 128:  # nearly all: a footer has 5,000, and history reads 200 footers
            fields[last], at = (data[at] >> 1) ^ -(data[at] & 1), at + 1
        else:
            fields[last], at = value(data, at, kind)
    return fields, at + 1


def value(data: bytes, at: int, kind: int) -> tuple[Any, int]:
    """One field's."""
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
    """A list's; a truth value takes a byte there."""
    count, kind = data[at] >> 4, data[at] & 15
    at += 1
    if count == 15:
        count, at = number(data, at)
    found = []
    for _ in range(count):
        item, at = value(data, at, BYTE if kind in (TRUE, FALSE) else kind)
        if at > len(data):
            raise ValueError("it is cut short")
        found.append(item)
    return found, at


def signed(data: bytes, at: int) -> tuple[int, int]:
    """A whole number whose last bit is its sign."""
    found, at = number(data, at)
    return (found >> 1) ^ -(found & 1), at


def number(data: bytes, at: int) -> tuple[int, int]:
    """Seven bits a byte, the least first, ten bytes at most."""
    if data[at] < 128:
        return data[at], at + 1
    found, shift = data[at] & 0x7F, 7
    while data[at] & 0x80:
        at += 1
        found |= (data[at] & 0x7F) << shift
        shift += 7
        if shift > 70:
            raise ValueError("it has a number of more than 64 bits")
    return found, at + 1
