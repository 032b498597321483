"""The whole pipeline on the fake stack, in this interpreter: what the session's tests are built with."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from suite.cli.terminal.progress import Count
from suite.environments.locks import Locks
from suite.launch.local import Local
from suite.machine import facts
from suite.plan.planning import Selection, make
from suite.plan.preset import Preset, Question
from suite.protocol import Protocol
from suite.run.runner import Runner
from suite.run.session import Session
from suite.run.start.engines import Choice
from suite.run.start.run import Run, describe
from suite.sets.plan import Plan
from suite.sets.result_set import ResultSet
from suite.sets.rows import Row
from suite.stacks import catalog
from suite.workloads.catalog import find
from tests.launch.programs import HUNG_SECONDS
from tests.scenes import FAKE, SCENARIOS

QUICK = {
    "samples_min": 20,
    "seconds_min": 0.01,
    "samples_max": 60,
    "noisy_retries": 0,
    "blocks": 1,
    "blocks_max": 1,
    "canary_drift_max": 1e9,
    "steal_share_max": 1.0,
    "timeout_seconds": HUNG_SECONDS,
    "disturbed_retries": 0,
    "replaced_seconds_max": 0.0,
}


@dataclass
class Heard:
    """A listener that remembers."""

    rows: list[Row] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    interrupt_after: int | None = None
    count: Count = field(default_factory=Count)
    counted: list[tuple[int, int]] = field(default_factory=list)  # after each row: n of how many

    def expects(self, attempts: Any) -> None:
        self.count.expect(attempts)

    def block_starts(self, number: int, blocks: int, attempts: int) -> None:
        """Nothing to remember."""

    def stands(self, block: int, standings: Any) -> None:
        """Nothing to remember."""

    def attempt_starts(self, attempt: Any) -> None:
        self.count.start(attempt)

    def attempt_ends(self, row: Row) -> None:
        self.rows.append(row)
        self.count.end(row)
        self.counted.append((self.count.ended, self.count.total))
        if self.interrupt_after == len(self.rows):
            raise KeyboardInterrupt

    def note(self, text: str) -> None:
        self.notes.append(text)


def make_plan(
    scenes: tuple[str, ...],
    stacks: tuple[str, ...] = ("fake",),
    twin: bool = False,
    caches: tuple[str, ...] = ("cold",),
    limit: int | None = None,
    set_id: str = "set",
    workload: str = "story",
    **protocol: Any,
) -> Plan:
    """A plan of scenes on fake stacks, which the catalogue has until the end of the test."""
    catalog.add([FAKE])
    preset = Preset(
        name="test",
        path=Path("test.toml"),
        title="test",
        size="calm",
        baseline=stacks[0],
        stacks=stacks,
        twin=twin,
        questions=tuple(Question(workload, "forward", scene) for scene in scenes),
        protocol=Protocol(**(QUICK | protocol)),
    )
    selection = Selection(threads=(1,), caches=caches, limits=() if limit is None else (limit,))
    return make(set_id, preset, selection, find([SCENARIOS]), None, lambda *_: None)


def make_session(folder: Path, plan: Plan, heard: Heard | None = None, again: frozenset[str] = frozenset()) -> Session:
    """A session for a plan in a folder: new, or resumed if the folder is there."""
    if folder.exists():
        store = ResultSet.open(folder)
    else:
        run = Run(
            plan=plan,
            workloads=find([SCENARIOS]),
            workload_paths=(SCENARIOS,),
            locks=Locks("cpu"),
            engine=Choice("local", "Engine: local."),
            python=None,
        )
        store = ResultSet.create(folder, describe(run, ["run"]))
    runner = Runner(
        plan,
        store,
        find([SCENARIOS]),
        lambda attempt: Local(Path(sys.executable), "lock"),
        facts.machine_id(),
        facts.usable_cores(),
    )
    return Session(runner, heard or Heard(), again)


def run_scenes(tmp_path: Path, *scenes: str, **options: Any) -> dict[str, dict[str, Any]]:
    """Rows by scene of one block on the fake stack."""
    plan = make_plan(scenes, **options)
    rows = make_session(tmp_path / "set", plan).run()
    return {row["size"]: row for row in rows}
