"""`./stackwars doctor --device=cuda`: can this device's figures be trusted? Small runs, each judged by
suite/answers/device_checks.py; what was interrupted goes on when the command is called again."""

from __future__ import annotations

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
from suite.answers import device_checks
from suite.answers.device_checks import Judge
from suite.answers.sentences import counted
from suite.cli.measure.run import measured
from suite.cli.options import FrontierOptions, RunOptions, command
from suite.cli.terminal.output import print_json, print_table
from suite.environments import say
from suite.errors import UserError
from suite.launch.engine import ROOT
from suite.launch.local import can_run
from suite.machine import devices, facts, noise
from suite.machine.description import named
from suite.page.formats.render import filled, render, write
from suite.results.outcomes import FAILED, INTERRUPTED, NOTHING_MEASURED
from suite.run.start.engines import LOCAL, interpreter
from suite.run.start.prepare import prepare
from suite.run.start.reopen import reopen
from suite.run.start.run import create
from suite.sets.files import sole
from suite.sets.result_set import ResultSet
from suite.stacks.catalog import IMPORTS, STACKS
from suite.stacks.catalog import add as add_stacks

SECONDS_MAX = 600.0  # of a call, after which the next one goes on
FOUND = "check.json"  # written when every step is done
PAGE = "index.html"
UNWAITED = ROOT / "suite" / "stacks" / "unwaited"
MIB = 2**20
CPU_LIMIT = "3GiB"  # of a process that is to run out of memory on a CPU
LIMIT_BYTES = 3 * 2**30
PRODUCT = {"cpu": 2048}  # rows of a product that takes some 20 ms or more
PRODUCT_OF_ACCELERATORS = 8192


@dataclass(frozen=True)
class Step:
    """A part of the check: a run, and what judges its set."""

    name: str
    options: RunOptions | FrontierOptions
    judges: tuple[Judge, ...]


def steps(target: str, python: str | None) -> list[Step]:
    """Returns the steps, those first that tell most."""
    # Keras runs on the frameworks that are checked.
    own = tuple(
        name
        for name, stack in STACKS.items()
        if target in stack.targets and not stack.native and not lacking(python, stack.environment)
    )
    if not own:
        raise UserError(f"{python} has none of the frameworks that run on {target}.")
    add_stacks([UNWAITED])
    clocked = tuple(
        name
        for name, stack in STACKS.items()
        if name.removesuffix(device_checks.UNWAITED) in own and target in stack.targets
    )
    common = RunOptions(target=target, engine="local", python=python, pass_=("forward",), stack=own, force=True)
    tiny = replace(common, preset="check", size=("tiny",), pass_=("train",))
    product = f"n={PRODUCT.get(target, PRODUCT_OF_ACCELERATORS)}"
    long = replace(common, preset="device", workload=("gemm",), dims=(product,))
    low = ("bf16",) if target == "cpu" else ("tf32", "bf16")
    side = math.isqrt(2 * device_bytes(target) // 4)
    large = replace(tiny, workload=("gemm",), pass_=("forward",), dims=(f"n={side},m={side},k=8", "n=64"))
    one_each = {STACKS[name].environment: name for name in reversed(own)}.values()  # the first of each framework
    # On an accelerator a product of `quick` would show how long a call takes.
    twice = replace(long, dims=() if target == "cpu" else (product,), repeats=2)
    limit = (CPU_LIMIT,) if target == "cpu" else ()
    search = FrontierOptions(
        target=target,
        engine="local",
        python=python,
        stack=(next((name for name in own if STACKS[name].predicted_on), own[0]),),
        workload=("gpt2",),
        size=("tiny",),
        limit_memory=limit,
        tolerance="10%",
        force=True,
    )
    checks = device_checks
    return [
        Step("operations", replace(tiny, workload=("gemm", "ffn", "mha", "selu", "gpt2")), (checks.right, checks.held)),
        Step(
            "clock",
            replace(long, profile="on", stack=clocked, stack_path=(str(UNWAITED),)),
            (checks.clock, checks.ceilings, checks.planned),
        ),
        Step("low precision", replace(tiny, workload=("gpt2",), precision=low), (checks.right, checks.precision)),
        Step("ceilings", replace(long, precision=low, stack=(*one_each,)), (checks.ceilings, checks.precision)),
        Step("memory", replace(large, limit_memory=limit), (checks.memory,)),
        Step("largest batch", search, (checks.largest,)),
        Step("noise", twice, (checks.noise,)),
    ]


def lacking(python: str | None, environment: str) -> str:
    """Returns which of an environment's packages an interpreter can't import; empty if none, or without one."""
    modules = IMPORTS.get(environment, ()) if python else ()
    return next((module for module in modules if not can_run(str(python), f"import {module}")), "")


def device_bytes(target: str) -> int:
    """Returns the memory that a step can't exceed: the first GPU's, or the limit that a CPU's processes get."""
    sizes = [int(gpu["memory_mib"]) * MIB for gpu in devices.gpus() if gpu.get("memory_mib")]
    return sizes[0] if target == "cuda" and sizes else LIMIT_BYTES if target == "cpu" else 200 * 2**30


def check_device(target: str, python: str | None, folder: Path, *, as_json: bool) -> int:
    """Checks a device, prints the findings and writes a page and JSON. Returns the exit code."""
    lack = devices.missing()[target]
    if lack:
        say(f"Nothing was checked: {lack}.")
        return NOTHING_MEASURED
    home = unfinished(folder, target) or folder / f"{target}-{time.strftime('%Y%m%d-%H%M%S')}"
    ends = time.monotonic() + SECONDS_MAX
    python = interpreter(python, LOCAL) if python else None
    findings: list[dict[str, Any]] = []
    for step in steps(target, python):
        place = home / step.name.replace(" ", "-")
        begun = (path.parent for path in place.glob("*/plan.json") if not path.parent.is_symlink())  # not `latest`
        store = next(map(ResultSet.open, begun), None)
        if store is None or not store.is_whole:
            say(f"Step '{step.name}'")
            store = carried_out(step.options, place, store, ends - time.monotonic())
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
    return told(findings, unchecked(target, python), home, loaded.machine, as_json=as_json)


def unfinished(folder: Path, target: str) -> Path | None:
    """Returns the folder of the last check of this target, if that was interrupted."""
    begun = sorted(path for path in folder.glob(f"{target}-*") if path.is_dir())
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
    common = f"--target={target}" if target != "cpu" else "--limit-memory=6GiB"
    return [
        *(f"{environment}: {python} can't import {module}" for environment, module in lack.items()),
        f"the largest batch of published sizes: {command(['frontier', 'gpt2', common])}",
        f"models at their published sizes: {command(['run', '--preset=full', f'--target={target}'])}",
        f"the knobs of the tuned track: {command(['run', f'--target={target}', '--track=default,tuned'])}",
    ]


def told(
    findings: list[dict[str, Any]], rest: Iterable[str], home: Path, machine: dict[str, Any], *, as_json: bool
) -> int:
    """Writes page and JSON, and prints the findings, what failed first. Returns the exit code."""
    findings = sorted(findings, key=lambda it: (it["ok"] is True, it["ok"] is None))
    failed = [found for found in findings if found["ok"] is False]
    facts_ = [found for found in findings if found["ok"] is None]
    good = len(findings) - len(failed) - len(facts_)
    sentence = (
        f"{good} of {counted(len(findings), 'check')} hold"
        + (f", {len(facts_)} couldn't be made" if facts_ else "")
        + (f". Don't trust: {', '.join(found['name'] for found in failed)}." if failed else ".")
    )
    document: dict[str, Any] = {
        "device": named(machine),
        "sentence": sentence,
        "checks": findings,
        "not_checked": [*rest],
    }
    write(home / FOUND, json.dumps(document, indent=1) + "\n")
    write(home / PAGE, filled("device.html.j2", **document))
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
    return FAILED if failed else 0
