"""Says what in a whole set can't be true together, whoever made its manifest: what a run's own rules would have made
otherwise. Times that somebody invents alike in every place can't be told from measured ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from datetime import datetime, timedelta
from operator import attrgetter

from suite.case import Attempt, Flag, Outcome, Purpose
from suite.plan import layout
from suite.protocol import DIGEST_TOLERANCE, FLOPS_PER_CORE_MAX, MODEL_TOLERANCE, Protocol
from suite.reference.digests import difference
from suite.results import Results
from suite.results.limits import exceeded
from suite.run.reported import proof
from suite.sets.blocks import Block, with_noise
from suite.sets.plan import PlanFile
from suite.sets.rows import Row, empty_row, held
from suite.stacks.catalog import STACKS
from suite.verdicts.grouping import by_comparison, grouped

DERIVED = ("case_id", "case_name", "comparison_id", "dims", "pass", "schema_version")  # from a row's case
PHASES = tuple(f"{phase}_seconds" for phase in ("import", "device", "build", "place", "first", "second", "held"))
DECIDING = attrgetter("confidence", "tie_ratio", "look_share", "canary_drift_max", "steal_share_max")
CLOCK = timedelta(seconds=1)  # a block's record has whole seconds
Found = dict[str, bool]  # {a sentence: whether it is so}


def contradictions(results: Results, file: PlanFile, blocks: Sequence[Block]) -> list[str]:
    """Returns a sentence for each contradiction. A set of several machines is refused: only its shares have the records
    that its rows are held against."""
    if file.collected or file.scheduler:
        return ["it was put together from shares of several machines; each share can be submitted"]
    if others := sorted({planned.case.stack for planned in file.plan.cases} - STACKS.keys()):
        return [f"the stack {', '.join(others)} isn't this project's"]
    runs = {(block.block, block.retry): block for block in blocks}
    try:
        tables = [of_set(results, file, blocks), *map(of_question, grouped(results.rows, by_comparison).values())]
        tables += [of_row(row, results, file, runs.get((row["block"], row["retry"]))) for row in results.rows]
    except (ValueError, TypeError, KeyError, ArithmeticError) as broken:  # dates, numbers or names that no run writes
        return [f"its files don't fit together: {type(broken).__name__}: {broken}"]
    return [*dict.fromkeys(words for table in tables for words, is_so in table.items() if is_so)]


def of_set(results: Results, file: PlanFile, blocks: Sequence[Block]) -> Found:
    plan, protocol, rows, cores = file.plan, file.plan.protocol, results.rows, len(file.cores)
    run = [attempt for block in blocks for attempt in layout.block(plan, block.block, block.retry, block.left)]
    planned = {attempt.key: attempt.position for attempt in run}
    keys = {(*row.place, row["retry"]): row["position"] for row in sorted(rows, key=lambda row: int(row["retry"]))}
    last = {key[:4]: key[4] for key in keys}
    lacking = [attempt for attempt in (*file.attempts, *run) if last.get(attempt.key[:4], 0) < attempt.retry]
    searched = ("size", "dims") if plan.vary else ()  # what a search changes
    known = {one.case.digest(*searched) for one in (*plan.cases, *plan.predictions)}
    quiet = [block for block in blocks if not block.reasons]
    drift = max((abs(block.canary_seconds[1] / block.canary_seconds[0] - 1) for block in quiet), default=0.0)
    steal = max((block.steal_share for block in quiet), default=0.0)
    readings, most = results.ceilings, cores * FLOPS_PER_CORE_MAX["f32"]
    unread = file.target == "cpu" and plan.purpose is Purpose.TIMED and not protocol.at_once and not readings
    return {
        "plan.json decides by other limits than this project": DECIDING(protocol) != DECIDING(Protocol()),
        "plan.json has other processes than its set and cases give": (*layout.attempts(plan),) != file.attempts,
        "results.parquet lacks a process of the plan": bool(lacking),
        "results.parquet has a process twice, or not at its place": len(keys) < len(rows)
        or any(planned.get(key, position) != position for key, position in keys.items()),
        "results.parquet has a case of no plan": any(row.case.digest(*searched) not in known for row in rows),
        "results.parquet and the blocks' records deny each other": rows != held(with_noise(rows, blocks)),
        "a block was noisy, and its record denies it": drift > protocol.canary_drift_max
        or steal > protocol.steal_share_max,
        "machine.json is of another machine than plan.json": results.machine.get("machine_id") != file.machine_id,
        "ceilings.json isn't there, or has what the plan's cores can't reach": unread
        or any(reading.get("threads") != cores or reading["flops_per_second"] > most for reading in readings),
    }


def of_row(row: Row, results: Results, file: PlanFile, block: Block | None) -> Found:
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
        "its outcome and its reason don't fit": (row["reason"] is None) != (ok and clean),
        "it is ok without having ended, a sample or a result": timed
        and ((row["phase"], row["exit_code"]) != ("end", 0) or not samples or bool(proof(row).missing(row["pass"]))),
        "it is ok without having been measured": timed and row["provenance"] != "measured",
        "it is ok with an error over its tolerance": ok and error is not None and not error <= most,
        "a call returned after its results were ready": len(samples) != len(dispatch)
        or any(a < b for a, b in zip(samples, dispatch, strict=True)),
        limit.exceeded_by(row) if limit else "": limit is not None,
        "its times don't fit into its set or block": row["started_at"] is not None
        and not fits(row, samples, file, block),
    }
    return {f"{row['case_name']}, block {row['block']}: {words}": is_so for words, is_so in found.items()}


def fits(row: Row, samples: Sequence[float], file: PlanFile, block: Block | None) -> bool:
    """Whether a process began within its set and block and, by the sum of all its times, ended there."""
    began = datetime.fromisoformat(file.created_at) - CLOCK
    if block is None or not block.seconds:
        return bool(began <= row["started_at"])
    taken = sum(row[phase] or 0.0 for phase in PHASES) + sum(samples) + sum(row["fetch_seconds"] or [])
    taken += sum(row["pipelined_seconds"] or []) * (row["pipelined_calls"] or 1)
    starts, ends = map(datetime.fromisoformat, (block.started_at, block.ended_at))
    return bool(max(began, starts - CLOCK) <= row["started_at"] <= ends + CLOCK - timedelta(seconds=taken))


def of_question(processes: Sequence[Row]) -> Found:
    """A forward pass has the same result in every process that is ok, however many steps came before."""
    name, inputs = processes[0].comparison_name, {row["weights_sha256"] for row in processes} - {None}
    ok = [row for row in processes if (row["purpose"], row["outcome"], row["pass"]) == (Purpose.TIMED, "ok", "forward")]
    apart = False
    for row in ok:
        ours, theirs = proof(row).results, proof(ok[0]).results
        most = 2 * max(row["tolerance"] or 0.0, DIGEST_TOLERANCE[row["precision"]])
        apart |= any(not difference(ours[leaf], theirs[leaf], leaf).error <= most for leaf in {*ours} & {*theirs})
    return {f"{name}: stacks had different inputs": len(inputs) > 1, f"{name}: results that are ok differ": apart}
