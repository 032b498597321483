"""Rows of a file that may be anybody's: what no process tells is refused when it is read, so that nobody after has to
expect it. Samples are looked at as columns, texts that are JSON against the types of what they hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypedDict

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from suite.case import Case, Outcome, Purpose
from suite.errors import UserError
from suite.ir.summary import Program
from suite.ir.timeline import Profile
from suite.results.store.rows import CLOCKS

TIMES = frozenset(f"{clock}_seconds" for clock in CLOCKS)  # of which ratios are formed
SECONDS = (1e-12, 1e12)  # no clock here says less or more
MOST = 1e24  # of any figure: a machine's operations a second have 15 digits
ANY = {"relative_error", "exit_code", "signal"}  # infinite where a result is; a signal's number with a minus


class Holder(TypedDict):
    """One thing that holds memory."""

    category: str
    name: str
    bytes: float


class Holders(TypedDict, total=False):
    """What the memory is made of."""

    told_by: str
    categories: dict[str, float]
    largest: list[Holder]


class Kernel(TypedDict):
    """A library that did work."""

    library: str
    isa: str | None
    calls: int | None
    seconds: float | None


Belief = TypedDict("Belief", {"class": str, "page": str})
Answer = TypedDict(
    "Answer",
    {
        "probe": str,
        "aspect": str,
        "title": str,
        "class": str,
        "words": str,
        "code": str,
        "documented": Belief | None,
        "primer": Belief | None,
    },
)
# By column; one that is empty or null says nothing.
TYPES: Mapping[str, Any] = {
    "dims": dict[str, int],
    "holders": Holders | None,
    "kernels": list[Kernel] | None,
    "programs": list[Program] | None,
    "profile": Profile | None,
    "behaviour": list[Answer] | None,
    "versions": dict[str, str | None] | None,
    "environment_facts": dict[str, Any] | None,
}
DECODERS = {name: msgspec.json.Decoder(kind) for name, kind in TYPES.items()}


def check_columns(table: pa.Table, name: str) -> None:
    """Raises ArrowInvalid for a time, a size or a share that nobody can have measured."""
    for field in table.schema:
        column = table[field.name]
        if pa.types.is_list(field.type):
            column = column.combine_chunks().flatten() if len(column) else pa.array([], field.type.value_type)
        number = pa.types.is_floating(column.type) or pa.types.is_integer(column.type)
        if not number or not len(column) or field.name in ANY:
            continue
        least, most = SECONDS if field.name in TIMES else (0.0, MOST)
        sound = pc.all(pc.and_(pc.less_equal(column, most), pc.greater_equal(column, least))).as_py()  # NaN is neither
        if sound is False:
            raise pa.ArrowInvalid(f"{name} has a {field.name} that nobody can have measured")


def check_row(row: Mapping[str, Any]) -> None:
    """Raises ValueError for a row of no case, or whose JSON isn't what its column holds."""
    for column, decoder in DECODERS.items():
        if text := row.get(column):
            try:
                decoder.decode(text)
            except (msgspec.ValidationError, msgspec.DecodeError, RecursionError) as broken:
                raise ValueError(f"{column}: {broken}") from None
    try:
        Case.of_row(row)
    except (UserError, TypeError) as broken:
        raise ValueError(f"a row of no case: {broken}") from None
    Outcome(row["outcome"]), Purpose(row["purpose"])
    for clock in ("synced", "pipelined", "fetch"):
        samples, others = row.get(f"{clock}_seconds"), row.get(f"{clock}_others")
        if others and len(others) != len(samples or ()):
            raise ValueError(f"{len(others)} shares of others beside {len(samples or ())} samples")
