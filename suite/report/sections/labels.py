"""How sections name questions and outcomes: link targets, subtitles, outcomes in words."""

from __future__ import annotations

from collections.abc import Collection

from suite.results.analysis import Comparison
from suite.results.names import DETAILS, details, dims_words, slug
from suite.sets.rows import Row


def link_target(kind: str, name: str, id_: str) -> str:
    """Returns the anchor of a question in the parts of a `kind`: `c-gemm-forward-1a2b3c4d`."""
    return f"{kind}-{slug(name)}-{id_[:8]}"


def comparison_anchor(comparison: Comparison) -> str:
    """Returns the anchor of a comparison's part in the section "Comparisons"."""
    return link_target("c", comparison.name, comparison.id)


def panel_anchor(comparison: Comparison, stack: str) -> str:
    """Returns the anchor of the panel behind a stack's cell on a comparison."""
    return f"{comparison_anchor(comparison)}--{stack.replace('@', '-')}"


def subtitle(head: Row, without: Collection[str] = ()) -> str:
    """Returns `n = 1,024 · full · f32 · cpu · default track · cold cache · 2 cores`. `head` is any row of the question;
    `without` names dims and columns to leave out."""
    hidden = {"limit_memory_bytes"} if head.number("limit_memory_bytes") is None else set()
    hidden |= {"allocator"} if head["allocator"] != "system" else set()
    hidden |= {"device"} if head["device"] == head["target"] else set()
    shown = [name for name in DETAILS if name not in hidden | {*without}]
    parts = [dims_words(head.mapping("dims"), without), *details(head, shown)]
    return " · ".join(part for part in parts if part)
