"""Checks rows when a file is read, which may come from anywhere: later code needn't expect values that no process can
have written. Numbers are checked by column, JSON texts against the types of their content."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypedDict

import msgspec
from msgspec import Meta

from suite.case import Case, Outcome, Purpose
from suite.errors import UserError
from suite.ir.summary import Program
from suite.ir.timeline import Profile
from suite.predict.answer import Prediction
from suite.sets.rows import CLOCKS

if TYPE_CHECKING:
    import pyarrow as pa

TIMES = frozenset(f"{clock}_seconds" for clock in CLOCKS)  # ratios divide by them, so none may be 0
SECONDS = (1e-12, 1e12)  # the least and most that a time can be
MOST = 1e24  # the most that any figure can be: a machine's operations per second have 15 digits
ANY = {"relative_error", "exit_code", "signal"}  # an infinite result has an infinite error; codes may be negative


class HolderJson(TypedDict):
    """One tensor that holds memory, with its bytes."""

    category: str
    name: str
    bytes: float


class HoldersJson(TypedDict, total=False):
    """Content of the column holders: bytes by category, and the largest tensors."""

    told_by: str
    categories: dict[str, float]
    largest: list[HolderJson]


class KernelJson(TypedDict):
    """One library in the column kernels, with its instruction set, calls and seconds."""

    library: str
    isa: str | None
    calls: int | None
    seconds: float | None


class MetricJson(TypedDict):
    """One figure in the column metrics."""

    name: str
    unit: str
    kind: str
    values: list[float | Literal["nan", "inf", "-inf"]]


WebAddress = Annotated[str, Meta(pattern=r"^https?://")]
StatedJson = TypedDict("StatedJson", {"class": str, "page": WebAddress})
AnswerJson = TypedDict(
    "AnswerJson",
    {
        "probe": str,
        "aspect": str,
        "title": str,
        "class": str,
        "words": str,
        "code": str,
        "documented": StatedJson | None,
        "primer": StatedJson | None,
    },
)
# The type of each JSON column's content; an empty or null column isn't checked.
TYPES: Mapping[str, Any] = {
    "dims": dict[str, int],
    "holders": HoldersJson,
    "kernels": list[KernelJson],
    "programs": list[Program],
    "prediction": Prediction,
    "profile": Profile,
    "behaviour": list[AnswerJson],
    "metrics": list[MetricJson],
    "versions": dict[str, str | None],
    "environment_facts": dict[str, Any],
}
DECODERS = {name: msgspec.json.Decoder(kind) for name, kind in TYPES.items()}


def check_columns(table: pa.Table) -> None:
    """Raises ValueError for a time, a size or a share that can't have been measured."""
    import pyarrow as pa
    import pyarrow.compute as pc

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
            raise ValueError(f"it has a {field.name} that can't have been measured")


def check_row(row: Mapping[str, Any]) -> None:
    """Raises ValueError if a row's case, outcome or purpose is invalid, or its JSON isn't of its column's type."""
    for column, decoder in DECODERS.items():
        if text := row.get(column):
            try:
                decoder.decode(text)
            except (msgspec.ValidationError, msgspec.DecodeError, RecursionError) as broken:
                raise ValueError(f"{column}: {broken}") from None
    try:
        Case.of_row(row)
    except (UserError, TypeError) as broken:
        raise ValueError(f"a row's case is invalid: {broken}") from None
    Outcome(row["outcome"]), Purpose(row["purpose"])
    for clock in ("synced", "pipelined", "fetch"):
        samples, others = row.get(f"{clock}_seconds"), row.get(f"{clock}_others")
        if others and len(others) != len(samples or ()):
            raise ValueError(f"{clock}_others has {len(others)} shares for {len(samples or ())} samples")
    samples, rounds = row.get("synced_seconds"), row.get("synced_rounds")
    if rounds is not None and (len(rounds) != len(samples or ()) or not any(rounds) or None in rounds):
        raise ValueError(f"synced_rounds has {len(rounds)} numbers, not all 0, for {len(samples or ())} samples")
