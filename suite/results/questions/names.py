"""What a question is called beside the others of its set: only what tells one from another."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from suite.results.store.rows import Row
from suite.units import quantity

# What a name leaves out where it is the same in the whole set.
DETAILS = ("size", "precision", "target", "device", "track", "cache", "threads", "limit_memory_bytes", "allocator")
WORDS = {
    "cache": "{} cache",
    "threads": "{} cores",
    "track": "{} track",
    "limit_memory_bytes": "limit {}",
    "allocator": "{} allocator",
}
# Products, convolutions and attention are bfloat16 in every framework; what stands between them is its own affair.
PRECISION_WORDS = {"bf16": "bf16 (each framework's own mixed precision)"}


def question_names(heads: Sequence[Row], without: str = "") -> dict[str, str]:
    """A readable name by comparison_id: workload and pass, and of the rest what varies. `heads`: a row of each;
    `without`: the column that isn't part of the question.

    A precision that isn't the same arithmetic on every stack is said always.
    """
    always = {"precision"} if any(head.text("precision") in PRECISION_WORDS for head in heads) else set()
    varying = [name for name in DETAILS if name in always or len({head.text(name) for head in heads}) > 1]
    asked = [name for name in ("workload", "pass") if name != without]
    told = [name for name in varying if name != without]
    plain = {head["comparison_id"]: " ".join([*map(head.text, asked), *details(head, told)]) for head in heads}
    dims = {head["comparison_id"]: dims_words(head.mapping("dims")) for head in heads}
    sized = {key: f"{name} ({dims[key]})" for key, name in plain.items()}
    names = {key: name if once(name, plain) else sized[key] for key, name in plain.items()}
    return {key: name if once(name, names) else f"{name} {key[:8]}" for key, name in names.items()}


def once(name: str, names: Mapping[str, str]) -> bool:
    """Whether nothing else is called so."""
    return list(names.values()).count(name) == 1


def details(row: Row, names: Sequence[str]) -> list[str]:
    """Columns of the question in words: `full`, `f32`, `warm cache`, `4 cores`."""
    values = {name: row.text(name) for name in names}
    if "precision" in values:
        values["precision"] = precision_words(row)
    if "limit_memory_bytes" in values:
        values["limit_memory_bytes"] = quantity(row.number("limit_memory_bytes"))
    return [WORDS.get(name, "{}").format(value) for name, value in values.items()]


def precision_words(row: Row) -> str:
    """`f32`; of bf16 also that it isn't the same arithmetic everywhere."""
    return PRECISION_WORDS.get(row.text("precision"), row.text("precision"))


def dims_words(dims: Mapping[str, int], without: Collection[str] = ()) -> str:
    """`n = 1,024, tokens = 64`."""
    return ", ".join(f"{name} = {value:,}" for name, value in dims.items() if name not in without)
