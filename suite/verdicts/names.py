"""Names a set's questions, by workload, pass and the columns in which they differ."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from suite.sets.rows import Row
from suite.units import quantity

# Columns that a name leaves out where the whole set has one value.
DETAILS = ("size", "precision", "target", "device", "track", "cache", "threads", "limit_memory_bytes", "allocator")
WORDS = {
    "cache": "{} cache",
    "threads": "on {}",
    "track": "{} track",
    "limit_memory_bytes": "limit {}",
    "allocator": "{} allocator",
}
# Products, convolutions and attention are bfloat16 in every framework; each chooses the precision of all other code.
PRECISION_WORDS = {"bf16": "bf16 (each framework's own mixed precision)"}


def question_names(heads: Sequence[Row], without: str = "") -> dict[str, str]:
    """Returns {comparison_id: readable name}: workload, pass, and those details that vary. `heads` has a row of each
    question; `without` is a column that isn't part of the question.

    If the set has a precision that isn't the same arithmetic on every stack, every name has its precision.
    """
    always = {"precision"} if any(head.text("precision") in PRECISION_WORDS for head in heads) else set()
    varying = [name for name in DETAILS if name in always or len({head.text(name) for head in heads}) > 1]
    first = [name for name in ("workload", "pass") if name != without]
    rest = [name for name in varying if name != without]
    plain = {head["comparison_id"]: " ".join([*map(head.text, first), *details(head, rest)]) for head in heads}
    dims = {head["comparison_id"]: dims_words(head.mapping("dims")) for head in heads}
    sized = {key: f"{name} ({dims[key]})" for key, name in plain.items()}
    names = {key: name if times == 1 else sized[key] for key, name, times in counted(plain)}
    return {key: name if times == 1 else f"{name} {key[:8]}" for key, name, times in counted(names)}


def slug(name: str) -> str:
    """Returns a name with only lower-case letters, digits and dashes. The names in a set may be any text."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def counted(names: Mapping[str, str]) -> list[tuple[str, str, int]]:
    """Returns (key, name, number of keys with this name) of each key."""
    times = Counter(names.values())
    return [(key, name, times[name]) for key, name in names.items()]


def details(row: Row, names: Sequence[str]) -> list[str]:
    """Returns the columns `names` of a question in words: `full`, `f32`, `warm cache`, `on 4 cores`."""
    values = {name: row.text(name) for name in names}
    if "threads" in values:
        values["threads"] += " core" if values["threads"] == "1" else " cores"
    if "precision" in values:
        values["precision"] = precision_words(row)
    if "limit_memory_bytes" in values:
        values["limit_memory_bytes"] = quantity(row.number("limit_memory_bytes"))
    return [WORDS.get(name, "{}").format(value) for name, value in values.items()]


def measured_at(head: Row) -> str:
    """Returns at which size and precision a question was measured: `quick: n = 1,024; f32`."""
    dims = dims_words(head.mapping("dims"))
    return f"{head.text('size')}{f': {dims}' if dims else ''}; {precision_words(head)}"


def precision_words(row: Row) -> str:
    """Returns the precision in words; bf16 says that it isn't the same arithmetic in every framework."""
    return PRECISION_WORDS.get(row.text("precision"), row.text("precision"))


def dims_words(dims: Mapping[str, int], without: Collection[str] = ()) -> str:
    """Returns dims as text: `n = 1,024, tokens = 64`."""
    return ", ".join(f"{name} = {value:,}" for name, value in dims.items() if name not in without)
