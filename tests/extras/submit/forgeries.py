"""Forgeries of a published set, by kind: each changes one thing in a set's folder, before its manifest is made anew. A
kind that doesn't fit a set returns False."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from suite.sets.arrow import SCHEMA
from suite.sets.parquet import read_rows
from suite.sets.result_set import ResultSet
from suite.sets.rows import CLOCKS, Row
from suite.sets.schema import NAMES

OTHER = "f" * 64
SIGNED = "-----BEGIN SSH SIGNATURE-----\nU1NIU0lH\n-----END SSH SIGNATURE-----\n"
Forgery = Callable[[Path], bool | None]


def rows_of(folder: Path) -> list[Row]:
    return read_rows(folder / "results.parquet", trusted=True)


def of_rows(change: Callable[[list[Row]], list[Row] | bool | None]) -> Forgery:
    """Changes rows, in place or by a new list; False: there is nothing to change so."""

    def forge(folder: Path) -> bool:
        rows = rows_of(folder)
        changed = change(rows)
        if changed is False:
            return False
        ResultSet.open(folder).write_rows(changed if isinstance(changed, list) else rows)
        return True

    return forge


def of_json(name: str, change: Callable[[Any], object]) -> Forgery:
    """Changes the JSON of the first file of this name."""

    def forge(folder: Path) -> bool:
        path = next(iter(sorted(folder.glob(name))), None)
        if path is None:
            return False
        content = json.loads(path.read_text())
        if change(content) is False:
            return False
        path.write_text(json.dumps(content))
        return True

    return forge


def of_plan(change: Callable[[Any], object]) -> Forgery:
    return of_json("plan.json", change)


def of_block(change: Callable[[Any], object]) -> Forgery:
    return of_json("blocks/*.json", change)


def timed(rows: list[Row]) -> list[Row]:
    return [row for row in rows if row["outcome"] == "ok" and row["synced_seconds"]]


def scaled(rows: list[Row], factor: float, clocks: tuple[str, ...] = CLOCKS) -> None:
    for row in rows:
        for clock in clocks:
            value = row[f"{clock}_seconds"]
            row[f"{clock}_seconds"] = [each * factor for each in value] if isinstance(value, list) else value
            if isinstance(value, float):
                row[f"{clock}_seconds"] = value * factor


def one_stack(rows: list[Row]) -> list[Row]:
    """All processes of the stack that was measured last."""
    ok = timed(rows)
    return [row for row in ok if row["case_id"] == ok[-1]["case_id"]]


def waiting(rows: list[Row]) -> list[Row]:
    """The processes whose calls return when most of their work is done."""
    return [row for row in timed(rows) if row["dispatch_seconds"][0] > 0.6 * row["synced_seconds"][0]]


def set_in(column: str, value: Any) -> Forgery:
    """Another value in one process that has one."""

    def change(rows: list[Row]) -> bool | None:
        known = [row for row in timed(rows) if row[column] not in (None, value)]
        if not known:
            return False
        known[-1][column] = value
        return None

    return of_rows(change)


def exchanged(rows: list[Row]) -> bool | None:
    """The slowest stack of a question gets the times of the fastest in each block."""
    by_block: dict[tuple[str, int], list[Row]] = {}
    for row in timed(rows):
        by_block.setdefault((row["comparison_id"], row["block"]), []).append(row)
    for group in by_block.values():
        fast, slow = (way(group, key=lambda row: row.median() or 0.0) for way in (min, max))
        if (slow.median() or 0.0) < 3 * (fast.median() or 0.0):
            return False
        columns = [f"{clock}_seconds" for clock in CLOCKS]
        columns += ["synced_warmup", "synced_others", "pipelined_others", "fetch_others", "synced_rounds"]
        taken = {column: (fast[column], slow[column]) for column in (*columns, "pipelined_calls")}
        for column, (of_fast, of_slow) in taken.items():
            fast[column], slow[column] = of_slow, of_fast
    return None


def without_block(rows: list[Row]) -> list[Row]:
    return [row for row in rows if row["block"] != 1]


def doubled(rows: list[Row]) -> list[Row]:
    return [*rows, rows[0]]


def passed(rows: list[Row], **columns: Any) -> bool | None:
    """Every wrong row is right."""
    wrong = [row for row in rows if row["outcome"] == "wrong"]
    for row in wrong:
        row.update({"outcome": "ok"} | columns)
    return None if wrong else False


def one_unsupported(rows: list[Row]) -> bool | None:
    ok = timed(rows)
    peers = [row for row in ok if row["case_id"] == ok[-1]["case_id"]]
    if len(peers) < 2:
        return False
    peers[-1].update(outcome="unsupported", reason="it can't do this")
    return None


def trimmed(rows: list[Row]) -> None:
    for row in one_stack(rows):
        row["synced_seconds"] = sorted(row["synced_seconds"])[:-1]


def other_result(rows: list[Row]) -> bool | None:
    row = timed(rows)[-1]
    metrics = json.loads(row["metrics"] or "[]")
    last = [metric for metric in metrics if metric["name"].startswith("last result")]
    if not last or row["pass"] != "forward":
        return False
    for metric in last:
        metric["values"] = [2 * value if isinstance(value, float) else value for value in metric["values"]]
    row["metrics"] = json.dumps(metrics)
    return None


def no_result(rows: list[Row]) -> None:
    timed(rows)[-1]["metrics"] = None


def unflagged(rows: list[Row]) -> bool | None:
    noisy = [row for row in rows if "noisy" in row["flags"]]
    for row in noisy:
        row["flags"] = [flag for flag in row["flags"] if flag != "noisy"]
    return None if noisy else False


def cleaned(rows: list[Row]) -> None:
    """A process that failed in the middle is called whole."""
    timed(rows)[-1].update(phase="steady")


def case_changed(plan: dict[str, Any]) -> None:
    plan["cases"][0]["threads"] += 1


def renamed(folder: Path) -> bool:
    """Another set's id in plan and rows."""
    of_json("plan.json", lambda plan: [each.update(set_id="another-set") for each in (plan, *plan["attempts"])])(folder)
    return bool(of_rows(lambda rows: [row | {"set_id": "another-set"} for row in rows])(folder))


def quiet_block(block: dict[str, Any]) -> None:
    block["canary_seconds"] = [0.02, 0.02]


def no_reasons(block: dict[str, Any]) -> bool | None:
    if not block["reasons"]:
        return False
    block["reasons"] = []
    return None


def short_block(block: dict[str, Any]) -> None:
    block["ended_at"] = block["started_at"]
    block["started_at"] = block["started_at"][:17] + "00+00:00"


def without(name: str) -> Forgery:
    def forge(folder: Path) -> bool:
        found = [*folder.glob(name)]
        for path in found:
            path.unlink()
        return bool(found)

    return forge


def text(name: str, content: str | bytes) -> Forgery:
    def forge(folder: Path) -> None:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())

    return forge


def foreign_lock(folder: Path) -> None:
    """A package of a version that this project never had, in a lock whose digest the plan has."""
    lock = next(iter(sorted(folder.glob("inputs/*.lock.txt"))))
    name = lock.name.partition(".")[0]
    lines = lock.read_text() + f"zzz-payload==6.6.6 \\\n    --hash=sha256:{OTHER}\n"
    lock.write_text(lines)
    digest = hashlib.sha256(lines.encode()).hexdigest()
    of_json("plan.json", lambda plan: plan["locks"].update({name: digest}))(folder)

    def relocked(rows: list[Row]) -> None:
        for row in rows:
            if row["environment"] == name:
                row["lock_sha256"] = digest

    of_rows(relocked)(folder)


def own_stack(plan: dict[str, Any]) -> None:
    for each in (*plan["cases"], *(attempt["case"] for attempt in plan["attempts"])):
        each["stack"] = "numpy_but_mine" if each["stack"] == plan["cases"][0]["stack"] else each["stack"]


def cut(folder: Path) -> None:
    path = folder / "results.parquet"
    path.write_bytes(path.read_bytes()[:-100])


KINDS: Mapping[str, Forgery] = {
    "one clock of a stack halved": of_rows(lambda rows: scaled(waiting(rows), 0.5, ("synced",))),
    "every clock of a stack times a hundred": of_rows(lambda rows: scaled(one_stack(rows), 100.0)),
    "every clock times ten": of_rows(lambda rows: scaled(timed(rows), 10.0)),
    "the submit clock of a stack doubled": of_rows(lambda rows: scaled(waiting(rows), 2.0, ("dispatch",))),
    "fastest and slowest exchanged": of_rows(exchanged),
    "samples left out": of_rows(trimmed),
    "a negative time": of_rows(lambda rows: scaled(one_stack(rows), -1.0)),
    "a time that is no number": of_rows(lambda rows: scaled(one_stack(rows), float("nan"))),
    "an infinite time": of_rows(lambda rows: scaled(one_stack(rows), float("inf"))),
    "times of zero": of_rows(lambda rows: scaled(one_stack(rows), 0.0)),
    "an error over the tolerance": set_in("relative_error", 1.0),
    "an error that is no number": set_in("relative_error", float("nan")),
    "wrong called ok": of_rows(passed),
    "wrong called ok without the reason": of_rows(lambda rows: passed(rows, reason=None)),
    "wrong called ok, its error lowered": of_rows(lambda rows: passed(rows, reason=None, relative_error=0.0)),
    "one process of a stack called unsupported": of_rows(one_unsupported),
    "an ok process with a reason": of_rows(lambda rows: timed(rows)[-1].update(reason="none really")),
    "an ok process that didn't end": of_rows(cleaned),
    "an ok process that a signal ended": set_in("exit_code", 139),
    "an inferred process called ok": set_in("provenance", "inferred"),
    "another stack's inputs": set_in("weights_sha256", OTHER),
    "another result": of_rows(other_result),
    "no result": of_rows(no_result),
    "no samples": set_in("synced_seconds", []),
    "no process of block 1": of_rows(without_block),
    "a process left out": of_rows(lambda rows: rows[1:]),
    "a process twice": of_rows(doubled),
    "a process of another machine": set_in("machine_id", "another-machine"),
    "a process of another set": set_in("set_id", "another-set"),
    "a process with another seed": set_in("seed", 7),
    "a process with another lock": set_in("lock_sha256", OTHER),
    "a process of another case": set_in("threads", 64),
    "a process of another size": set_in("dims", '{"n":2}'),
    "another name of a case": set_in("case_name", "much-larger-model"),
    "another digest of a case": set_in("case_id", OTHER),
    "another question's digest": set_in("comparison_id", OTHER),
    "a process at another place": set_in("position", 99),
    "a noise flag left out": of_rows(unflagged),
    "a process from before the set": of_plan(lambda plan: plan.update(created_at="2031-01-01T00:00:00+00:00")),
    "a block of a quiet machine": of_block(quiet_block),
    "a block without its reasons": of_block(no_reasons),
    "a block that took no time": of_block(short_block),
    "a block's record left out": without("blocks/b01-a1.json"),
    "a block's record that is no record": text("blocks/b01-a1.json", "{}"),
    "a block that began on no date": of_block(lambda block: block.update(started_at="soon")),
    "a block whose canary took no time": of_block(lambda block: block.update(canary_seconds=[0.0, 0.0])),
    "another seed in the plan": of_plan(lambda plan: plan.update(seed=7)),
    "another baseline in the plan": of_plan(lambda plan: plan.update(baseline="tf_graph")),
    "another case in the plan": of_plan(case_changed),
    "a case less in the plan": of_plan(lambda plan: plan["cases"].pop()),
    "fewer blocks in the plan": of_plan(lambda plan: plan["protocol"].update(blocks=2, blocks_max=2)),
    "another confidence in the plan": of_plan(lambda plan: plan["protocol"].update(confidence=0.5)),
    "another tie in the plan": of_plan(lambda plan: plan["protocol"].update(tie_ratio=1.0)),
    "another set's name in plan and rows": renamed,
    "a process less in the plan": of_plan(lambda plan: plan["attempts"].pop()),
    "another machine in the plan": of_plan(lambda plan: plan.update(machine_id="another-machine")),
    "another machine in machine.json": of_json("machine.json", lambda facts: facts.update(machine_id="another")),
    "another lock in the plan": of_plan(lambda plan: plan.update(locks=dict.fromkeys(plan["locks"], OTHER))),
    "another schema version in the plan": of_plan(lambda plan: plan.update(schema_version=12)),
    "a share of a plan": of_plan(lambda plan: plan.update(collected=["a", "b"])),
    "a stack that nobody knows": of_plan(own_stack),
    "a revision that nobody has": of_plan(lambda plan: plan.update(revision="0" * 40)),
    "no revision": of_plan(lambda plan: plan.update(revision=None)),
    "changed code": text("inputs/diff.patch", "diff --git a/suite/stats.py b/suite/stats.py\n"),
    "changed code that isn't shown": of_plan(lambda plan: plan.update(dirty=True)),
    "a library that frameworks would load": of_json(
        "plan.json", lambda plan: plan["flags"].update({"jax@fast": {"LD_PRELOAD": "/tmp/payload.so"}})
    ),
    "packages that aren't this project's": foreign_lock,
    "a ceiling of another world": of_json(
        "ceilings.json", lambda of: [reading.update(flops_per_second=1e15) for reading in of["readings"]]
    ),
    "a ceiling of other cores": of_json("ceilings.json", lambda of: of["readings"][0].update(threads=64)),
    "no ceiling": without("ceilings.json"),
    "rows cut short": cut,
    "rows that are no rows": text("results.parquet", b"PAR1 or so"),
    "a signature of something else": text("name.sig", SIGNED),
}  # fmt: skip


def bomb(folder: Path) -> None:
    """A small file that unpacks to more than any set has."""
    path = folder / "results.parquet"
    table = pa.table({name: pa.nulls(200_000, SCHEMA.field(name).type) for name in NAMES}, schema=SCHEMA)
    pq.write_table(table, path, compression="zstd")


def copied(source: Path, sets: Path) -> Path:
    """The set's folder, of that name, in another folder of sets."""
    return Path(shutil.copytree(source, sets / source.name))
