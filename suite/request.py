"""From a request to a run: plan, choose the engine, record, run. `tasks.py` only calls this."""

from __future__ import annotations

import dataclasses
import datetime
import json
import os
import secrets
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from suite import doctor, engines, environments, facts, preset
from suite.case import Case
from suite.errors import UserError, unknown
from suite.launch.engine import worker_environment
from suite.options import Request, chosen_preset, selection
from suite.plan import Plan, Planned, make
from suite.protocol import Protocol
from suite.results.schema import SCHEMA_VERSION
from suite.results.store import ResultSet, write_json
from suite.runner import Runner
from suite.stacks.catalog import Stack, environment_of
from suite.stacks.threads import thread_environ
from suite.workloads.catalog import Workload, find

ROOT = Path(__file__).parent.parent


@dataclass(frozen=True, slots=True)
class Planning:
    """A request understood: what is run, on which engine. The request's engine is the one chosen."""

    request: Request
    plan: Plan
    workloads: dict[str, Workload]
    preset: preset.Preset
    engine: engines.Choice


def refuse_platform() -> None:
    """Raises UserError on anything but Linux on x86-64."""
    problem = doctor.platform_problem()
    if problem:
        raise UserError(problem)


def absent(stack: Stack, target: str, engine: engines.Choice | None = None, python: str | None = None) -> str | None:
    """What this machine lacks for a stack, as the reason in its rows."""
    missing = doctor.devices().get(target)
    if missing:
        return missing
    pinned = python is None and stack.environment != environments.ORCHESTRATOR
    if pinned and environments.status(stack.environment, target) == "no lock":
        return f"there is no lock for environment {stack.environment} on {target}"
    if engine is not None and engine.client is not None:
        return engines.lacks(engine.client, target)  # an image brings its own compiler
    if "C++ compiler" in stack.needs and doctor.find_compiler() is None:
        return "no C++ compiler that Inductor takes was found (CXX, else g++); `invoke doctor` says how to get one"
    return None


def plan(request: Request, *, dry: bool = False) -> Planning:
    """What a request asks, refused where it is mistyped; nothing is measured yet, but images may be built."""
    refuse_platform()
    workloads = find([Path(path) for path in request.workload_path])
    chosen = chosen_preset(request)
    asked = selection(request, facts.usable_cores())
    cases = partial(make, new_set_id(chosen.name, request.target), chosen, asked, workloads, request.baseline)
    # Twice: mistakes are refused before an image is built, and what is lacking depends on the engine.
    first = cases(lambda stack, target: doctor.devices().get(target))
    if not first.cases:
        raise UserError("Nothing is selected: no workload of the preset matches the options.")
    for name in {environment_of(p.case.stack, p.case.variant) for p in first.cases if p.case.variant}:
        if environments.status(name, request.target) == "no lock":
            raise unknown(f"lock on {request.target} for the variant", name, environments.names(request.target))
    engine = engines.choose(request.engine, needed(first), request.target, request.python, build=not dry)
    made = cases(partial(absent, engine=engine, python=request.python))
    return Planning(dataclasses.replace(request, engine=engine.name), made, workloads, chosen, engine)


def needed(made: Plan) -> list[str]:
    """The environments of the cases that can run, variants included."""
    return sorted({environment_of(p.case.stack, p.case.variant) for p in made.cases if not p.unsupported})


def new_set_id(name: str, target: str) -> str:
    """Sorts by time: `20260102-030405-quick-cpu-1a2b`."""
    stamp = datetime.datetime.now(datetime.UTC).strftime("%Y%m%d-%H%M%S")
    return f"{stamp}-{name}-{target}-{secrets.token_hex(2)}"


def create(planning: Planning) -> ResultSet:
    """The new result set: the plan first, then what it takes to run it again."""
    request, made, workloads, chosen = planning.request, planning.plan, planning.workloads, planning.preset
    folder = Path(request.results) / made.set_id
    store = ResultSet.create(folder, describe(request, made, workloads))
    write_json(folder / "machine.json", facts.machine())
    shutil.copy(chosen.path, folder / "inputs" / chosen.path.name)
    for name in locked_environments(request, made):
        lock = environments.lock_path(name, request.target)
        if lock.exists():
            shutil.copy(lock, folder / "inputs" / f"{name}.lock.txt")
    for name in {planned.case.workload for planned in made.cases}:
        outside = workloads[name].folder
        if not outside.is_relative_to(ROOT / "suite"):  # no revision of ours has it
            kept = folder / "inputs" / "workloads" / name
            shutil.copytree(outside, kept, ignore=shutil.ignore_patterns("__pycache__"))
    for file, command in (("revision.txt", ["git", "rev-parse", "HEAD"]), ("diff.patch", ["git", "diff", "HEAD"])):
        (folder / "inputs" / file).write_text(output_of(command), encoding="utf-8")
    latest = folder.parent / "latest"
    latest.unlink(missing_ok=True)
    latest.symlink_to(folder.name)
    return store


def measure_ceiling(store: ResultSet, made: Plan) -> None:
    """The machine's roof into the set, from today's sweep of this machine or a new one. Not for `quick`."""
    cores = facts.usable_cores()
    if not made.protocol.ceiling or store.plan["request"]["target"] != "cpu" or store.read_json("ceiling.json"):
        return
    today = datetime.datetime.now(datetime.UTC).strftime("%Y%m%d")
    kept = store.folder.parent / ".ceilings" / f"{facts.machine_id()}-{today}-{len(cores)}.json"
    if not kept.exists():
        python = environments.ensure("numpy", "cpu").python
        variables = worker_environment(os.environ)[0] | thread_environ(len(cores))
        command = [str(python), "-m", "suite.ceiling", "--cores", *map(str, cores)]
        done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise UserError(f"The machine's ceiling couldn't be measured: {done.stderr.strip()[-500:]}")
        kept.parent.mkdir(exist_ok=True)
        write_json(kept, json.loads(done.stdout))
    shutil.copy(kept, store.folder / "ceiling.json")


def describe(request: Request, made: Plan, workloads: dict[str, Workload]) -> dict[str, Any]:
    """plan.json: all planned attempts of the first stage, and every constant in force."""
    attempts = [a.to_json() for number in range(1, made.protocol.blocks + 1) for a in made.block(number)]
    return {
        "schema_version": SCHEMA_VERSION,
        "set_id": made.set_id,
        "created_at": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "command": request.command(),
        "request": dataclasses.asdict(request),
        "protocol": dataclasses.asdict(made.protocol),
        "baseline": made.baseline,
        "twin": made.twin,
        "seed": made.seed,
        "machine_id": facts.machine_id(),
        "cores": facts.usable_cores(),
        "cases": [planned.case.to_json() | {"unsupported": planned.unsupported} for planned in made.cases],
        "attempts": attempts,
        "units": {w.name: w.spec.items(next(iter(w.sizes.values())))[1] for w in workloads.values()},
        "locks": {name: environments.lock_sha256(name, request.target) for name in locked_environments(request, made)},
        "revision": output_of(["git", "rev-parse", "HEAD"]).strip() or None,
        "dirty": bool(output_of(["git", "status", "--porcelain"]).strip()),
    }  # fmt: skip


def locked_environments(request: Request, made: Plan) -> list[str]:
    """The environments whose locks decide what runs: none with an interpreter of the user's own."""
    if request.python is not None:
        return []
    return needed(made)


def output_of(command: list[str]) -> str:
    """What a command prints; empty where it can't run (an unpacked archive has no git)."""
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return done.stdout if done.returncode == 0 else ""


def reopen(path: str) -> tuple[ResultSet, Plan, dict[str, Workload], engines.Choice]:
    """A result set to resume. Refused on another machine or with other locks: those are never paired."""
    refuse_platform()
    store = ResultSet.open(Path(path))
    plan = store.plan
    if plan["schema_version"] != SCHEMA_VERSION:
        raise UserError(f"{path} was begun by another version of this program, which has to complete it.")
    if plan["machine_id"] != facts.machine_id():
        raise UserError(f"{path} was begun on another machine; results of two machines are never paired.")
    for name, lock in plan["locks"].items():
        if environments.lock_sha256(name, plan["request"]["target"]) != lock:
            raise UserError(
                f"{path} was begun with another lock of environment '{name}' "
                f"(inputs/{name}.lock.txt there). Restore it, or begin a new run."
            )
    workloads = find([Path(folder) for folder in plan["request"]["workload_path"]])
    cases = []
    for fields in plan["cases"]:
        reason = fields.pop("unsupported")
        cases.append(Planned(Case.from_json(fields), reason))
    protocol = Protocol(**plan["protocol"])
    made = Plan(plan["set_id"], tuple(cases), protocol, plan["baseline"], plan["twin"], plan["seed"])
    asked = plan["request"]
    engine = engines.choose(asked["engine"], plan["locks"], asked["target"], asked["python"], build=True)
    return store, made, workloads, engine


def runner(store: ResultSet, made: Plan, workloads: dict[str, Workload], engine: engines.Choice) -> Runner:
    """Runs the attempts of a plan on this engine."""
    request = store.plan["request"]
    provide = engines.provider(engine, needed(made), request["target"], made.set_id, request["python"])
    return Runner(made, store, workloads, provide, facts.machine_id(), store.plan["cores"], engine.name,
                  unpinned=request["python"] is not None)  # fmt: skip


def to_json(store: ResultSet, rows: Sequence[dict[str, Any]], report: Path | None, code: int) -> str:
    """The machine-readable end of a run, for --json."""
    outcomes: dict[str, int] = {}
    for row in rows:
        outcomes[row["outcome"]] = outcomes.get(row["outcome"], 0) + 1
    return json.dumps({"set": str(store.folder), "results": str(store.folder / "results.parquet"),
                       "report": str(report) if report else None, "rows": len(rows), "outcomes": outcomes,
                       "exit_code": code})  # fmt: skip
