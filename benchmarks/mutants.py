"""Checks whether the gate catches deliberately wrong operations, models, optimizers, buffers, precisions and stacks.

Each mutant is a copy of the suite with a line or two changed, which the real worker runs, one mutant at a time. It is
caught if its row would be `wrong`; the table names the checks that found it. The unchanged code of each case runs too
and must be `ok`. Runs in the orchestrator's environment; benchmarks/README.md shows the command.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import re
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from time import perf_counter
from typing import Any

from benchmarks.cases import attempt_of, case_of
from suite.case import Case
from suite.environments import venv
from suite.launch.engine import worker_environment
from suite.protocol import Protocol
from suite.stacks.catalog import STACKS
from suite.stacks.names import case_name
from suite.workloads import catalog
from tests import adapter_mutations, mutations
from tests.mutations import Replacement
from tests.stressed_mutations import STRESSED_MUTANTS

ROOT = catalog.HOME.parents[1]
QUICK = Protocol(samples_min=5, seconds_min=0.01, samples_max=60, seconds_max=20.0, side_samples=3, side_samples_slow=2)
STACK_OF = {"numpy": "numpy", "jax": "jax_jit", "torch": "torch_eager", "tf": "tf_graph", "keras": "keras_jax"}
AT_SMALL = ("vit: larger_epsilon", "bert: squares_less_square", "resnet50: squares_less_square")
# {pattern of a reason that the gate gives: name of the check}. The first pattern that matches counts.
CHECKS = {
    r"float32: ": "the checks in float32",
    r"declared ": "probe product",
    r"optimizer with injected": "optimizer alone",
    r"after \d+ timed steps": "timed state",
    r"timed step \d+ shrank": "decay after the clocks",
    r" timed step (1[0-9]|[4-9][0-9]*|[2-9][0-9]|[0-9]{3,})": "step after the clocks",
    r"other values|other weights": "other values",
    r"stressed": "stressed weights",
    r"timed step |last timed loss|last timed output": "timed results",
    r"^movement of|where its gradient is zero": "movement",
    r"shrank": "decay",
    r"gradient of|loss and gradients|gradient is zero": "gradient",
    r"loss": "loss",
    r"output|forward pass": "output",
    r"parameters": "names",
}


@dataclass(frozen=True, slots=True)
class Trial:
    """One process: a case, and the changes of the suite's source, {path below `suite`: replacements}."""

    name: str
    kind: str
    what: str
    case: Case
    changes: dict[str, tuple[Replacement, ...]]


@dataclass(frozen=True, slots=True)
class TrialResult:
    """The outcome of a trial: its reason, the relative error, and how long the trial took."""

    outcome: str  # ok, wrong or error
    reason: str
    error: float | None
    seconds: float

    @property
    def checks(self) -> str:
        """Returns the checks that refused the trial, in the order of the row's reasons."""
        checks = [check_of(reason) for reason in self.reason.split("; ") if self.reason]
        return ", ".join(dict.fromkeys(check for check in checks if check))


def check_of(reason: str) -> str:
    """Returns the check that gave a reason; empty if no pattern matches it."""
    return next((check for words, check in CHECKS.items() if re.search(words, reason)), "")


def source_trials() -> Iterator[Trial]:
    """Yields wrong operations and models, on one stack of each dialect."""
    models = (mutations.MODEL_MUTANTS, mutations.MORE_MODEL_MUTANTS, mutations.DECODE_MUTANTS)
    for mutants, kind in ((mutations.MUTANTS, "op"), *((group, "model") for group in models)):
        for name, mutant in mutants.items():
            is_buffer = any(word in name for word in ("statistics", "variance", "means"))
            for dialect, changes in mutant.changes.items():
                file = path_of(mutant, dialect)
                # The pass train, if there is one, since it also gates the forward output.
                case = case_of(STACK_OF[dialect], mutant.origin, mutant.passes[-1])
                label = f"{mutant.origin}: {name}"
                yield Trial(label, "buffer" if is_buffer else kind, mutant.what, case, {file: changes})


def digest_trials() -> Iterator[Trial]:
    """Yields wrong models at a size whose reference has only digests."""
    names = ("window_off_by_one", "frozen_statistics", "stopped_gradient", "unscaled_frequencies")
    chosen = {name: mutations.MORE_MODEL_MUTANTS[name] for name in names} | mutations.DECODE_MUTANTS
    for name, mutant in chosen.items():
        file = path_of(mutant, "torch")
        case = case_of("torch_eager", mutant.origin, mutant.passes[-1], "small")
        kind = "buffer" if "statistics" in name else "model"
        yield Trial(f"{mutant.origin}: {name}", kind, mutant.what, case, {file: mutant.changes["torch"]})


def stressed_trials() -> Iterator[Trial]:
    """Yields workloads that are right until their weights are stressed, on one stack of each dialect; some of them also
    at a size whose reference has only digests."""
    for name, mutant in STRESSED_MUTANTS.items():
        sizes = ("tiny", "small") if name in AT_SMALL else ("tiny",)
        for dialect, changes in mutant.changes.items():
            file = path_of(mutant, dialect)
            for size in sizes:
                case = case_of(STACK_OF[dialect], mutant.origin, "train", size)
                yield Trial(name, "stressed", mutant.what, case, {file: changes})


def mixed_trials() -> Iterator[Trial]:
    """Yields wrong operations and models in bf16, on one stack of each dialect."""
    chosen = (
        ("ffn", "erf_gelu", mutations.MUTANTS),
        ("gpt_neo", "window_off_by_one", mutations.MORE_MODEL_MUTANTS),
        ("gpt2", "larger_epsilon", mutations.MODEL_MUTANTS),
    )
    for origin, name, mutants in chosen:
        for dialect in ("jax", "torch", "tf"):
            file = path_of(mutants[name], dialect)
            case = case_of(STACK_OF[dialect], origin, "train", precision="bf16")
            changes = {file: mutants[name].changes[dialect]}
            yield Trial(f"{origin}: {name}", "op" if origin == "ffn" else "model", mutants[name].what, case, changes)


def adapter_trials() -> Iterator[Trial]:
    """Yields wrong stacks, whose adapters are changed."""
    for name, mutant in adapter_mutations.MUTANTS.items():
        changes = {f"stacks/{file}": texts for file, texts in mutant.changes.items()}
        for size in mutant.sizes:
            dims = dict(mutant.dims)
            case = case_of(mutant.stack, mutant.workload, mutant.pass_, size, dims, precision=mutant.precision)
            yield Trial(name, mutant.kind, mutant.what, case, changes)


def controls(trials: Iterable[Trial]) -> list[Trial]:
    """Returns a trial of the unchanged code for every case of the mutants."""
    cases = {trial.case.case_id: trial.case for trial in trials}
    return [Trial("right", "control", "nothing is changed", case, {}) for case in cases.values()]


def folder_of(workload: str) -> str:
    """Returns a workload's folder, relative to `suite`."""
    return str(catalog.find()[workload].folder.relative_to(ROOT / "suite"))


def path_of(mutant: mutations.Mutant, dialect: str) -> str:
    """Returns the file that a mutant changes, relative to `suite`."""
    return str(mutations.file_of(mutant, dialect).relative_to(ROOT / "suite"))


def mutate(trial: Trial, folder: Path) -> None:
    """Copies the suite, without other workloads' golden files, and changes the copy. Raises ValueError if a text that
    is to be replaced is missing."""
    workload = folder_of(trial.case.workload)

    def skipped(place: str, names: list[str]) -> list[str]:
        return [name for name in names if name == "golden" and not place.endswith(workload)]

    shutil.copytree(ROOT / "suite", folder / "suite", ignore=skipped)
    for file, changes in trial.changes.items():
        path = folder / "suite" / file
        text = path.read_text(encoding="utf-8")
        for old, new in changes:
            if old not in text:
                raise ValueError(f"{trial.name}: {old!r} isn't in {file} any more")
            text = text.replace(old, new)
        path.write_text(text, encoding="utf-8")


def run(trial: Trial, protocol: Protocol = QUICK) -> TrialResult:
    """Makes the changed copy, and runs one process of its worker."""
    start = perf_counter()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        mutate(trial, folder)
        request = {
            "schema_version": 1,
            "attempt": attempt_of(trial.case).to_json(),
            "protocol": dataclasses.asdict(protocol),
            "cpus": sorted(os.sched_getaffinity(0))[:1],
            "gate": True,
            "flags": {},
            "workload_folder": str(folder / "suite" / folder_of(trial.case.workload)),
            "cache_directory": str(folder / "cache"),
            "environment": STACKS[trial.case.stack].environment,
        }
        (folder / "ATTEMPT.json").write_text(json.dumps(request), encoding="utf-8")
        python = venv.ensure(STACKS[trial.case.stack].environment, "cpu").python
        words = [str(python), "-m", "suite.worker", str(folder / "ATTEMPT.json"), "--out", place]
        environ = worker_environment(os.environ) | {"PYTHONPATH": place, "TMPDIR": place}
        done = subprocess.run(words, env=environ, cwd=place, capture_output=True, text=True, timeout=300, check=False)
        events = [json.loads(line) for line in (folder / "events.jsonl").read_text(encoding="utf-8").splitlines()]
    return judged(events, done.returncode, perf_counter() - start)


def judged(events: list[dict[str, Any]], code: int, seconds: float) -> TrialResult:
    """Returns the outcome as far as the worker's events decide it."""
    error = next(
        (
            event["columns"]["relative_error"]
            for event in events
            if event["event"] == "facts" and "relative_error" in event["columns"]
        ),
        None,
    )
    wrong = " ".join(event["reason"] for event in events if event["event"] == "wrong")
    if code:
        message = next((event["message"] for event in events if event["event"] == "exception"), f"exit code {code}")
        return TrialResult("error", " ".join(message.split()), error, seconds)
    return TrialResult("wrong" if wrong else "ok", wrong, error, seconds)


def word_for(trial: Trial, result: TrialResult) -> str:
    """Returns `caught`, `MISSED` or `missed (known)` for a mutant, `right` or `REFUSED` for unchanged code, and `ERROR`
    for a worker that failed."""
    if result.outcome == "error":
        return "ERROR"
    if trial.kind == "control":
        return "right" if result.outcome == "ok" else "REFUSED"
    if result.outcome == "wrong":
        return "caught"
    return "missed (known)" if trial.name in adapter_mutations.MISSED else "MISSED"


def chosen(options: argparse.Namespace) -> list[Trial]:
    """Returns the trials that the options select."""
    trials = [*source_trials(), *digest_trials(), *stressed_trials(), *mixed_trials(), *adapter_trials()]
    selected = [
        trial
        for trial in trials
        if any(fnmatch(trial.name, glob) for glob in options.mutant)
        and fnmatch(trial.kind, options.kind)
        and fnmatch(trial.case.stack, options.stack)
        and fnmatch(trial.case.precision, options.precision)
        and fnmatch(trial.case.size, options.size)
    ]
    unchanged = [] if options.no_controls else controls(selected)
    return unchanged if options.only_controls else unchanged + selected


def main() -> None:
    """Runs the trials and prints the table. Exits with 1 if a trial has a word in capitals."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("mutant", nargs="*", default=["*"], help="names, or globs of them (default: all)")
    for name in ("kind", "stack", "precision", "size"):
        parser.add_argument(f"--{name}", default="*", help="a glob")
    parser.add_argument("--no-controls", action="store_true", help="don't run the unchanged code")
    parser.add_argument("--only-controls", action="store_true", help="run only the unchanged code")
    parser.add_argument("--list", action="store_true", help="list the trials and run nothing")
    trials = chosen(parser.parse_args())
    if parser.parse_args().list:
        for trial in trials:
            print(f"{trial.kind:10} {case_name(trial.case):45} {trial.name}: {trial.what}")
        return
    counts: Counter[str] = Counter()
    for trial in trials:
        result = run(trial)
        word = word_for(trial, result)
        counts[word] += 1
        case = trial.case
        place = f"{case.stack} {case.workload} {case.size} {case.precision} {case.pass_}"
        error = "" if result.error is None else f"{result.error:.1e}"
        print(
            f"{word:14} | {trial.kind:9} | {trial.name:38} | {place:42} | {result.checks or result.reason[:80]:60} | "
            f"{error:7} | {result.seconds:4.1f} s",
            flush=True,
        )
    names = {trial.name for trial in trials if trial.kind != "control"}
    print(f"{len(names)} mutants in {len(trials)} processes: " + ", ".join(f"{n} {word}" for word, n in counts.items()))
    for name in sorted(names & set(adapter_mutations.MISSED)):
        print(f"Known to be missed: {name}: {adapter_mutations.MISSED[name]}")
    raise SystemExit(1 if any(word.isupper() for word in counts) else 0)


if __name__ == "__main__":
    main()
