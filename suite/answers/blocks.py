"""Each run of a block, with its readings of noise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from suite import units
from suite.answers.answer import Answer, answer
from suite.answers.facts import as_text
from suite.answers.noise import noisy_blocks
from suite.results.columns import in_order
from suite.results.frame import Frame

READ = ("load_before", "load_after", "mhz_before", "mhz_after")


@answer("Blocks", heading="Blocks and their noise", terms=("block", "canary"), grows=False, in_markdown=False)
def blocks(frame: Frame) -> Answer | None:
    """A fixed computation (the canary) runs before and after each block. A noisy block is run again if the protocol
    allows it; the last run counts even if it is noisy, and its rows are flagged noisy."""
    read = noisy_blocks(frame.results.blocks)
    if read is None:
        return None
    protocol = frame.protocol
    drift, steal = units.percent(protocol.canary_drift_max), units.percent(protocol.steal_share_max)
    return Answer(
        f"{read.found} exceeded a noise limit.",
        pl.DataFrame(list(map(line, frame.results.blocks)), infer_schema_length=None).sort(
            in_order("shard"), "block", "run"
        ),
        also=[f"Drift over {drift}, stolen time over {steal} or throttling marks a block noisy."],
        on_console=False,
    )


def line(record: Mapping[str, Any]) -> dict[str, Any]:
    """Returns one run of a block; its `drift` is how much slower the canary was after it than before, as a share."""
    canary: Sequence[float | None] = record.get("canary_seconds") or ()
    before, after, *_ = [*canary, None, None]
    verdict = str(record.get("verdict", "unknown"))
    return {
        "block": int(record["block"]),
        "run": int(record["retry"]),
        "shard": str(record.get("shard", "")),
        "counted": verdict,
        "canary_before_seconds": before,
        "canary_after_seconds": after,
        "drift": after / before - 1 if before and after is not None else None,
        "steal_share": record.get("steal_share"),
        "throttled": as_text(record.get("throttled")),
        **{name: record.get(name) for name in READ},
        "started_at": str(record.get("started_at") or "")[:19].replace("T", " "),
        "reasons": "; ".join(map(str, record.get("reasons") or ())),
    }
