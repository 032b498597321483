"""How sections name questions and outcomes: link targets, subtitles, outcomes in words."""

from __future__ import annotations

from suite.results.analysis import Comparison
from suite.sets.rows import Row
from suite.verdicts.names import DETAILS, details, dims_words, slug


def link_target(kind: str, name: str, id_: str) -> str:
    """Returns the anchor of a question in the parts of a `kind`: `c-gemm-forward-1a2b3c4d`."""
    return f"{kind}-{slug(name)}-{id_[:8]}"


def comparison_anchor(comparison: Comparison) -> str:
    return link_target("c", comparison.name, comparison.id)


def panel_anchor(comparison: Comparison, stack: str) -> str:
    return f"{comparison_anchor(comparison)}--{stack.replace('@', '-')}"


def subtitle(head: Row) -> str:
    """Returns `n = 1,024 · full · f32 · cpu · default track · cold cache · 2 cores`; `head` is any row of the
    question."""
    hidden = {"limit_memory_bytes"} if head.number("limit_memory_bytes") is None else set()
    hidden |= {"allocator"} if head["allocator"] != "system" else set()
    hidden |= {"device"} if head["device"] == head["target"] else set()
    parts = [dims_words(head.mapping("dims")), *details(head, [name for name in DETAILS if name not in hidden])]
    return " · ".join(filter(None, parts))
