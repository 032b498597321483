"""Measures what a CPU reaches: its roofline and the float32 ceiling before the blocks of a timed run, and the ceiling
again when a process seems faster than the machine."""

from __future__ import annotations

import datetime
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from suite.case import Flag, Outcome, Purpose
from suite.environments import venv
from suite.environments.locks import Locks
from suite.errors import UserError
from suite.ir.summary import Program
from suite.launch.engine import worker_environment
from suite.machine import limits
from suite.machine.bandwidth import caches
from suite.machine.description import moved
from suite.machine.roofline import PLACES, TIMES_MOVED, Roofline, undisturbed
from suite.results.limits import SpeedLimit
from suite.results.questions.programs import programs_of
from suite.sets.files import write_json
from suite.sets.result_set import ResultSet
from suite.sets.rows import Row, accepted
from suite.stacks.threads import thread_environ
from suite.workloads.catalog import Workload

# A host changes its pace for 10 to 20 s at a time: a ceiling that has moved is read again before the run warns of it.
READINGS_MAX, PAUSE_SECONDS = 3, 10.0
REMEDY = (
    "The cause may be another program, a setting of power or frequency, or a move of the virtual machine to another "
    "host. To be sure, stop now (Ctrl-C) and begin a new run."
)


def measure(store: ResultSet, locks: Locks, workloads: Mapping[str, Workload]) -> list[str]:
    """Measures the ceiling, and the roofline if the protocol asks for it, and writes both into the set. Returns
    warnings for the user.

    Only a CPU is measured, and only in a timed run that isn't a check: nothing but times is compared with what the
    machine reaches.
    """
    plan = store.plan
    if store.plan_file.target != "cpu" or plan.purpose is not Purpose.TIMED or plan.protocol.at_once:
        return []
    # A sweep of earlier today may have met a slow moment: if the run takes it over, it measures the bandwidths again.
    places = () if measure_roofline(store, locks) else places_needed(store, workloads)
    earlier = store.ceilings
    now = reading(store.plan_file.cores, places)
    for _ in range(READINGS_MAX - 1):
        if not any(map(undisturbed, earlier)) or (undisturbed(now) and not moved([*earlier, now])):
            break
        time.sleep(PAUSE_SECONDS)
        again = reading(store.plan_file.cores, places)
        now = max(now, again, key=lambda ceiling: (undisturbed(ceiling), ceiling["flops_per_second"]))
    store.ceilings = [*earlier, now]
    moves = moved(store.ceilings)
    return [*disturbances(store, now), *([f"{moves} {REMEDY}"] if moves else [])]


def disturbances(store: ResultSet, ceiling: Mapping[str, Any]) -> Iterable[str]:
    """Yields a sentence if other programs, or a quota, took cores while the ceiling or the roofline was measured."""
    quota = store.machine.get("cpu_quota")
    why = f"a quota allows {quota:.3g} cores" if quota else "other programs were running: this machine reaches more"
    if not undisturbed(ceiling):
        had = f"{ceiling['cores_had']:.0%}"
        yield f"The measurement of the f32 ceiling got only {had} of its cores' time, because {why}."
    if store.roofline and not undisturbed(store.roofline):
        yield "Other programs were running while the roofline was measured: this set has no efficiency."


def reading(cores: tuple[int, ...], places: Sequence[str] = ()) -> dict[str, Any]:
    """Returns a new reading of the ceiling, with the bandwidth of `places`. The orchestrator's NumPy measures it, in
    the version that every stack's lock pins."""
    at = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    options = ["--places", *places] if places else []
    return {"measured_at": at, **job(Path(sys.executable), "suite.machine.roofline", cores, "--ceiling", *options)}


def places_needed(store: ResultSet, workloads: Mapping[str, Workload]) -> tuple[str, ...]:
    """Returns those of `PLACES` from which some case of the set must move bytes, because the caches nearer to the cores
    can't keep them. The other bandwidths aren't needed, would take a second each, and arrays larger than a large cache
    take gigabytes."""
    moved = (
        workloads[planned.case.workload].spec.bytes_floor(planned.case.dims, planned.case.pass_)
        for planned in store.plan.cases
        if not planned.unsupported and not workloads[planned.case.workload].is_probe
    )
    most, sizes = max(moved, default=0), caches(store.plan_file.cores)
    nearer = {"cache": sizes.inner, "memory": sizes.last}
    return tuple(place for place in PLACES if most > TIMES_MOVED * nearer[place])


def again(store: ResultSet, workloads: Mapping[str, Workload]) -> Roofline | None:
    """Measures the ceiling once more, because a process seems faster than the machine: the first reading may have met a
    slow moment. Returns the limits by all readings of the set."""
    ceiling = reading(store.plan_file.cores, places_needed(store, workloads))
    store.ceilings = [*store.ceilings, ceiling | {"in_doubt": True}]
    return Roofline.limits(store.roofline, store.ceilings)


def hold_against_programs(
    store: ResultSet, too_fast: Callable[[Row, Sequence[Program]], SpeedLimit | None]
) -> list[Row]:
    """Compares the timed processes of a set with the programs that their stacks compiled. These are known once the
    processes that keep programs have run. For each process that was faster than its own program can be, writes another
    row with the same samples and the flag `implausible`. Returns the new rows."""
    rows = accepted(store.merged())
    compiled = {row["case_id"]: programs_of(row) for row in rows if row["purpose"] == Purpose.IR}
    flagged = []
    for row in rows:
        programs = compiled.get(row["case_id"], ())
        judged = row["purpose"] != Purpose.TIMED or row.outcome != Outcome.OK or Flag.IMPLAUSIBLE in row.flags
        broken = None if judged or not programs else too_fast(row, programs)
        if broken is not None:
            flags = [*row.flags, str(Flag.IMPLAUSIBLE)]
            further = row | {"retry": store.next_retry(row["block"]), "flags": flags, "reason": broken.exceeded_by(row)}
            store.write_attempt(further.attempt_name, further)
            flagged.append(further)
    return flagged


def measure_roofline(store: ResultSet, locks: Locks) -> bool:
    """Puts the roofline into the set, from today's sweep of this machine or a new one, if the protocol asks for it.
    Returns whether it was swept now."""
    if not store.plan.protocol.roofline or store.roofline:
        return False
    today = datetime.datetime.now(datetime.UTC).strftime("%Y%m%d")
    locks = venv.fitting(["numpy", "torch"], locks)
    bf16 = any(planned.case.precision == "bf16" and not planned.unsupported for planned in store.plan.cases)
    # Only if PyTorch's environment is there already: making it takes minutes, and a set can do without this roof.
    bf16 = bf16 and venv.status(locks.of("torch")) == "ready"
    name = f"{store.plan_file.machine_id}-{today}-{len(store.plan_file.cores)}{'-bf16' if bf16 else ''}.json"
    path = store.folder.parent / ".rooflines" / name
    if path.exists():
        store.roofline = json.loads(path.read_text(encoding="utf-8"))
        return False
    store.roofline = sweep(store.plan_file.cores, locks, bf16)
    if undisturbed(store.roofline):  # else the next run tries again
        path.parent.mkdir(exist_ok=True)
        write_json(path, store.roofline)
    return True


def sweep(cores: tuple[int, ...], locks: Locks, bf16: bool) -> dict[str, Any]:
    reached = job(venv.made(locks.of("numpy")).python, "suite.machine.roofline", cores)
    if not bf16:
        return reached
    peaks = job(venv.made(locks.of("torch")).python, "suite.machine.bf16_peak", cores)
    return reached | {"bf16_gemm_flops_per_second": peaks, "bf16_flops_per_second_best": max(peaks.values())}


def job(python: Path, module: str, cores: tuple[int, ...], *options: str) -> dict[str, Any]:
    """Returns the JSON that a measuring program prints, run with the workers' variables. Raises UserError if it
    fails."""
    variables = worker_environment(os.environ) | thread_environ(len(cores))
    command = [str(python), "-m", module, *options, "--cores", *map(str, cores)]
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        why = done.stderr.strip().rpartition("\n")[2] or f"its process exited {done.returncode}"
        raise UserError(" ".join([f"What the machine reaches couldn't be measured: {why}.", *limits.warnings()]))
    printed: dict[str, Any] = json.loads(done.stdout)
    return printed
