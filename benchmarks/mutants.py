"""Deliberately wrong operations, models, optimizers, buffers, precisions, stacks: which does the gate catch, and how?

Each is the suite's own source with a line or two changed, in a copy of it, run by the real worker one at a time. A
mutant is caught if its row would be `wrong`; the table names the checks that say so, as far as the row tells them.
Right code runs too, each case once, and must be `ok`. Run in the orchestrator's environment, see benchmarks/README.md.
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

from suite.case import Attempt, Case, Purpose
from suite.environments import venv
from suite.launch.engine import worker_environment
from suite.protocol import Protocol
from suite.stacks.catalog import STACKS
from suite.workloads import catalog
from tests import adapter_mutations, mutations
from tests.adapter_mutations import Change

ROOT = catalog.HOME.parents[1]
QUICK = Protocol(samples_min=5, seconds_min=0.01, samples_max=60, seconds_max=20.0, side_samples=3, side_samples_slow=2)
STACK_OF = {"numpy": "numpy", "jax": "jax_jit", "torch": "torch_eager", "tf": "tf_graph"}
# The first words that fit a reason name its check.
CHECKS = {
    r"float32: ": "the twin in float32",
    r"declared ": "probe product",
    r"optimizer with injected": "optimizer alone",
    r"after \d+ timed steps": "timed state",
    r"timed step |last timed loss|last timed output": "timed results",
    r"^movement of|where its gradient is zero": "movement",
    r" lost .* of itself|shrank": "decay",
    r"gradient of|loss and gradients|gradient is zero": "gradient",
    r"loss": "loss",
    r"output|forward pass": "output",
    r"parameters": "names",
}


@dataclass(frozen=True, slots=True)
class Trial:
    """One process: a case, and what is changed in the suite (path below `suite`: texts and replacements)."""

    name: str
    kind: str
    what: str
    case: Case
    changes: dict[str, tuple[Change, ...]]


@dataclass(frozen=True, slots=True)
class Answer:
    """What a trial's worker said."""

    outcome: str  # ok, wrong or error
    reason: str
    error: float | None
    seconds: float

    @property
    def checks(self) -> str:
        """The checks that found it, in the order of the reasons that the row tells."""
        found = [check_of(each) for each in self.reason.split("; ") if self.reason]
        return ", ".join(dict.fromkeys(check for check in found if check))


def check_of(reason: str) -> str:
    """The check that a reason comes from, by its words."""
    return next((check for words, check in CHECKS.items() if re.search(words, reason)), "")


def case_of(workload: str, stack: str, pass_: str, size: str = "tiny", precision: str = "f32") -> Case:
    """On one core, as all are: what is computed is asked, not how fast."""
    dims = catalog.find()[workload].dims(size, {})
    return Case(
        workload=workload,
        size=size,
        dims=dims,
        pass_=pass_,
        precision=precision,
        track="default",
        stack=stack,
        variant="",
        target="cpu",
        device="cpu",
        cache="cold",
        threads=1,
    )


def source_trials() -> Iterator[Trial]:
    """Wrong operations and models, on one stack of each dialect."""
    groups = ((mutations.MUTANTS, "op"), (mutations.MODEL_MUTANTS, "model"), (mutations.MORE_MODEL_MUTANTS, "model"))
    for mutants, kind in groups:
        for name, mutant in mutants.items():
            folder = path_of(mutant.origin)
            is_buffer = any(word in name for word in ("statistics", "variance", "means"))
            for dialect, changes in mutant.changes.items():
                file = f"{folder}/{mutant.origin}_{dialect}.py"
                # In the train pass both are asked; forward alone has nothing that train hasn't.
                case = case_of(mutant.origin, STACK_OF[dialect], "train")
                label = f"{mutant.origin}: {name}"
                yield Trial(label, "buffer" if is_buffer else kind, mutant.what, case, {file: changes})


def digest_trials() -> Iterator[Trial]:
    """Some of them where only digests are expected."""
    for name in ("window_off_by_one", "frozen_statistics", "stopped_gradient", "unscaled_frequencies"):
        mutant = mutations.MORE_MODEL_MUTANTS[name]
        file = f"{path_of(mutant.origin)}/{mutant.origin}_torch.py"
        case = case_of(mutant.origin, "torch_eager", "train", "small")
        kind = "buffer" if "statistics" in name else "model"
        yield Trial(f"{mutant.origin}: {name}", kind, mutant.what, case, {file: mutant.changes["torch"]})


def mixed_trials() -> Iterator[Trial]:
    """Some of them in bf16, one in each dialect."""
    chosen = (
        ("ffn", "erf_gelu", mutations.MUTANTS),
        ("gpt_neo", "window_off_by_one", mutations.MORE_MODEL_MUTANTS),
        ("gpt2", "larger_epsilon", mutations.MODEL_MUTANTS),
    )
    for origin, name, mutants in chosen:
        for dialect in ("jax", "torch", "tf"):
            file = f"{path_of(origin)}/{origin}_{dialect}.py"
            case = case_of(origin, STACK_OF[dialect], "train", precision="bf16")
            changes = {file: mutants[name].changes[dialect]}
            yield Trial(f"{origin}: {name}", "op" if origin == "ffn" else "model", mutants[name].what, case, changes)


def adapter_trials() -> Iterator[Trial]:
    """Wrong stacks."""
    for name, mutant in adapter_mutations.MUTANTS.items():
        changes = {f"stacks/{file}": texts for file, texts in mutant.changes.items()}
        for size in mutant.sizes:
            case = case_of(mutant.workload, mutant.stack, mutant.pass_, size, mutant.precision)
            yield Trial(name, mutant.kind, mutant.what, case, changes)


def controls(trials: Iterable[Trial]) -> list[Trial]:
    """The right code of every case that some mutant has."""
    cases = {trial.case.case_id: trial.case for trial in trials}
    return [Trial("right", "control", "nothing is changed", case, {}) for case in cases.values()]


def path_of(workload: str) -> str:
    """A workload's folder, below `suite`."""
    return str(catalog.find()[workload].folder.relative_to(ROOT / "suite"))


def mutate(trial: Trial, folder: Path) -> None:
    """Copy the suite, without other workloads' golden files, and change it. Raises ValueError if a text isn't there."""
    own = path_of(trial.case.workload)

    def skipped(place: str, names: list[str]) -> list[str]:
        return [name for name in names if name == "golden" and not place.endswith(own)]

    shutil.copytree(ROOT / "suite", folder / "suite", ignore=skipped)
    for file, changes in trial.changes.items():
        path = folder / "suite" / file
        text = path.read_text(encoding="utf-8")
        for old, new in changes:
            if old not in text:
                raise ValueError(f"{trial.name}: {old!r} isn't in {file} any more")
            text = text.replace(old, new)
        path.write_text(text, encoding="utf-8")


def run(trial: Trial) -> Answer:
    """One process of the worker, from the changed copy."""
    start = perf_counter()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        mutate(trial, folder)
        attempt = Attempt(
            set_id="mutants", case=trial.case, block=1, order=1, replicate=1, purpose=Purpose.TIMED, retry=1, seed=0
        )
        request = {
            "schema_version": 1,
            "attempt": attempt.to_json(),
            "protocol": dataclasses.asdict(QUICK),
            "cpus": sorted(os.sched_getaffinity(0))[:1],
            "gate": True,
            "flags": {},
            "workload_folder": str(folder / "suite" / path_of(trial.case.workload)),
            "cache_directory": str(folder / "cache"),
            "environment": STACKS[trial.case.stack].environment,
        }
        (folder / "ATTEMPT.json").write_text(json.dumps(request), encoding="utf-8")
        python = venv.ensure(STACKS[trial.case.stack].environment, "cpu").python
        words = [str(python), "-m", "suite.worker", str(folder / "ATTEMPT.json"), "--out", place]
        environ = worker_environment(os.environ)[0] | {"PYTHONPATH": place}
        done = subprocess.run(words, env=environ, cwd=place, capture_output=True, text=True, timeout=300, check=False)
        events = [json.loads(line) for line in (folder / "events.jsonl").read_text(encoding="utf-8").splitlines()]
    return judged(events, done.returncode, perf_counter() - start)


def judged(events: list[dict[str, Any]], code: int, seconds: float) -> Answer:
    """The row's outcome, as far as the worker alone decides it."""
    error = next(
        (
            each["columns"]["relative_error"]
            for each in events
            if each["event"] == "facts" and "relative_error" in each["columns"]
        ),
        None,
    )
    wrong = " ".join(each["reason"] for each in events if each["event"] == "wrong")
    if code:
        message = next((each["message"] for each in events if each["event"] == "exception"), f"exit code {code}")
        return Answer("error", " ".join(message.split()), error, seconds)
    return Answer("wrong" if wrong else "ok", wrong, error, seconds)


def verdict(trial: Trial, answer: Answer) -> str:
    """In a word: `caught`, `missed`, `missed (known)`; of right code `right` or `REFUSED`; `ERROR` if it didn't run."""
    if answer.outcome == "error":
        return "ERROR"
    if trial.kind == "control":
        return "right" if answer.outcome == "ok" else "REFUSED"
    if answer.outcome == "wrong":
        return "caught"
    return "missed (known)" if trial.name in adapter_mutations.MISSED else "MISSED"


def chosen(options: argparse.Namespace) -> list[Trial]:
    """What is to be run."""
    trials = [*source_trials(), *digest_trials(), *mixed_trials(), *adapter_trials()]
    asked = [
        trial
        for trial in trials
        if any(fnmatch(trial.name, glob) for glob in options.mutant)
        and fnmatch(trial.kind, options.kind)
        and fnmatch(trial.case.stack, options.stack)
        and fnmatch(trial.case.precision, options.precision)
        and fnmatch(trial.case.size, options.size)
    ]
    right = [] if options.no_controls else controls(asked)
    return right if options.only_controls else right + asked


def main() -> None:
    """Run them and print the table; exits 1 if one is missed that isn't known to be, or right code is refused."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("mutant", nargs="*", default=["*"], help="names, or globs of them (default: all)")
    for name in ("kind", "stack", "precision", "size"):
        parser.add_argument(f"--{name}", default="*", help="a glob")
    parser.add_argument("--no-controls", action="store_true", help="don't run the right code")
    parser.add_argument("--only-controls", action="store_true", help="run nothing else")
    parser.add_argument("--list", action="store_true", help="name them and run nothing")
    trials = chosen(parser.parse_args())
    if parser.parse_args().list:
        for trial in trials:
            print(f"{trial.kind:10} {trial.case.case_name:45} {trial.name}: {trial.what}")
        return
    counts: Counter[str] = Counter()
    for trial in trials:
        answer = run(trial)
        word = verdict(trial, answer)
        counts[word] += 1
        case = trial.case
        place = f"{case.stack} {case.workload} {case.size} {case.precision} {case.pass_}"
        error = "" if answer.error is None else f"{answer.error:.1e}"
        print(
            f"{word:14} | {trial.kind:9} | {trial.name:38} | {place:42} | {answer.checks or answer.reason[:80]:60} | "
            f"{error:7} | {answer.seconds:4.1f} s",
            flush=True,
        )
    names = {trial.name for trial in trials if trial.kind != "control"}
    print(f"{len(names)} mutants in {len(trials)} processes: " + ", ".join(f"{n} {word}" for word, n in counts.items()))
    for name in sorted(names & set(adapter_mutations.MISSED)):
        print(f"Known to be missed: {name}: {adapter_mutations.MISSED[name]}")
    raise SystemExit(1 if any(word.isupper() for word in counts) else 0)


if __name__ == "__main__":
    main()
