"""From a command line's words to a run: parse, plan, record, run. `tasks.py` only calls this."""

from __future__ import annotations

import dataclasses
import datetime
import json
import os
import re
import secrets
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from suite import doctor, environments, facts, preset
from suite.case import Attempt, Case, Outcome
from suite.errors import UserError, unknown
from suite.launch.local import worker_environment
from suite.plan import Plan, Planned, Selection, make
from suite.protocol import Protocol
from suite.results.schema import SCHEMA_VERSION
from suite.results.store import ResultSet, write_json
from suite.runner import Interpreter, Runner
from suite.stacks.catalog import Stack, environment_of
from suite.stacks.threads import thread_environ
from suite.workloads.catalog import Workload, find

ROOT = Path(__file__).parent.parent
BYTES = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "kib": 2**10, "mib": 2**20, "gib": 2**30,
         "k": 2**10, "m": 2**20, "g": 2**30}  # fmt: skip
SECONDS = {"": 1, "s": 1, "min": 60, "m": 60, "h": 3600}


@dataclass(frozen=True, kw_only=True)
class Request:
    """The options of `invoke run`, as typed."""

    target: str = "cpu"
    preset: str = "quick"
    workload: Sequence[str] = ()
    stack: Sequence[str] = ()
    size: Sequence[str] = ()
    pass_: Sequence[str] = ()
    precision: Sequence[str] = ()
    dims: Sequence[str] = ()
    cache: str = "cold"
    baseline: str | None = None
    engine: str = "local"
    repeats: str | None = None
    limit_memory: str | None = None
    timeout: str | None = None
    workload_path: Sequence[str] = ()
    results: str = "results"

    def command(self) -> str:
        """The command that asks the same again."""
        words = ["invoke", "run"]
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if value != field.default and value not in ((), [], None):
                option = "--" + field.name.rstrip("_").replace("_", "-")
                words += [f"{option}={item}" for item in (value if isinstance(value, (list, tuple)) else [value])]
        return shlex.join(words)


def parse_quantity(text: str, units: dict[str, int], option: str, example: str) -> float:
    """`512MiB` or `10min` as a number. Raises UserError with an example."""
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-z]*)\s*", text.lower())
    if not found or found[2] not in units or float(found[1]) <= 0:
        raise UserError(f"--{option}={text} isn't understood. Write it like --{option}={example}.")
    return float(found[1]) * units[found[2]]


def parse_dims(texts: Sequence[str]) -> tuple[tuple[str, int], ...]:
    """`n=1024` or `batch=2,seq=64`, repeatable."""
    dims = []
    for text in ",".join(texts).split(",") if texts else []:
        name, _, value = text.partition("=")
        if not name.strip() or not re.fullmatch(r"\d+", value.strip()):
            raise UserError(f"--dims {text} isn't understood: a dim is a name and a whole number, like --dims n=1024.")
        dims.append((name.strip(), int(value)))
    return tuple(dims)


def selection(request: Request, cores: Sequence[int]) -> Selection:
    """The options as a selection."""
    limit = request.limit_memory
    return Selection(
        workloads=tuple(request.workload),
        stacks=tuple(request.stack),
        sizes=tuple(request.size),
        passes=tuple(request.pass_),
        precisions=tuple(request.precision),
        caches=("cold",) if request.cache == "cold" else ("cold", request.cache),
        dims=parse_dims(request.dims),
        target=request.target,
        device=request.target,
        threads=len(cores),
        limit_memory_bytes=None if limit is None else int(parse_quantity(limit, BYTES, "limit-memory", "2GiB")),
    )


def chosen_preset(request: Request) -> preset.Preset:
    """The preset with the protocol's constants that options replace."""
    chosen = preset.load(request.preset)
    replaced: dict[str, Any] = {}
    if request.repeats is not None:
        if not re.fullmatch(r"[1-9]\d*", request.repeats):
            raise UserError(f"--repeats={request.repeats} isn't understood: a run has at least one block.")
        blocks = int(request.repeats)
        replaced |= {"blocks": blocks, "blocks_max": blocks, "noisy_retries": 0}  # exactly so many, noisy or not
    if request.timeout is not None:
        seconds = parse_quantity(request.timeout, SECONDS, "timeout", "10min")
        compile_seconds = min(seconds, chosen.protocol.compile_timeout_seconds)
        replaced |= {"timeout_seconds": seconds, "compile_timeout_seconds": compile_seconds}
    return dataclasses.replace(chosen, protocol=dataclasses.replace(chosen.protocol, **replaced))


def refuse_platform() -> None:
    """Raises UserError on anything but Linux on x86-64."""
    problem = doctor.platform_problem()
    if problem:
        raise UserError(problem)


def absent(stack: Stack, target: str) -> str | None:
    """What this machine lacks for a stack, as the reason in its rows."""
    missing = doctor.devices().get(target)
    if missing:
        return missing
    if environments.status(stack.environment, target) == "no lock" and stack.environment != "orchestrator":
        return f"there is no lock for environment {stack.environment} on {target}"
    if "C++ compiler" in stack.needs and doctor.find_compiler() is None:
        return "no C++ compiler that Inductor takes was found (CXX, else g++); `invoke doctor` says how to get one"
    return None


def plan(request: Request) -> tuple[Plan, dict[str, Workload], preset.Preset]:
    """What a request asks, refused where it is mistyped; nothing has run yet."""
    refuse_platform()
    if request.engine != "local":
        raise UserError(f"--engine={request.engine}: this version has the engine 'local' alone.")
    workloads = find([Path(path) for path in request.workload_path])
    chosen = chosen_preset(request)
    made = make(new_set_id(chosen.name, request.target), chosen, selection(request, facts.usable_cores()), workloads,
                request.baseline, absent)  # fmt: skip
    for name in {environment_of(p.case.stack, p.case.variant) for p in made.cases if p.case.variant}:
        if environments.status(name, request.target) == "no lock":
            raise unknown(f"lock on {request.target} for the variant", name, environments.names(request.target))
    if not made.cases:
        raise UserError("Nothing is selected: no workload of the preset matches the options.")
    return made, workloads, chosen


def new_set_id(name: str, target: str) -> str:
    """Sorts by time: `20260102-030405-quick-cpu-1a2b`."""
    stamp = datetime.datetime.now(datetime.UTC).strftime("%Y%m%d-%H%M%S")
    return f"{stamp}-{name}-{target}-{secrets.token_hex(2)}"


def create(request: Request, made: Plan, chosen: preset.Preset, workloads: dict[str, Workload]) -> ResultSet:
    """The new result set: the plan first, then what it takes to run it again."""
    folder = Path(request.results) / made.set_id
    store = ResultSet.create(folder, describe(request, made, workloads))
    write_json(folder / "machine.json", facts.machine())
    shutil.copy(chosen.path, folder / "inputs" / chosen.path.name)
    for name in sorted({environment_of(planned.case.stack, planned.case.variant) for planned in made.cases}):
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
        "locks": {
            name: environments.lock_sha256(name, request.target)
            for name in sorted({environment_of(p.case.stack, p.case.variant) for p in made.cases if not p.unsupported})
        },
        "revision": output_of(["git", "rev-parse", "HEAD"]).strip() or None,
        "dirty": bool(output_of(["git", "status", "--porcelain"]).strip()),
    }  # fmt: skip


def output_of(command: list[str]) -> str:
    """What a command prints; empty where it can't run (an unpacked archive has no git)."""
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return done.stdout if done.returncode == 0 else ""


def reopen(path: str) -> tuple[ResultSet, Plan, dict[str, Workload]]:
    """A result set to resume. Refused on another machine or with other locks: those are never paired."""
    refuse_platform()
    store = ResultSet.open(Path(path))
    plan = store.plan
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
    return store, made, workloads


def check_again(words: Sequence[str]) -> frozenset[str]:
    """`--again=timeout,error`: outcome words. Raises UserError for others."""
    known = [str(outcome) for outcome in Outcome]
    again = [word.strip() for text in words for word in text.split(",") if word.strip()]
    for word in again:
        if word not in known:
            raise UserError(f"--again={word}: not an outcome. Known: {', '.join(known)}.")
    return frozenset(again)


def runner(store: ResultSet, made: Plan, workloads: dict[str, Workload], target: str) -> Runner:
    """A runner whose environments are made when an attempt first needs them."""
    ready: dict[str, Interpreter] = {}

    def interpreter(attempt: Attempt) -> Interpreter:
        name = environment_of(attempt.case.stack, attempt.case.variant)
        if name not in ready:
            made = environments.ensure(name, target)
            ready[name] = Interpreter(made.python, made.lock_sha256)
        return ready[name]

    return Runner(made, store, workloads, interpreter, facts.machine_id(), store.plan["cores"])


def to_json(store: ResultSet, rows: Sequence[dict[str, Any]], report: Path | None, code: int) -> str:
    """The machine-readable end of a run, for --json."""
    outcomes: dict[str, int] = {}
    for row in rows:
        outcomes[row["outcome"]] = outcomes.get(row["outcome"], 0) + 1
    return json.dumps({"set": str(store.folder), "results": str(store.folder / "results.parquet"),
                       "report": str(report) if report else None, "rows": len(rows), "outcomes": outcomes,
                       "exit_code": code})  # fmt: skip
