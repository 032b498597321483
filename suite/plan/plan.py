"""Cases in blocks: the plan of a run."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Sequence
from dataclasses import dataclass

from suite.case import Attempt, Case, Planned, Purpose
from suite.protocol import Protocol
from suite.stacks.catalog import STACKS
from suite.workloads.catalog import Workload

FIRST = ("numpy", "jax_jit", "jax_eager")  # of block 1: the quickest to start, so that rows appear at once
FLOPS_PER_SECOND = 1e11  # of a small machine, for --dry-run's estimate alone


@dataclass(frozen=True, slots=True)
class Plan:
    """All cases of a run, and how they are put into blocks."""

    set_id: str
    cases: tuple[Planned, ...]
    protocol: Protocol
    baseline: str
    twin: bool
    seed: int

    def block(self, number: int, retry: int = 1) -> list[Attempt]:
        """One block in its shuffled order: every case once, the baseline's twin, primes before warm cases."""
        units = [self.unit(planned, replicate) for planned in self.cases for replicate in self.replicates(planned)]
        digest = hashlib.sha256(f"{self.set_id}/{number}/{retry}".encode()).digest()
        random.Random(digest).shuffle(units)
        if number == 1:
            units.sort(key=lambda unit: FIRST.index(s) if (s := unit[0][0].stack) in FIRST else len(FIRST))
        flat = [entry for unit in units for entry in unit]
        return [
            Attempt(set_id=self.set_id, case=case, block=number, order=order, replicate=replicate, purpose=purpose,
                    retry=retry, seed=self.seed)
            for order, (case, replicate, purpose) in enumerate(flat, 1)
        ]  # fmt: skip

    def explanations(self, retry: int = 1) -> list[Attempt]:
        """Outside the blocks, as block 0: a process for each case, if the protocol asks which kernels do the work."""
        cases = [planned.case for planned in self.cases] if self.protocol.explain else []
        return [
            Attempt(set_id=self.set_id, case=case, block=0, order=order, replicate=1, purpose=Purpose.EXPLAIN,
                    retry=retry, seed=self.seed)
            for order, case in enumerate(cases, 1)
        ]  # fmt: skip

    def unit(self, planned: Planned, replicate: int) -> list[tuple[Case, int, Purpose]]:
        """What must stay together: a warm case comes right after the process that fills its caches."""
        case = planned.case
        prime = [(case, replicate, Purpose.PRIME)] if case.cache == "warm" and not planned.unsupported else []
        return [*prime, (case, replicate, Purpose.TIMED)]

    def replicates(self, planned: Planned) -> Sequence[int]:
        """Two for the baseline stack, the live noise floor; one for the others."""
        twin = self.twin and planned.case.stack_name == self.baseline and not planned.unsupported
        return (1, 2) if twin else (1,)

    def reason(self, case: Case) -> str | None:
        """Why a case is unsupported, or None."""
        return next(p.unsupported for p in self.cases if p.case == case)

    def seconds(self, workloads: dict[str, Workload]) -> float:
        """A rough estimate of the first stage, for --dry-run."""
        return self.protocol.blocks * sum(
            estimate(planned, workloads[planned.case.workload], self.protocol) * len(self.replicates(planned))
            for planned in self.cases
            if not planned.unsupported
        )


def estimate(planned: Planned, workload: Workload, protocol: Protocol) -> float:
    """Seconds that one attempt may take: start-up and compile by the catalogue, samples by FLOPs, the limit at most."""
    case = planned.case
    call = float(workload.spec.flops(dict(case.dims), case.pass_)) / FLOPS_PER_SECOND
    measuring = max(protocol.seconds_min, protocol.samples_min * call) + 2 * protocol.side_samples * call
    return min(STACKS[case.stack].estimate_seconds + measuring, protocol.timeout_seconds)
