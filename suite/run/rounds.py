"""Runs the processes of a comparison in rounds: they are prepared (import, build, place) several at once, each is
warmed up while the others hold (wait for an order), then they are sampled in turn. Their gates, which nobody times, are
several at once again.

A shared machine changes its pace for seconds at a time. So the processes of a comparison are sampled within seconds of
each other, again and again: docs/why/method.md has the rules.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from suite.case import OUT_OF_MEMORY, Attempt, Purpose
from suite.launch.attempt import limits_of, spare_bytes
from suite.launch.insist import insist
from suite.plan.layout import is_base
from suite.protocol import ALONE, FULL, MORE, REST
from suite.reference.floor import floor
from suite.run.member import Member
from suite.run.runner import Runner
from suite.sets.rows import Row

ROUNDS = "rounds"  # the protocol's word
# Each process that is prepared beside others must find so much memory, or so many times what it is known to need: of
# steps only the tensors may be known, and a gate takes more than they do.
ROOM_BYTES, ROOM = 2 << 30, 3
PREPARATION = ("import_seconds", "device_seconds", "build_seconds", "place_seconds")  # columns


@dataclass
class Rounds:
    """Runs the processes of one comparison in rounds. `starts` and `ends` are called for each process; `alone` runs a
    process by itself."""

    runner: Runner
    starts: Callable[[Attempt], None]
    ends: Callable[[Row], None]
    alone: Callable[[Attempt, bool], Row]
    again: bool = False
    rows: list[Row] = field(default_factory=list)
    is_company: bool = False  # whether the processes that were started last have taken turns
    members: list[Member] = field(default_factory=list)  # in the order of their starts, until they have ended
    groups: list[list[Member]] = field(default_factory=list)  # those that were prepared at once
    left: list[Attempt] = field(default_factory=list)  # attempts that didn't fit into memory beside the others
    number: int = 0  # of the last round; no two rounds of a comparison have the same, whichever processes take part
    peaks: dict[str, int] = field(default_factory=dict)  # bytes that a case is known to need

    def take(self, attempts: Sequence[Attempt], again: bool = False) -> list[Row]:
        """Runs the attempts of one comparison and returns their rows. Those that fit into memory together run in
        rounds. Each of the rest runs in rounds with a new process of the baseline, or alone if it doesn't fit beside
        the baseline."""
        self.again, self.rows, self.left, self.number = again, [], [], 0
        self.together(attempts)
        waiting, self.left = self.left, []
        if not self.is_company or any(map(self.is_baseline, waiting)):
            self.one_by_one(waiting)
            return self.rows
        for attempt in waiting:
            self.together([*fresh_baseline(self.runner, attempts), attempt])
            self.one_by_one(self.left)
            self.left = []
        return self.rows

    def together(self, attempts: Sequence[Attempt]) -> None:
        """Starts the processes and lets each warm up and hold. Runs the rounds. Then lets the processes end."""
        try:
            waiting = [*attempts]
            while waiting:
                count = self.at_once(waiting)
                self.start(waiting[:count], len(attempts))
                del waiting[:count]
            self.is_company = len(self.members) > 1 and not any(map(self.is_baseline, self.left))
            held = [*self.members]
            if self.is_company:
                self.rounds(attempts[0])
            self.finish(REST if self.is_company else ALONE)
            for member in held:
                if member in self.members:
                    self.end(member, len(held) if self.is_company else None)
        finally:
            stops = [member.stop for member in self.members]
            self.members.clear()
            self.groups.clear()
            insist(*stops)

    def at_once(self, waiting: Sequence[Attempt]) -> int:
        """Returns how many of the waiting processes are prepared at once: one for each core, but only as many as find
        room in memory; or up to two for each core, as many as find twice that room."""
        cores = len(self.runner.cores)
        needs = [member.needed_bytes for member in self.members] + [*map(self.known_bytes, waiting[: 2 * cores])]
        fit = self.spare_bytes() // max(ROOM_BYTES, ROOM * max(needs))
        return min(len(waiting), max(1, min(cores, fit), min(2 * cores, fit // 2)))

    def known_bytes(self, attempt: Attempt) -> int:
        """Returns the bytes that a case is known to need, by its peak in an earlier block, else by its tensors."""
        case = attempt.case
        return self.peaks.get(case.case_id) or floor(self.runner.workloads[case.workload], case.dims, case.pass_).total

    def start(self, attempts: Sequence[Attempt], company: int) -> None:
        """Starts processes at once. Once all are prepared, each in turn makes its first calls, warms up and holds. A
        case that needs no process gets its row; a process that doesn't fit into memory is left for later."""
        share = self.spare_bytes() // len(attempts)
        started: list[Member] = []
        self.groups.append(started)
        for attempt in attempts:
            if attempt.purpose is Purpose.PRIME:
                self.rows.append(self.alone(attempt, self.again))
                continue
            known = self.runner.without_process(attempt, self.again)
            if known is None and not self.fits(attempt):
                self.left.append(attempt)
                continue
            self.starts(attempt)
            if known is not None:
                self.keep(attempt, known)
                continue
            limits = limits_of(attempt, self.runner.plan.protocol)
            if self.members or len(attempts) > 1:
                limits = replace(limits, memory_bytes=min(limits.memory_bytes or spare_bytes(), share))
            started.append(Member(self.runner.prepare(attempt, limits, company)))
            self.members.append(started[-1])
        for ready in (Member.holds, Member.warm_up):  # nothing is timed before all are prepared
            for member in started:
                if member in self.members and not ready(member):
                    self.end(member, None)

    def finish(self, order: str) -> None:
        """Lets the processes end, the last one first, because its memory limit is what the processes before it left.
        Each takes its last samples alone; then those that were started at once are gated at once, one for each core."""
        for member in reversed(self.members):
            member.go_on(order)
            member.holds()
        cores = len(self.runner.cores)
        for started in reversed(self.groups):
            for at in range(0, len(started), cores):
                gate(started[at : at + cores], order)

    def rounds(self, first: Attempt) -> None:
        """Gives turns in shuffled order, round after round, until each process has enough samples."""
        seed = f"{first.set_id}/{first.block}/{first.retry}/{first.case.comparison_id}/{self.number}"
        draw = random.Random(hashlib.sha256(seed.encode()).digest())
        company, taking = len(self.members), [*self.members]
        protocol = self.runner.plan.protocol
        for _ in range(protocol.rounds_min + int(protocol.seconds_max / protocol.batch_seconds)):
            self.number += 1
            for member in draw.sample(taking, len(taking)):
                if member.is_over or not member.turn(self.number):
                    self.end(member, company)
            taking = self.taking()
            if not taking:
                return

    def taking(self) -> list[Member]:
        asking = [member for member in self.members if member.asks_for == MORE]
        baselines = [member for member in self.members if self.is_baseline(member.process.attempt)]
        if not asking or any(member.asks_for == FULL for member in baselines):
            return []  # a round without the baseline would compare nothing
        return [member for member in self.members if member in asking or member in baselines]

    def end(self, member: Member, company: int | None) -> None:
        """Writes the row of a process that has ended; `company` processes took turns. A process that ran out of memory
        beside others is left for later: alone it may find enough."""
        self.members.remove(member)
        attempt, process = member.process.attempt, member.process
        try:
            row = self.runner.row(process, member.end())
        finally:
            self.runner.clear(process)
        limit = limits_of(attempt, self.runner.plan.protocol).memory_bytes or spare_bytes()
        if row["outcome"] in OUT_OF_MEMORY and (process.request.limits.memory_bytes or 0) < limit:
            self.left.append(attempt)
            self.peaks[attempt.case.case_id] = process.request.limits.memory_bytes or 0  # it needs more
            return
        if row["sampling"] == ROUNDS:
            row["company"] = company
        if process.request.company > 1:  # they would be shown as if it had been alone
            row |= dict.fromkeys(PREPARATION)
        self.peaks[attempt.case.case_id] = max(member.needed_bytes, int(row.peak_bytes or 0))
        self.keep(attempt, row)

    def keep(self, attempt: Attempt, row: Row) -> None:
        self.rows.append(self.runner.keep(attempt, row))
        self.ends(row)

    def one_by_one(self, attempts: Sequence[Attempt]) -> None:
        self.rows += [self.alone(attempt, self.again) for attempt in attempts]

    def fits(self, attempt: Attempt) -> bool:
        """Whether a process is expected to fit into memory beside those that hold: by its case's peak in an earlier
        block, else by the largest need of those that hold."""
        most = max((member.needed_bytes for member in self.members), default=0)
        return not self.members or self.peaks.get(attempt.case.case_id, most) <= self.spare_bytes()

    def spare_bytes(self) -> int:
        return spare_bytes() - sum(member.needed_bytes for member in self.members)

    def is_baseline(self, attempt: Attempt) -> bool:
        return is_base(self.runner.plan, attempt.case)


def fresh_baseline(runner: Runner, attempts: Sequence[Attempt]) -> list[Attempt]:
    """Returns one more replicate of the baseline of a comparison's attempts, with its prime if it has one; nothing if
    the baseline isn't among them."""
    ours = [attempt for attempt in attempts if is_base(runner.plan, attempt.case)]
    ours = [attempt for attempt in ours if attempt.replicate == ours[0].replicate]
    known = [runner.replicates.get((attempt.block, attempt.case.case_id), 0) for attempt in ours]
    replicate = 1 + max([*known, *(attempt.replicate for attempt in attempts)])
    return [replace(attempt, replicate=replicate) for attempt in ours]


def gate(members: Sequence[Member], order: str) -> None:
    """Lets processes be gated at once, but one after the other take the steps that are checked: beside another
    program, a step with many short loops takes a hundred times its processor time, because its threads wait for
    one another (seen with PyTorch's LSTM)."""
    for member in members:
        member.go_on(order)
    for member in members:
        member.holds()
    for member in members:
        member.go_on(order)
        member.holds()
    for member in members:
        member.go_on(order)
    for member in members:
        member.finish(order)
