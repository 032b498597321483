"""Cases, adapters without a framework, and workers run as processes, for the worker's tests."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from suite.case import Attempt, Case, Purpose
from suite.protocol import Protocol
from suite.workloads import catalog
from tests.launch.programs import HUNG_SECONDS
from tests.results.rows import GEMM
from tests.scenes import FAKE_ADAPTER

FAST = Protocol(samples_min=5, seconds_min=0.01, samples_max=60, seconds_max=5.0, side_samples=3, side_samples_slow=2)
ROOT = Path(catalog.HOME).parents[1]


def case_of(**fields: Any) -> Case:
    """`gemm` at `tiny`, forward, on numpy, but for what is given."""
    asked = dataclasses.replace(GEMM, **{"threads": 1, **fields})
    if "dims" in fields:
        return asked
    workload = catalog.load(catalog.HOME / "ops" / asked.workload)
    return dataclasses.replace(asked, dims=workload.dims(asked.size, {}))


def attempt_of(case: Case, purpose: Purpose = Purpose.TIMED) -> Attempt:
    """The first attempt of block 1."""
    return Attempt(set_id="test", case=case, block=1, position=1, replicate=1, purpose=purpose, retry=1, seed=3)


def request(
    attempt: Attempt,
    folder: Path,
    out: Path,
    protocol: Protocol = FAST,
    gate: bool = True,
    changes: Mapping[str, Any] | None = None,
) -> Path:
    """ATTEMPT.json as the launcher writes it."""
    out.mkdir(parents=True, exist_ok=True)
    file = out / "ATTEMPT.json"
    text: dict[str, Any] = {
        "schema_version": 1,
        "attempt": attempt.to_json(),
        "protocol": dataclasses.asdict(protocol),
        "cpus": sorted(os.sched_getaffinity(0))[:1],
        "gate": gate,
        "workload_folder": str(folder),
        "stack_file": str(FAKE_ADAPTER) if attempt.case.stack == "fake" else "",
        "cache_directory": str(out / "cache"),
        "environment": "numpy",
        "flags": {},
    } | dict(changes or {})
    file.write_text(json.dumps(text), encoding="utf-8")
    return file


def run_worker(
    file: Path, python: str | Path = sys.executable, environ: Mapping[str, str] | None = None
) -> tuple[subprocess.CompletedProcess[str], list[dict[str, Any]]]:
    """The process's end and its events."""
    variables = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)} | dict(environ or {})
    done = subprocess.run(
        [str(python), "-m", "suite.worker", str(file), "--out", str(file.parent)],
        env=variables,
        capture_output=True,
        text=True,
        timeout=HUNG_SECONDS,
        cwd=file.parent,
    )
    return done, read_events(file.parent)


def read_events(folder: Path) -> list[dict[str, Any]]:
    """Every line of events.jsonl."""
    return [json.loads(line) for line in (folder / "events.jsonl").read_text(encoding="utf-8").splitlines()]


def columns_of(events: list[dict[str, Any]]) -> dict[str, Any]:
    """The facts of all events, and the samples joined."""
    columns: dict[str, Any] = {}
    for event in events:
        if event["event"] == "facts":
            columns |= event["columns"]
        elif event["event"] == "samples":
            for name, values in event.items():
                if isinstance(values, list):
                    columns[name] = columns.get(name, []) + values
    return columns


def of(events: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    """The events of one name."""
    return [event for event in events if event["event"] == name]


def flags_of(events: list[dict[str, Any]]) -> set[str]:
    """The flags that were raised."""
    return {event["flag"] for event in of(events, "flag")}
