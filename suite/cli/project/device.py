"""`./stackwars doctor --device=cuda`: can this device's figures be trusted? Small runs, each judged by
suite/answers/device_checks.py; what was interrupted goes on when the command is called again."""

from __future__ import annotations

import hashlib
import json
import math
import signal
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from suite import results, units
from suite.answers import device_checks, device_memory
from suite.answers.device_checks import Check, Judge
from suite.answers.sentences import counted
from suite.cli.measure.carry_out import measured
from suite.cli.options import FrontierOptions, RunOptions, command
from suite.cli.terminal.output import print_json, print_table
from suite.environments import say
from suite.errors import UserError
from suite.guard.out import write_own
from suite.launch.engine import ROOT
from suite.launch.local import can_run
from suite.machine import devices, facts, noise
from suite.machine.description import named
from suite.page.formats.render import filled, render
from suite.results.outcomes import FAILED, INTERRUPTED, NOTHING_MEASURED
from suite.run.start.engines import LOCAL, interpreter
from suite.run.start.prepare import prepare
from suite.run.start.reopen import reopen
from suite.run.start.run import create
from suite.sets.files import check_writable, sole
from suite.sets.listing import folders
from suite.sets.result_set import ResultSet
from suite.stacks.catalog import IMPORTS, STACKS
from suite.stacks.catalog import add as add_stacks
from suite.workloads.catalog import DIALECTS

SECONDS_MAX = 600.0  # of a call, after which the next one goes on
FOUND = "check.json"  # written when every step is done
PAGE = "index.html"
UNWAITED = ROOT / "suite" / "stacks" / "unwaited"
TIMEOUT = "3min"  # of a process, so that one which hangs ends as a finding
CPU_LIMIT = "3GiB"  # of a process that is to run out of memory on a CPU
LIMIT_BYTES = 3 * 2**30
PRODUCT = {"cpu": 1536}  # rows of a product that takes some 20 ms or more
PRODUCT_OF_ACCELERATORS = 8192
CHECKED = ("gemm", "ffn", "mha", "selu", "gpt2")


@dataclass(frozen=True)
class Step:
    """A part of the check: a run, and what judges its set."""

    name: str
    options: RunOptions | FrontierOptions
    judges: tuple[Judge, ...]


def steps(target: str, python: str | None) -> list[Step]:
    """Returns the steps, those first that tell most."""
    # Keras runs on the frameworks that are checked, and Numba runs no workload of the suite.
    own = tuple(
        name
        for name, stack in STACKS.items()
        if target in stack.targets and stack.dialect in DIALECTS and not lacking(python, stack.environment)
        if not name.endswith(device_checks.UNWAITED) and not stack.on_request
    )
    if not own:
        raise UserError(f"{python} has none of the frameworks that run on {target}.")
    add_stacks([UNWAITED])
    clocked = tuple(
        name
        for name, stack in STACKS.items()
        if name.removesuffix(device_checks.UNWAITED) in own and target in stack.targets
    )
    common = RunOptions(
        target=target, engine="local", python=python, pass_=("forward",), stack=own, timeout=TIMEOUT, force=True
    )
    tiny = replace(common, preset="check", size=("tiny",), pass_=("train",))
    product = f"n={PRODUCT.get(target, PRODUCT_OF_ACCELERATORS)}"
    long = replace(common, preset="device", workload=("gemm",), dims=(product,))
    low = ("tf32", "bf16") if target == "cuda" else ("bf16",)
    side = math.isqrt(2 * device_bytes(target) // 4)
    small = replace(tiny, workload=("gemm",), pass_=("forward",), dims=("n=64",))
    # The first of each framework; of a CPU nobody publishes a peak.
    one_each = {STACKS[name].environment: name for name in reversed(own) if target != "cpu"}.values()
    limit = (CPU_LIMIT,) if target == "cpu" else ()
    fitting = "tiny" if target == "cpu" else "full"  # the batch at which a tiny step fills a GPU overflows kernels
    search = FrontierOptions(
        target=target,
        engine="local",
        python=python,
        stack=tuple(name for name in own if STACKS[name].compiler == "XLA")[:1],
        workload=("gpt2",),
        size=(fitting,),
        limit_memory=limit,
        timeout=TIMEOUT,
        tolerance="10%",
        force=True,
    )
    # A training step is gated with its forward pass. What is cut off begins anew: on a device in five parts.
    groups = [("operations", CHECKED)] if target == "cpu" else [(name, (name,)) for name in CHECKED]
    forward_alone = tuple(name for name in own if STACKS[name].forward_only or target != "cpu")
    checks, about_memory = device_checks, device_memory
    judges = checks.right, checks.precision, checks.bounded
    ceilings = checks.ran, checks.ceilings, checks.precision
    timed = replace(long, profile="on", stack=clocked, stack_path=(str(UNWAITED),), repeats=2)
    planned = [
        *(Step(name, replace(tiny, workload=names), (*judges, about_memory.held)) for name, names in groups),
        Step("forward", replace(tiny, workload=("gpt2",), pass_=("forward",), stack=forward_alone), judges),
        Step("clock", timed, (checks.ran, checks.clock, checks.ceilings, checks.precision, checks.noise)),
        Step("low precision", replace(tiny, workload=("gpt2",), precision=low), judges),
        Step("ceilings", replace(long, precision=low, workload=("gemm", "selu"), stack=(*one_each,)), ceilings),
        Step("memory", replace(small, dims=(f"n={side},m={side},k=8",), limit_memory=limit), (about_memory.memory,)),
        Step("afterwards", small, (about_memory.afterwards,)),
        Step("largest batch", search, (about_memory.largest, about_memory.planned)),
    ]
    return [step for step in planned if step.options.stack]  # not every interpreter has a stack of each kind


def lacking(python: str | None, environment: str) -> str:
    """Returns which of an environment's packages an interpreter can't import; empty if none, or without one."""
    modules = IMPORTS.get(environment, ()) if python else ()
    return next((module for module in modules if not can_run(str(python), f"import {module}")), "")


def device_bytes(target: str) -> int:
    """Returns the memory that a step can't exceed: the largest GPU's, or the limit that a CPU's processes get."""
    sizes = devices.sizes(devices.gpus())
    return max(sizes) if target == "cuda" and sizes else LIMIT_BYTES if target == "cpu" else 200 * 2**30


def check_device(target: str, python: str | None, folder: Path, *, as_json: bool) -> int:
    """Checks a device, prints the findings and writes a page and JSON. Returns the exit code."""
    lack = devices.missing()[target]
    if lack:
        say(f"Nothing was checked: {lack}.")
        return NOTHING_MEASURED
    python = interpreter(python, LOCAL) if python else None
    kind = f"{target}-own{hashlib.sha256(python.encode()).hexdigest()[:8]}" if python else target
    check_writable(folder)
    home = unfinished(folder, kind) or folder / f"{kind}-{time.strftime('%Y%m%d-%H%M%S')}"
    ends = time.monotonic() + SECONDS_MAX
    findings: list[dict[str, Any]] = []
    for step in steps(target, python):
        place = home / step.name.replace(" ", "-")
        store = next(map(ResultSet.open, folders(place)), None)
        if store is None or not store.is_whole:
            say(f"Step '{step.name}'")
            try:
                store = carried_out(step.options, place, store, ends - time.monotonic())
            except UserError as refused:  # the other steps can still tell something
                failed = Check(f"step {step.name}", ok=False, found=str(refused), remedy="mend it, then check again")
                findings.append({"step": step.name, **asdict(failed), "set": ""})
                continue
        if store is None:
            over = f"{units.duration(SECONDS_MAX)} are over" if time.monotonic() >= ends else "What has ended is kept"
            say(f"{over}: call it again, and it goes on with '{step.name}'.")
            return INTERRUPTED
        loaded = results.load(store.folder)
        findings += [
            {"step": step.name, **asdict(check), "set": str(store.folder.relative_to(home))}
            for judge in step.judges
            for check in judge(loaded)
        ]
    return told(findings, unchecked(target, python), home, facts.machine(), as_json=as_json)


def unfinished(folder: Path, kind: str) -> Path | None:
    """Returns the folder of the last check of this kind, if that was interrupted."""
    begun = sorted(path for path in folder.glob(f"{kind}-[0-9]*") if path.is_dir())
    return begun[-1] if begun and not (begun[-1] / FOUND).exists() else None


@contextmanager
def interrupted_after(seconds: float) -> Iterator[None]:
    """Raises KeyboardInterrupt in the `with` block after so many seconds, as Ctrl-C would."""
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)


def carried_out(
    options: RunOptions | FrontierOptions, place: Path, begun: ResultSet | None, seconds: float
) -> ResultSet | None:
    """Measures a step's set, or the rest of it; None if these seconds are over or Ctrl-C was pressed."""
    if seconds <= 0:
        return None
    with suppress(KeyboardInterrupt), interrupted_after(seconds), noise.alone(force=options.force) as disturbances:
        if begun is None:
            preset = options.chosen_preset()
            planned = prepare(
                preset,
                options.selection(facts.usable_cores()),
                engine=options.engine,
                workload_paths=options.workload_paths,
                **options.prepared,
            )
            store = create(planned, preset.path, options.given(), place)
        else:
            store, planned = reopen(begun.folder)
        with sole(store.folder):
            if measured(store, planned, frozenset(), disturbances) is None:
                return None
            render(store.folder)
        return store
    return None


def unchecked(target: str, python: str | None) -> list[str]:
    """Returns what no step checks, each with the command that does."""
    asked = dict.fromkeys(stack.environment for stack in STACKS.values() if target in stack.targets)
    lack = {environment: module for environment in asked if (module := lacking(python, environment))}
    own = [f"--target={target}", "--engine=local", *([f"--python={python}"] if python else [])]
    limit = ["--limit-memory=6GiB"] if target == "cpu" else []
    return [
        *(f"{environment}: {python} can't import {module}" for environment, module in lack.items()),
        f"the largest batch of published sizes: {command(['frontier', 'gpt2', *own, *limit])}",
        f"models at their published sizes: {command(['run', '--preset=full', *own])}",
        f"the knobs of the tuned track: {command(['run', '--track=default,tuned', *own])}",
        "the forward pass of the four operations alone: a training step is gated with its own",
        "in which precision bf16 products are summed: only that the model keeps the gate's tolerance",
    ]


def told(
    findings: list[dict[str, Any]], rest: Iterable[str], home: Path, machine: dict[str, Any], *, as_json: bool
) -> int:
    """Writes page and JSON, and prints the findings, what failed first. Returns the exit code."""
    findings = sorted(findings, key=lambda it: (it["ok"] is True, it["ok"] is None))
    failed = [found for found in findings if found["ok"] is False]
    untold = [found for found in findings if found["ok"] is None]
    good = len(findings) - len(failed) - len(untold)
    names = "; ".join(f"{found['name']} ({found['step']})" for found in failed)
    sentence = (
        f"{good} of {counted(len(findings), 'check')} hold"
        + (f", {len(untold)} couldn't be judged" if untold else "")
        + (f". Failed: {names}." if failed else ".")
    )
    document: dict[str, Any] = {
        "device": named(machine),
        "sentence": sentence,
        "checks": findings,
        "not_checked": [*rest],
    }
    write_own(home / FOUND, json.dumps(document, indent=1) + "\n")
    write_own(home / PAGE, filled("device.html.j2", **document))
    if as_json:
        print_json(document | {"page": str(home / PAGE)})
    else:
        word = {True: "ok", False: "FAILED", None: "not checked"}
        lines = [
            [
                it["step"],
                it["name"],
                word[it["ok"]],
                it["found"],
                it["limit"],
                it["remedy"] if it["ok"] is False else "",
            ]
            for it in findings
        ]
        print_table("Device check", ["step", "check", "verdict", "found", "limit", "remedy"], lines)
        print(sentence)
        for line in rest:
            print(f"Not checked: {line}")
        print(f"Page: {home / PAGE}\nJSON: {home / FOUND}")
    return FAILED if failed else 0 if good else NOTHING_MEASURED
