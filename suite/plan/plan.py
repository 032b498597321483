"""Cases in blocks: the plan of a run."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import filterfalse

from suite.case import Attempt, Case, Planned, Purpose
from suite.plan.memory import in_order
from suite.protocol import Protocol
from suite.stacks.catalog import STACKS
from suite.workloads.catalog import Workload

FIRST = ("numpy", "jax_jit", "jax_eager")  # of block 1: the quickest to start, so that rows appear at once
FLOPS_PER_SECOND = 1e11  # of a small machine, for --dry-run's estimate alone
UNTIMED_STEPS = 3  # of a process that tells its kernels, or its memory
COSTLY_SECONDS = 20.0  # by the catalogue, of start-up and compile of one small case
Unit = list[tuple[Case, int, Purpose]]


@dataclass(frozen=True, slots=True)
class Plan:
    """All cases of a run, and how they are put into blocks."""

    set_id: str
    cases: tuple[Planned, ...]
    protocol: Protocol
    baseline: str
    twin: bool
    seed: int
    purpose: Purpose = Purpose.TIMED
    exhaustive: bool = False  # of memory: try also what can only fail
    vary: str = ""  # a dim whose largest value that fits is searched for; the cases are where each search begins
    shard: str = ""  # of a machine's share: which of how many, like `2/4`
    whole: str = ""  # and the digest of the plan that was shared out

    def attempts(self) -> list[Attempt]:
        """All planned processes of the first stage, in order."""
        timed = self.purpose is Purpose.TIMED
        blocks = [self.block(number) for number in range(1, self.protocol.blocks + 1)] if timed else [self.memory()]
        outside = self.probes(), self.programs(), self.explanations(), self.profiles()
        return [attempt for part in (*blocks, *outside) for attempt in part]

    def block(self, number: int, retry: int = 1) -> list[Attempt]:
        """One block: every case once (but those of stacks that are spared there), questions and the stacks of each
        shuffled, primes before warm cases.

        A shared host changes pace for 10 to 20 s at a time, so what is compared runs close together: the stacks of a
        question next to each other, the baseline's replicates spread among them.
        """
        draw = random.Random(hashlib.sha256(f"{self.set_id}/{number}/{retry}".encode()).digest())
        questions: dict[str, list[Planned]] = {}
        for planned in filterfalse(partial(self.is_spared, block=number), self.cases):
            questions.setdefault(planned.case.comparison_id, []).append(planned)
        ordered = draw.sample([*questions.values()], len(questions))
        flat = [
            entry
            for place, question in enumerate(ordered)
            for unit in self.sequence(question, draw, quickest_first=number == 1 and place == 0)
            for entry in unit
        ]
        return [
            Attempt(
                set_id=self.set_id,
                case=case,
                block=number,
                order=order,
                replicate=replicate,
                purpose=purpose,
                retry=retry,
                seed=self.seed,
            )
            for order, (case, replicate, purpose) in enumerate(flat, 1)
        ]

    def memory(self, retry: int = 1) -> list[Attempt]:
        """A process for each case that asks what memory it needs, if the run is for that."""
        return self.outside(Purpose.MEMORY, in_order(self.cases), retry) if self.purpose is Purpose.MEMORY else []

    def probes(self, retry: int = 1) -> list[Attempt]:
        """A process for each case that observes how a stack behaves, if the run is for that."""
        return self.outside(Purpose.PROBE, self.cases, retry) if self.purpose is Purpose.PROBE else []

    def programs(self, retry: int = 1) -> list[Attempt]:
        """A process for each case that keeps what it hands to its compiler, if the run is for that; beside others, for
        each whose compiler's programs can be read."""
        if self.purpose is Purpose.IR:
            return self.outside(Purpose.IR, self.cases, retry)
        if self.purpose is Purpose.PROBE:
            return []
        readable = [planned for planned in self.cases if STACKS[planned.case.stack].compiler]
        return self.outside(Purpose.IR, readable, retry) if self.protocol.ir else []

    def explanations(self, retry: int = 1) -> list[Attempt]:
        """A process for each case that tells which kernels do the work, if the run or its protocol asks for it."""
        asked = self.purpose is not Purpose.PROBE and (self.protocol.explain or self.purpose is Purpose.EXPLAIN)
        return self.outside(Purpose.EXPLAIN, self.cases, retry) if asked else []

    def profiles(self, retry: int = 1) -> list[Attempt]:
        """A process for each case that tells where a step's time goes, likewise."""
        asked = self.purpose is not Purpose.PROBE and (self.protocol.profile or self.purpose is Purpose.EXPLAIN)
        return self.outside(Purpose.PROFILE, self.cases, retry) if asked else []

    def outside(self, purpose: Purpose, cases: Sequence[Planned], retry: int) -> list[Attempt]:
        """A process for each case outside the blocks, as block 0: nothing in it is timed."""
        return [
            Attempt(
                set_id=self.set_id,
                case=planned.case,
                block=0,
                order=order,
                replicate=1,
                purpose=purpose,
                retry=retry,
                seed=self.seed,
            )
            for order, planned in enumerate(cases, 1)
        ]

    def is_spared(self, planned: Planned, block: int) -> bool:
        """Whether a case runs in earlier blocks alone: where time is short, a stack that spends it compiling."""
        case, last = planned.case, self.protocol.costly_blocks
        costly = STACKS[case.stack].estimate_seconds >= COSTLY_SECONDS and case.stack_name != self.baseline
        return costly and 0 < last < block

    def sequence(self, question: Sequence[Planned], draw: random.Random, quickest_first: bool) -> list[Unit]:
        """The processes of one question in their order."""
        others: list[Unit] = []
        baselines: list[Unit] = []
        for planned in draw.sample(question, len(question)):
            own = [self.unit(planned, replicate) for replicate in self.replicates(planned)]
            (baselines if planned.case.stack_name == self.baseline else others).extend(own)
        if quickest_first:
            others.sort(key=lambda unit: FIRST.index(s) if (s := unit[0][0].stack) in FIRST else len(FIRST))
        among = len(others) / len(baselines) if baselines else 0
        for k, baseline in enumerate(baselines):
            others.insert(round((k + 0.5) * among) + k, baseline)
        return others

    def unit(self, planned: Planned, replicate: int) -> Unit:
        """What must stay together: a warm case comes right after the process that fills its caches."""
        case = planned.case
        prime = [(case, replicate, Purpose.PRIME)] if case.cache == "warm" and not planned.unsupported else []
        return [*prime, (case, replicate, Purpose.TIMED)]

    def replicates(self, planned: Planned) -> Sequence[int]:
        """As many as the protocol says for the baseline stack, the live noise floor; one for the others."""
        twin = self.twin and planned.case.stack_name == self.baseline and not planned.unsupported
        return range(1, self.protocol.baseline_replicates + 1) if twin else (1,)

    def reason(self, case: Case) -> str | None:
        """Why a case is unsupported, or None."""
        return next((planned.unsupported for planned in self.cases if planned.case == case), None)

    def too_large(self, case: Case) -> str | None:
        """Why a case is predicted to run out of memory, or None."""
        return next((planned.too_large for planned in self.cases if planned.case == case), None)

    def seconds(self, workloads: dict[str, Workload]) -> float:
        """A rough estimate of the first stage and what explains it, for --dry-run."""
        untimed = replace(self.protocol, seconds_min=0.0, samples_min=UNTIMED_STEPS, side_samples=0)
        return sum(
            estimate(attempt.case, workloads[attempt.case.workload], self.protocol if attempt.block else untimed)
            for attempt in self.attempts()
            if attempt.purpose is not Purpose.PRIME and self.reason(attempt.case) is None
        )


def estimate(case: Case, workload: Workload, protocol: Protocol) -> float:
    """Seconds that one attempt may take: start-up and compile by the catalogue, samples by FLOPs, the limit at most."""
    if workload.is_probe:
        return STACKS[case.stack].estimate_seconds
    call = float(workload.spec.flops(dict(case.dims), case.pass_)) / FLOPS_PER_SECOND
    measuring = max(protocol.seconds_min, protocol.samples_min * call) + 2 * protocol.side_samples * call
    return min(STACKS[case.stack].estimate_seconds + measuring, protocol.timeout_seconds)
