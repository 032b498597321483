"""How sections name questions and outcomes: link targets, subtitles, outcomes in words."""

from __future__ import annotations

import re
from collections.abc import Collection

from suite.case import phase_words
from suite.results.analysis import Analysis, Comparison
from suite.results.names import DETAILS, details, dims_words
from suite.results.outcomes import Cell
from suite.results.store.rows import IMPLAUSIBLE, NOT_RUN, Row
from suite.stacks.catalog import STACKS

WORDS = {
    "ok": "ok",
    "oom_host": "out of host memory",
    "oom_device": "out of device memory",
    "oom_compile": "out of memory compiling",
    "timeout": "timeout",
    "unsupported": "unsupported",
    "wrong": "wrong result",
    "differ": "results differ",
    "error": "error",
    "crashed": "crashed",
    NOT_RUN: "not run",
    IMPLAUSIBLE: "implausibly fast",
}
WITHOUT_PHASE = ("ok", "unsupported", "wrong", "differ", IMPLAUSIBLE)  # outcomes whose phase says nothing


def outcome_words(outcome: str, phase: str) -> str:
    """Returns `out of host memory in the first run`; without the phase where it says nothing."""
    words = WORDS.get(outcome, outcome)
    return f"{words} {phase_words(phase)}" if phase and outcome not in WITHOUT_PHASE else words


def outcome_text(cell: Cell) -> str:
    """Returns `ok` or `timeout in the first run`; if other processes ended ok, `wrong result, 1 of 3`."""
    share = f", {cell.total - cell.ok} of {cell.total}" if 0 < cell.ok < cell.total else ""
    return f"{outcome_words(cell.outcome, cell.phase)}{share}"


def left_out(comparison: Comparison, shown: Collection[str]) -> tuple[str, ...]:
    """Returns `torch_xla on selu train (wrong result)` for each stack of a question that a table doesn't show."""
    return tuple(
        f"{cell.stack} on {comparison.name} ({'has no such figure' if cell.counts else outcome_text(cell)})"
        for cell in comparison.cells
        if cell.stack not in shown
    )


def link_target(kind: str, name: str, id_: str) -> str:
    """Returns the anchor of a question in the parts of a `kind`: `c-gemm-forward-1a2b3c4d`."""
    return f"{kind}-{re.sub(r'[^a-z0-9]+', '-', name.lower()).strip('-')}-{id_[:8]}"


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


def compared_stacks(analysis: Analysis) -> tuple[str, ...]:
    """Returns the stacks of all comparisons in the catalogue's order, which keeps dialects together; stacks that the
    catalogue doesn't have come last."""
    return tuple(
        sorted({cell.stack for comparison in analysis.comparisons for cell in comparison.cells}, key=catalogue_order)
    )


def catalogue_order(stack: str) -> tuple[int, str]:
    """Returns the sort key of a stack: its place in the catalogue, then its name."""
    order = {name: place for place, name in enumerate(STACKS)}
    return order.get(re.split("[@:]", stack)[0], len(order)), stack
