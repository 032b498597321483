"""Runs a plan: blocks of fresh processes in shuffled order. It watches the noise of each block, and every planned case
gets a row."""

from __future__ import annotations

import datetime
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any
from typing import Protocol as Interface

from suite.case import OUTSIDE_BLOCKS, Attempt, Flag, Outcome, Purpose
from suite.machine import noise
from suite.plan import layout
from suite.run import frontier, sudden
from suite.run.ceilings import hold_against_programs
from suite.run.looks import look
from suite.run.rounds import ROUNDS, Rounds, fresh_baseline
from suite.run.runner import Runner
from suite.run.side_by_side import side_by_side
from suite.sets.result_set import ResultSet
from suite.sets.rows import Row, counted
from suite.stacks.catalog import STACKS
from suite.verdicts.looks import Standing
from suite.verdicts.speedups import Pairing

AT_ONCE = 2  # processes of a check; more would need as many times the memory


class RunListener(Interface):
    """Shows the progress of a run, as the console does. It is called between processes only."""

    def expects(self, attempts: Sequence[Attempt]) -> None:
        """Called with processes that come. The same process may be announced several times."""

    def block_starts(self, number: int, blocks: int, attempts: int) -> None:
        """Called before a block of so many attempts."""

    def stands(self, block: int, standings: Sequence[Standing]) -> None:
        """Called after a block of a run until decided, with how its questions stand."""

    def attempt_starts(self, attempt: Attempt) -> None:
        """Called before a process starts."""

    def attempt_ends(self, row: Row) -> None:
        """Called with an attempt's row."""

    def note(self, text: str) -> None:
        """Shows a sentence that the user should know."""


@dataclass
class Session:
    """One run of a plan into a result set, from the start or from where an earlier one stopped."""

    runner: Runner
    listener: RunListener
    again: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        listener = self.listener
        self.told: set[str] = set()  # questions whose ports were spoken of
        self.rounds = Rounds(self.runner, listener.attempt_starts, listener.attempt_ends, self.attempt)

    @property
    def store(self) -> ResultSet:
        return self.runner.store

    def run(self) -> list[Row]:
        """Runs the blocks of the plan and as many more as its intervals need, then all processes outside the blocks.
        Returns the merged rows."""
        try:
            self.mend()
            return self.processes_of_plan()
        finally:
            sudden.over(self.store.folder)

    def processes_of_plan(self) -> list[Row]:
        if self.runner.plan.purpose is Purpose.TIMED:
            self.blocks()
        for purpose in OUTSIDE_BLOCKS:
            self.outside(purpose)
            searched = purpose is Purpose.PREDICT or purpose is self.runner.plan.purpose is Purpose.MEMORY
            if self.runner.plan.vary and searched:
                frontier.search(self.runner, self.attempt, purpose, self.again)
        for row in hold_against_programs(self.store, self.runner.too_fast):
            self.listener.attempt_ends(row)
        self.store.clear_caches()
        return self.store.commit()

    def blocks(self) -> None:
        if self.runner.plan.protocol.until_decided:
            self.blocks_until_decided()
            return
        first = self.runner.plan.protocol.blocks
        for number in range(1, first + 1):
            self.block(number, first)
        last = self.blocks_needed()
        for number in range(first + 1, last + 1):
            self.block(number, last)

    def blocks_needed(self) -> int:
        """Returns how many blocks make intervals as narrow as the tie band, by the spread of the blocks so far."""
        plan = self.runner.plan
        first, most = plan.protocol.blocks, plan.protocol.blocks_max
        if most <= first:
            return first
        rows = (row for row in self.store.merged() if row["block"] <= first)
        return Pairing.of(counted(rows), plan.protocol, plan.baseline).blocks_needed()

    def blocks_until_decided(self) -> None:
        """Runs blocks until every question is decided, or until another block would end too late."""
        protocol = self.runner.plan.protocol
        for number in range(1, protocol.looks_max + 1):
            if any(block.accepted for block in self.tries(number)):
                continue
            left = frozenset[str]()
            if number > 1:
                looked = look(self.store, number - 1)
                self.listener.stands(number - 1, looked.standings)
                if number > protocol.first_look:
                    if looked.is_over:
                        return
                    left = looked.left
                    if looked.waits:
                        self.listener.note(looked.waits)
            self.block(number, 0, left)

    def block(self, number: int, of: int, left: Collection[str] = ()) -> None:
        """Runs a block until it is accepted: a noisy one is run again, a finished one isn't."""
        while not any(block.accepted for block in self.tries(number)):
            retry = self.store.next_retry(number)
            record = self.run_block(number, retry, of, left)
            last = len(self.tries(number)) >= self.runner.plan.protocol.noisy_retries
            record["verdict"] = "accepted" if last or not record["reasons"] else "rejected"
            self.store.write_block(number, retry, record)
            if record["reasons"] and not self.runner.plan.protocol.at_once:  # nobody reads a check's times
                fate = "kept, flagged" if last else "kept apart and run again"
                self.listener.note(f"Block {number} was noisy: {'; '.join(record['reasons'])}; {fate}.")

    def tries(self, number: int) -> list[Any]:
        return [block for block in self.store.blocks() if block.block == number]

    def run_block(self, number: int, retry: int, of: int, left: Collection[str]) -> dict[str, Any]:
        attempts = layout.block(self.runner.plan, number, retry, left)
        cores = len(self.runner.cores)
        self.listener.expects(attempts)
        self.listener.block_starts(number, of, len(attempts))
        started = now()
        before = noise.look(cores)
        for _, question in groupby(attempts, key=lambda attempt: attempt.case.comparison_id):
            self.question([*question])
        after = noise.look(cores)
        record = noise.compare(before, after, self.runner.plan.protocol)
        unverified = self.runner.agreement.unverified()
        return record | {"started_at": started, "ended_at": now(), "unverified": unverified, "left": sorted(left)}

    def question(self, attempts: Sequence[Attempt]) -> None:
        """Runs the processes of one comparison in a block, and judges them by the majority of dialects."""
        case = attempts[0].case
        if case.workload not in self.told and not self.runner.plan.reason(case):
            for sentence in self.runner.ported(case).sentences:
                self.listener.note(sentence)
            self.told.add(case.workload)
        self.measure(attempts)
        self.judge(attempts)

    def judge(self, attempts: Sequence[Attempt]) -> None:
        """Judges by the majority of dialects: those that ran first couldn't be compared with those that ran later."""
        retry = self.store.next_retry(attempts[0].block)
        for row in self.runner.contradict(replace(attempt, retry=retry) for attempt in attempts):
            self.listener.attempt_ends(row)

    def measure(self, attempts: Sequence[Attempt]) -> None:
        """Runs the processes of one comparison, then runs those again that other programs disturbed to the end. A new
        process of the baseline runs beside them, since the block's own ran minutes before."""
        plan = self.runner.plan
        rows = self.processes(attempts)
        question = attempts
        # A run until decided has further blocks instead.
        for _ in range(0 if plan.protocol.until_decided else plan.protocol.disturbed_retries):
            places = {row.place[:3] for row in rows if Flag.DISTURBED in row["flags"]}
            if not places:
                return
            again = [attempt for attempt in attempts if attempt.key[:3] in places]
            self.listener.note(
                f"Other programs disturbed some processes; so many are measured once more: {len(places)}."
            )
            middle = len(again) // 2
            if plan.twin or self.in_rounds:
                again[middle:middle] = fresh_baseline(self.runner, question)
            retry = self.store.next_retry(attempts[0].block)
            self.listener.expects(again)
            rows = self.processes([replace(attempt, retry=retry) for attempt in again], again=True)
            attempts = again

    def processes(self, attempts: Sequence[Attempt], again: bool = False) -> list[Row]:
        """Runs the processes of one comparison, one after the other, in rounds or at once, and returns their rows."""
        if self.in_rounds:
            return self.rounds.take(attempts, again)
        if self.runner.plan.protocol.at_once:
            # Those first that compile for long, so that none of them runs alone at the end.
            longest = sorted(attempts, key=lambda attempt: -STACKS[attempt.case.stack].estimate_seconds)
            pairs = [(attempt, again) for attempt in longest]
            return self.at_once(pairs, min(AT_ONCE, len(self.runner.cores)))
        return [self.attempt(attempt, again) for attempt in attempts]

    def at_once(self, attempts: Sequence[tuple[Attempt, bool]], most: int) -> list[Row]:
        return side_by_side(self.runner.run, attempts, most, self.listener.attempt_starts, self.listener.attempt_ends)

    @property
    def in_rounds(self) -> bool:
        plan = self.runner.plan
        return plan.purpose is Purpose.TIMED and plan.protocol.sampling == ROUNDS

    def attempt(self, planned: Attempt, again: bool = False) -> Row:
        self.listener.attempt_starts(planned)
        row = self.runner.run(planned, again)
        self.listener.attempt_ends(row)
        return row

    def unfinished(self) -> list[Attempt]:
        """Returns the plan's processes that the set doesn't have yet, without those that `mend` runs again."""
        plan = self.runner.plan
        blocks = range(1, plan.protocol.blocks + 1) if plan.purpose is Purpose.TIMED else ()
        left = [number for number in blocks if not any(block.accepted for block in self.tries(number))]
        in_blocks = [attempt for number in left for attempt in layout.block(plan, number)]
        return in_blocks + [attempt for purpose in OUTSIDE_BLOCKS for attempt, _ in self.lacking(purpose)]

    def outside(self, purpose: Purpose) -> None:
        attempts = self.lacking(purpose)
        self.listener.expects([attempt for attempt, _ in attempts])
        if purpose is Purpose.PREDICT:
            self.at_once(attempts, self.runner.compiler.at_once)
            return
        # Names of libraries are all that is kept of such a process: nothing of it is timed.
        only_names = purpose is Purpose.EXPLAIN and not self.runner.plan.protocol.explain
        if only_names and self.runner.plan.purpose is Purpose.TIMED:
            self.at_once(attempts, min(AT_ONCE, len(self.runner.cores)))
            return
        for attempt, again in attempts:
            self.attempt(attempt, again)

    def lacking(self, purpose: Purpose) -> list[tuple[Attempt, bool]]:
        """Returns the processes of one purpose outside the blocks that must run, each with whether it is run again.
        Those that a resumed set has aren't run again, unless the harness lost them or `--again` names their outcome."""
        rows = {(row["case_id"], row["purpose"]): row for row in self.store.read()[0] if not row["block"]}
        attempts = []
        for attempt in layout.outside(self.runner.plan, purpose, self.store.next_retry(0)):
            row = rows.get((attempt.case.case_id, str(attempt.purpose)))
            if row is None or self.is_lost(row, since=1):
                attempts.append((attempt, row is not None))
        return attempts

    def mend(self) -> None:
        """Runs attempts again, on resume, that the harness lost or whose outcome `--again` names; reports damaged
        files."""
        rows, damaged = self.store.read()
        for path in damaged:
            self.listener.note(f"{path.name} is damaged. It was moved to {path.parent}, and its case is run again.")
        self.listener.expects(self.unfinished())  # not before: the first to read reports what is damaged
        last = {row.place: row for row in sorted(rows, key=lambda row: int(row["retry"]))}
        for row in last.values():
            self.runner.remember(row)
        suspect = sudden.suspect(self.store.folder)
        if suspect and Outcome.OOM_HOST not in self.again:
            row = self.runner.blank(suspect) | {"outcome": str(Outcome.OOM_HOST), "reason": sudden.REASON}
            last[row.place] = self.runner.keep(suspect, row)
            self.runner.settled[suspect.case.case_id] = row  # a prime's, too
            self.listener.attempt_ends(row)
        for block in (block for block in self.store.blocks() if block.accepted):
            planned = layout.block(self.runner.plan, block.block, block.retry, block.left)
            gone = {attempt.key[:3] for attempt in planned if self.is_lost(last.get(attempt.key[:4]), block.retry)}
            # A warm case is run again with the process that fills its caches: without that, it would be measured cold.
            lost = [attempt for attempt in planned if attempt.key[:3] in gone]
            if lost:
                self.listener.expects(lost)
                self.listener.block_starts(block.block, self.runner.plan.protocol.blocks, len(lost))
                retry = self.store.next_retry(block.block)
                for _, question in groupby(lost, key=lambda attempt: attempt.case.comparison_id):
                    attempts = [*question]
                    if self.in_rounds and not any(map(self.rounds.is_baseline, attempts)):
                        compared = attempts[0].case.comparison_id
                        others = [attempt for attempt in planned if attempt.case.comparison_id == compared]
                        attempts = [*fresh_baseline(self.runner, others), *attempts]
                    self.processes([replace(attempt, retry=retry) for attempt in attempts], again=True)
                    self.judge(attempts)

    def is_lost(self, row: Row | None, since: int) -> bool:
        """Whether a planned attempt must run again: it has no row, or only one from before the retry `since`; or the
        harness lost it; or `--again` names its outcome."""
        return row is None or row["retry"] < since or Flag.HARNESS in row["flags"] or row["outcome"] in self.again


def now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
