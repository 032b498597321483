"""The run: blocks of fresh processes in shuffled order, noise watched, every planned case a row."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any
from typing import Protocol as Interface

from suite.case import Attempt, Flag, Purpose
from suite.machine import noise
from suite.results.speedup.verdicts import Pairing
from suite.results.store.result_set import ResultSet
from suite.results.store.rows import Row
from suite.run import frontier
from suite.run.runner import Runner


class Listener(Interface):
    """What a run tells while it goes on; the console implements it. Called between processes only."""

    def block_starts(self, number: int, blocks: int, attempts: int) -> None:
        """A block of so many attempts begins."""

    def attempt_starts(self, attempt: Attempt) -> None:
        """A process is about to start."""

    def attempt_ends(self, row: Row) -> None:
        """An attempt has become a row."""

    def note(self, text: str) -> None:
        """Something that a person should know."""


@dataclass
class Session:
    """One run of a plan into a result set, from the start or from where an earlier one stopped."""

    runner: Runner
    listener: Listener
    again: frozenset[str] = frozenset()

    @property
    def store(self) -> ResultSet:
        """Where the rows go."""
        return self.runner.store

    def run(self) -> list[Row]:
        """Every block of the plan, as many more as their spread asks for, or its memory processes; what is compiled and
        what explains them; then the merged rows."""
        self.mend()
        if self.runner.plan.purpose is Purpose.TIMED:
            self.blocks()
        self.outside(self.runner.plan.memory)
        if self.runner.plan.vary:
            frontier.search(self.runner, self.attempt, self.again)
        self.outside(self.runner.plan.probes)
        self.outside(self.runner.plan.programs)
        self.outside(self.runner.plan.explanations)
        self.outside(self.runner.plan.profiles)
        self.store.clear_caches()
        return self.store.commit()

    def blocks(self) -> None:
        """Those of the first stage, then of the second."""
        first = self.runner.plan.protocol.blocks
        for number in range(1, first + 1):
            self.block(number, first)
        last = self.blocks_needed()
        for number in range(first + 1, last + 1):
            self.block(number, last)

    def blocks_needed(self) -> int:
        """The second stage: blocks for an interval as narrow as the tie band, by the first stage's spread."""
        plan = self.runner.plan
        first, most = plan.protocol.blocks, plan.protocol.blocks_max
        if most <= first:
            return first
        rows = (row for row in self.store.merged() if row["block"] <= first)
        return Pairing.of(rows, plan.protocol).blocks_needed(plan.baseline)

    def block(self, number: int, of: int) -> None:
        """One block until it is accepted: noise retries it, a finished one isn't run again."""
        while not any(block.accepted for block in self.tries(number)):
            retry = self.store.next_retry(number)
            record = self.run_block(number, retry, of)
            last = len(self.tries(number)) >= self.runner.plan.protocol.noisy_retries
            record["verdict"] = "accepted" if last or not record["reasons"] else "rejected"
            self.store.write_block(number, retry, record)
            if record["reasons"]:
                fate = "kept, flagged" if last else "kept apart and run again"
                self.listener.note(f"Block {number} was noisy: {'; '.join(record['reasons'])}; {fate}.")

    def tries(self, number: int) -> list[Any]:
        """The complete runs of one block so far."""
        return [block for block in self.store.blocks() if block.block == number]

    def run_block(self, number: int, retry: int, of: int) -> dict[str, Any]:
        """Every attempt of one block; its record of noise."""
        attempts = self.runner.plan.block(number, retry)
        cores = len(self.runner.cores)
        self.listener.block_starts(number, of, len(attempts))
        started = now()
        before = noise.look(cores)
        for _, question in groupby(attempts, key=lambda attempt: attempt.case.comparison_id):
            self.question([*question])
        after = noise.look(cores)
        record = noise.compare(before, after, self.runner.plan.protocol)
        return record | {"started_at": started, "ended_at": now()}

    def question(self, attempts: Sequence[Attempt]) -> None:
        """The processes of one question in a block; those that were disturbed to the end once more, beside a baseline
        of their own, since the block's others are some minutes away by then."""
        plan = self.runner.plan
        rows = [self.attempt(attempt) for attempt in attempts]
        baseline = next((each for each in attempts if each.case.stack_name == plan.baseline), None)
        replicate = max(each.replicate for each in attempts)
        for _ in range(plan.protocol.disturbed_retries):
            places = {row.place[:3] for row in rows if Flag.DISTURBED in row["flags"]}
            if not places:
                return
            again = [each for each in attempts if each.key[:3] in places]
            self.listener.note(f"Processes from which others took the cores, measured once more: {len(places)}.")
            if baseline is not None and plan.twin:
                replicate += 1
                again.insert(len(again) // 2, replace(baseline, replicate=replicate))
            retry = self.store.next_retry(attempts[0].block)
            rows = [self.attempt(replace(each, retry=retry), again=True) for each in again]
            attempts = again

    def attempt(self, planned: Attempt, again: bool = False) -> Row:
        """One attempt, told before and after."""
        self.listener.attempt_starts(planned)
        row = self.runner.run(planned, again)
        self.listener.attempt_ends(row)
        return row

    def outside(self, planned: Callable[[int], list[Attempt]]) -> None:
        """Processes outside the blocks, once each: those that a resumed set has are done, but for what the harness lost
        or `--again` names."""
        rows = {(row["case_id"], row["purpose"]): row for row in self.store.read()[0] if not row["block"]}
        for attempt in planned(self.store.next_retry(0)):
            row = rows.get((attempt.case.case_id, str(attempt.purpose)))
            if row is None or self.is_lost(row, since=1):
                self.attempt(attempt, again=row is not None)

    def mend(self) -> None:
        """On resume: run again what the harness lost or `--again` names; name damaged files."""
        rows, damaged = self.store.read()
        for path in damaged:
            self.listener.note(f"{path.name} is damaged: set aside in {path.parent}, its case is run again.")
        last = {key(row): row for row in sorted(rows, key=lambda row: int(row["retry"]))}
        for row in last.values():
            self.runner.remember(row)
        for block in (block for block in self.store.blocks() if block.accepted):
            planned = self.runner.plan.block(block.block, block.retry)
            gone = {attempt.key[:3] for attempt in planned if self.is_lost(last.get(attempt.key[:4]), block.retry)}
            # A warm case goes with the process that fills its caches: without it, it would be measured cold.
            lost = [attempt for attempt in planned if attempt.key[:3] in gone]
            if lost:
                self.listener.block_starts(block.block, self.runner.plan.protocol.blocks, len(lost))
                retry = self.store.next_retry(block.block)
                for attempt in lost:
                    self.attempt(replace(attempt, retry=retry), again=True)

    def is_lost(self, row: Row | None, since: int) -> bool:
        """Whether a planned attempt of a block finished by retry `since` has no row that stands."""
        return row is None or row["retry"] < since or Flag.HARNESS in row["flags"] or row["outcome"] in self.again


def key(row: Row) -> tuple[Any, ...]:
    """What a planned attempt is known by, whichever try it was."""
    return row["case_id"], row["block"], row["replicate"], row["purpose"]


def now() -> str:
    """The time in UTC, readable."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
