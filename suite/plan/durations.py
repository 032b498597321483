"""Estimates roughly how long a plan takes, before anything is measured: from the start-up times in the catalogue and
from FLOPs and bytes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from suite.case import Attempt, Purpose
from suite.plan.layout import runnable
from suite.protocol import Protocol
from suite.sets.plan import Plan
from suite.stacks.catalog import STACKS
from suite.workloads.catalog import Workload

FLOPS_PER_SECOND, BYTES_PER_SECOND = 1e11, 2e10  # of a small machine
COMPILE_SECONDS = 150.0  # of a training step of GPT-2 by a TPU's compiler: 128 to 215 s were seen
UNTIMED_STEPS = 3  # of a process that isn't timed
HANDOVER_SECONDS = 0.03  # from a turn's end to the next one's begin, seen in runs of `quick`


def plan_seconds(plan: Plan, workloads: Mapping[str, Workload]) -> float:
    """Returns the estimate for the protocol's `blocks`, without those that a run adds, and for all processes outside
    the blocks."""
    return sum(attempt_seconds(attempt, workloads, plan.protocol) for attempt in runnable(plan))


def attempt_seconds(attempt: Attempt, workloads: Mapping[str, Workload], protocol: Protocol) -> float:
    """Returns the estimated seconds of one process, at most the time limit. Start-up and compiling are taken from the
    catalogue, samples from FLOPs and bytes. It is 0 for a prime, whose time is in the estimate of the timed process
    after it."""
    if attempt.purpose is Purpose.PRIME:
        return 0.0
    if attempt.purpose is Purpose.PREDICT:
        return min(COMPILE_SECONDS, protocol.timeout_seconds)
    case, workload = attempt.case, workloads[attempt.case.workload]
    start = STACKS[case.stack].estimate_seconds
    if workload.is_probe:
        return start
    if not attempt.block:
        protocol = replace(
            protocol, seconds_min=0.0, samples_min=UNTIMED_STEPS, slow_samples_min=UNTIMED_STEPS, side_samples=0
        )
    dims = dict(case.dims)
    flops, moved = (figure(dims, case.pass_) or 0 for figure in (workload.spec.flops, workload.spec.bytes_floor))
    call = max(flops / FLOPS_PER_SECOND, moved / BYTES_PER_SECOND)
    is_slow = call > protocol.slow_call_seconds
    sampling = max(protocol.seconds_min, (protocol.slow_samples_min if is_slow else protocol.samples_min) * call)
    if attempt.block and protocol.sampling == "rounds":
        turns = protocol.slow_samples_min if is_slow else protocol.rounds_min
        sampling = max(sampling, turns * (max(protocol.batch_seconds, call) + HANDOVER_SECONDS))
    measuring = sampling + 2 * protocol.side_samples * call
    return min(start + measuring, protocol.timeout_seconds)
