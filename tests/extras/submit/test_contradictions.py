"""What a run makes contradicts itself nowhere, however its processes end."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from suite.extras.submit.contradictions import contradictions
from suite.machine import facts
from suite.results import Results, load
from suite.sets.result_set import ResultSet
from tests.pipeline import make_plan, make_session

NOISE = {"canary_drift_max": 0.05, "steal_share_max": 0.01}  # as a real run has it
KINDS: dict[str, dict[str, Any]] = {
    "every ending": {"scenes": ("calm", "wrong", "raise", "segfault", "unsupported", "recompile"), "blocks": 1},
    "a twin and warm caches": {"scenes": ("calm",), "twin": True, "caches": ("cold", "warm"), "blocks": 1},
    "in turn, until decided": {
        "scenes": ("calm",),
        "sampling": "rounds",
        "until": "decided",
        "blocks": 3,
        "looks_max": 4,
    },
}


def measured(folder: Path, scenes: tuple[str, ...], **options: Any) -> ResultSet:
    stacks = ("fake",) if len(scenes) > 1 else ("fake", "fake@slow")
    options |= {"blocks_max": options["blocks"], **NOISE}
    session = make_session(folder, make_plan(scenes, stacks, **options))
    store = session.store
    store.machine = facts.machine()
    store.ceilings = [{"side": 1024, "flops_per_second": 1e11, "threads": len(store.plan_file.cores)}]
    session.run()
    return store


@pytest.mark.parametrize("kind", KINDS)
def test_an_honest_set_contradicts_itself_nowhere(tmp_path: Path, kind: str) -> None:
    store = measured(tmp_path / "set", **KINDS[kind])
    results = load(store.folder)
    assert results.rows
    of_locks: Results = replace(results, rows=[row | {"lock_sha256": None} for row in results.rows])  # it has none
    assert contradictions(of_locks, store.plan_file, store.blocks()) == []
    assert contradictions(replace(of_locks, rows=of_locks.rows[1:]), store.plan_file, store.blocks())
