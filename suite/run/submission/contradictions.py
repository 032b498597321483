"""Says what in a whole set can't be true together, whoever made its manifest: what a run's own rules would have made
otherwise. Times that somebody invents alike in every place can't be told from measured ones."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import fields
from itertools import chain

from suite.case import Attempt, Flag, Outcome, Purpose
from suite.plan import layout
from suite.protocol import DIGEST_TOLERANCE, FLOPS_PER_CORE_MAX, MODEL_TOLERANCE, Protocol
from suite.reference.digests import difference
from suite.results import Results
from suite.results.limits import exceeded
from suite.run.agreement import proof
from suite.sets.blocks import Block, with_noise
from suite.sets.plan import PlanFile
from suite.sets.rows import Row, empty_row, held
from suite.stacks.catalog import STACKS
from suite.verdicts.grouping import grouped

DERIVED = ("case_id", "case_name", "comparison_id", "dims", "pass", "schema_version")  # from a row's case
DECIDING = ("confidence", "tie_ratio", "look_share", "canary_drift_max", "steal_share_max")  # no preset changes them
PHASES = tuple(f"{phase}_seconds" for phase in ("import", "device", "build", "place", "first", "second", "held"))
CLOCK_SECONDS = 1.0  # a block's record has whole seconds


def contradictions(results: Results, file: PlanFile, blocks: Sequence[Block]) -> list[str]:
    """Returns a sentence for each contradiction. A set of several machines is refused: only its shares have the records
    that its rows are held against."""
    if file.collected or file.scheduler:
        return ["it was put together from shares of several machines; each share can be submitted"]
    if others := sorted({planned.case.stack for planned in file.plan.cases} - STACKS.keys()):
        return [f"the stack {', '.join(others)} isn't this project's"]
    runs = {(block.block, block.retry): block for block in blocks}
    rows = (of_row(row, results, file, runs.get((row["block"], row["retry"]))) for row in results.rows)
    try:
        parts = of_set(results, file, blocks), of_plan(results.rows, file, blocks), *rows, of_questions(results.rows)
        return [*dict.fromkeys(chain(*parts))]
    except (ValueError, TypeError, KeyError, ArithmeticError) as broken:  # dates, numbers or names that no run writes
        return [f"its files don't fit together: {type(broken).__name__}: {broken}"]


def of_set(results: Results, file: PlanFile, blocks: Sequence[Block]) -> Iterator[str]:
    protocol, cores, readings = file.plan.protocol, len(file.cores), results.ceilings
    timed = file.target == "cpu" and file.plan.purpose is Purpose.TIMED and not protocol.at_once
    most = cores * FLOPS_PER_CORE_MAX["f32"]
    if any(getattr(protocol, name) != getattr(Protocol(), name) for name in DECIDING):
        yield "plan.json has other limits than this project's for what is decided and what is noise"
    if results.machine.get("machine_id") != file.machine_id:
        yield "machine.json is of another machine than plan.json"
    if timed and not readings:
        yield "ceilings.json is missing, without which nobody knows what the machine can reach"
    if any(reading.get("threads") != cores or reading["flops_per_second"] > most for reading in readings):
        yield "ceilings.json has a reading that isn't of the plan's cores, or that they can't reach"
    if any(row != again for row, again in zip(results.rows, held(with_noise(results.rows, blocks)), strict=True)):
        yield "results.parquet has an outcome, a flag or a canary that the other rows and the blocks' records deny"
    for block in blocks:
        drift = abs(block.canary_seconds[1] / block.canary_seconds[0] - 1)
        if not block.reasons and (drift > protocol.canary_drift_max or block.steal_share > protocol.steal_share_max):
            yield f"block {block.block} was noisy, and its record denies it"


def of_plan(rows: Sequence[Row], file: PlanFile, blocks: Sequence[Block]) -> Iterator[str]:
    plan, keys = file.plan, Counter((*row.place, row["retry"]) for row in rows)
    if tuple(layout.attempts(plan)) != file.attempts:
        yield "plan.json has other processes than its set, cases and protocol give"
        return
    if max(keys.values(), default=0) > 1:
        yield "results.parquet has a process twice"
    last = {key[:4]: key[4] for key in sorted(keys)}
    run = [attempt for block in blocks for attempt in layout.block(plan, block.block, block.retry, block.left)]
    if any(last.get(attempt.key[:4], 0) < attempt.retry for attempt in (*file.attempts, *run)):
        yield "results.parquet lacks a process of the plan"
    positions = {attempt.key: attempt.position for attempt in run}
    searched = ("size", "dims") if plan.vary else ()  # what a search changes
    known = {planned.case.digest(*searched) for planned in (*plan.cases, *plan.predictions)}
    for row in rows:
        position = positions.get((*row.place, row["retry"]), row["position"])
        if row.case.digest(*searched) not in known or row["position"] != position:
            yield f"the plan doesn't have {row['case_name']} at its place in block {row['block']}"


def of_row(row: Row, results: Results, file: PlanFile, block: Block | None) -> Iterator[str]:
    attempt = {field.name: row[field.name] for field in fields(Attempt) if field.name != "case"}
    derived = empty_row(Attempt(**attempt | {"case": row.case, "purpose": Purpose(row["purpose"])}))
    ok, clean = row["outcome"] == Outcome.OK, Flag.IMPLAUSIBLE not in row.flags
    timed, samples = ok and row["purpose"] == Purpose.TIMED, row["synced_seconds"] or []
    dispatch, error, most = row["dispatch_seconds"] or [], row["relative_error"], row["tolerance"]
    if most is None or row["pass"] == "train":  # digests, and gradients that jump, have wider ones
        most = max(most or 0.0, MODEL_TOLERANCE["bf16"])
    limit = exceeded(row, results.roof) if ok and clean else None
    found = {
        "it isn't called as its case is": any(row[name] != derived[name] for name in DERIVED),
        "it is of another set than plan.json": (row["set_id"], row["seed"]) != (file.plan.set_id, file.plan.seed),
        "it is of another machine than plan.json": row["machine_id"] not in (None, file.machine_id),
        "it has another lock than plan.json": row["lock_sha256"] not in (None, file.locks.get(row["environment"])),
        "it began before its set": bool(row["started_at"]) and row["started_at"].isoformat() < file.created_at,
        "its outcome and its reason don't fit": (row["reason"] is None) != (ok and clean),
        "it is ok without having ended, or without a sample": timed
        and ((row["phase"], row["exit_code"], row["provenance"]) != ("end", 0, "measured") or not samples),
        "it is ok with an error over its tolerance": ok and error is not None and not error <= most,
        "a call returned after its results were ready": len(samples) != len(dispatch)
        or any(a < b for a, b in zip(samples, dispatch, strict=True)),
        limit.exceeded_by(row) if limit else "": limit is not None,
        "its times don't fit into its block": not fits(row, samples, block),
    }
    yield from (f"{row['case_name']}, block {row['block']}: {words}" for words, is_so in found.items() if is_so)


def fits(row: Row, samples: Sequence[float], block: Block | None) -> bool:
    """Whether a process began and ended within its block, by the sum of all its times."""
    if block is None or not block.seconds or row["started_at"] is None:
        return True
    began, ended = map(datetime.datetime.fromisoformat, (block.started_at, block.ended_at))
    taken: float = sum(row[phase] or 0.0 for phase in PHASES) + sum(samples) + sum(row["fetch_seconds"] or [])
    taken += sum(row["pipelined_seconds"] or []) * (row["pipelined_calls"] or 1)
    early, late = (began - row["started_at"]).total_seconds(), (row["started_at"] - ended).total_seconds() + taken
    return bool(max(early, late) <= CLOCK_SECONDS)


def of_questions(rows: Sequence[Row]) -> Iterator[str]:
    """A forward pass has the same result in every process that is ok, however many steps came before."""
    for processes in grouped(rows, lambda row: row["comparison_id"]).values():
        if len({row["weights_sha256"] for row in processes} - {None}) > 1:
            yield f"{processes[0].comparison_name}: its stacks had different inputs"
        ok = [row for row in processes if (row["purpose"], row["outcome"]) == (Purpose.TIMED, Outcome.OK)]
        for row in ok:
            if proof(row).missing(row["pass"]):
                yield f"{row['case_name']}, block {row['block']}: it is ok without a result"
            ours, theirs = proof(row).results, proof(ok[0]).results
            leaves = ours.keys() & theirs.keys() if row["pass"] == "forward" else ()
            most = 2 * max(row["tolerance"] or 0.0, DIGEST_TOLERANCE[row["precision"]])
            if any(not difference(ours[leaf], theirs[leaf], leaf).error <= most for leaf in leaves):
                yield f"{row['case_name']} is ok, and its result isn't that of {ok[0]['case_name']}"
