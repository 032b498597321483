"""Races two ways to write the same thing on whole cases, in alternating pairs of fresh processes of the real worker.

"Ours" is the suite as it is. "Theirs" is a copy of it with the idiom written the other way, or the case in the tuned
track. docs/why/method.md says which way a framework's user would write; this program measures what that costs. Runs in
the orchestrator's environment; benchmarks/README.md shows the command.
"""

from __future__ import annotations

import argparse
import dataclasses
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median

from benchmarks.cases import attempt_of, run_worker
from benchmarks.pairs import PAIRS, compare
from suite.case import Case
from suite.environments import venv
from suite.launch.engine import ROOT, ProcessRequest
from suite.launch.local import Local
from suite.launch.process import Exit
from suite.machine import facts
from suite.plan import planning, preset
from suite.protocol import Protocol
from suite.stacks.catalog import IMPORTS, STACKS
from suite.stacks.names import case_name
from suite.workloads.catalog import find

# Starts the worker with another folder first on its path, so that it imports the suite of that folder.
START = "import runpy, sys; sys.path.insert(0, {!r}); runpy.run_module('suite.worker', run_name='__main__')"
MODELS = "suite/workloads/models"
GATHERED = "lookup(embedding_VD, tokens)"
GATHERED_TYPES = "lookup(tf.convert_to_tensor(self.types), types)"
INTEROP = "suite/stacks/tensorflow/tf_eager_adapter.py"


@dataclasses.dataclass(frozen=True, slots=True)
class Idiom:
    """An idiom: its stacks, its workloads with their sizes, and how "theirs" differs from the suite.

    `changes` has {file of the suite: (text, replacement) pairs}. A copy of the suite has all of these changes, although
    a case only runs those in its own workload.
    """

    what: str
    stacks: tuple[str, ...]
    workloads: dict[str, str]
    passes: tuple[str, ...] = ("train",)
    track: str = "default"
    changes: dict[str, tuple[tuple[str, str], ...]] = dataclasses.field(default_factory=dict)


IDIOMS = {
    "elu": Idiom(
        "selu by F.elu / out of primitives",
        ("torch_eager", "torch_inductor", "torchax_jit"),
        {"selu": "full"},
        passes=("forward", "train"),
        changes={
            "suite/workloads/ops/selu/selu_torch.py": (
                ("F.elu(self.x, ALPHA)", "torch.where(self.x > 0, self.x, ALPHA * torch.expm1(self.x))"),
            )
        },
    ),
    "gather": Idiom(
        "embeddings by tf.gather_nd / by tf.gather",
        ("tf_graph", "tf_xla", "tf_eager"),
        {"gpt2": "full", "bert": "full", "gpt_neo": "small", "llama": "small"},
        changes={
            f"{MODELS}/{name}/{name}_tf.py": ((GATHERED, "tf.gather(self.tokens, tokens)"),)
            for name in ("gpt2", "gpt_neo", "llama")
        }
        | {
            f"{MODELS}/bert/bert_tf.py": (
                (GATHERED, "tf.gather(self.tokens, tokens)"),
                (GATHERED_TYPES, "tf.gather(self.types, types)"),
            )
        },
    ),
    "channels_last": Idiom(
        "images contiguous / channels_last",
        ("torch_eager", "torch_inductor"),
        {"resnet50": "full"},
        passes=("forward", "train"),
        track="tuned",
    ),
    "interop": Idiom(
        "TensorFlow's inter-op threads: as many as cores / 1",
        ("tf_graph", "tf_xla", "tf_eager"),
        {"ffn": "quick", "gpt2": "full", "bert": "full", "vit": "full", "resnet50": "full"},
        changes={
            INTEROP: (
                ('"TF_NUM_INTEROP_THREADS": str(case.threads)', '"TF_NUM_INTEROP_THREADS": "1"'),
                ("set_inter_op_parallelism_threads(case.threads)", "set_inter_op_parallelism_threads(1)"),
            )
        },
    ),
}


class Copied(Local):
    """A local engine that runs a copy of the suite. Both sides run a copy, "ours" an unchanged one, so that they start
    in the same way."""

    def __init__(self, root: Path, environment: str, changes: dict[str, tuple[tuple[str, str], ...]]) -> None:
        ready = venv.ensure(environment, "cpu")
        super().__init__(ready.python, ready.lock.sha256)
        self.root = root
        shutil.copytree(ROOT / "suite", root / "suite", ignore=shutil.ignore_patterns("__pycache__"))
        for name, replaced in changes.items():
            text = (root / name).read_text(encoding="utf-8")
            for old, new in replaced:
                if text.count(old) != 1:
                    raise SystemExit(f"{name} has {text.count(old)} times, not once, the text to replace: {old}")
                text = text.replace(old, new)
            (root / name).write_text(text, encoding="utf-8")

    def launch(self, request: ProcessRequest) -> Exit:
        """Runs a process of the worker, as `Local` does, but from the copy of the suite."""
        worker = ["-m", "suite.worker"]
        if list(request.arguments[: len(worker)]) != worker:
            raise SystemExit(f"This program doesn't know this way to start a worker: {request.arguments}")
        arguments = ["-c", START.format(str(self.root)), *request.arguments[len(worker) :]]
        return super().launch(dataclasses.replace(request, arguments=arguments))


def reader(case: Case, engine: Copied, protocol: Protocol) -> Callable[[], float]:
    """Returns a function that runs a process and returns its steady median in seconds. The first process is gated."""
    attempt = attempt_of(case)
    folder = engine.root / find()[case.workload].folder.relative_to(ROOT)
    gated = False

    def read() -> float:
        nonlocal gated
        with tempfile.TemporaryDirectory(prefix="stack-wars-") as home:
            row = run_worker(attempt, engine, Path(home), protocol, gate=not gated, workload=folder)
        if row["outcome"] != "ok":
            raise SystemExit(f"{case_name(case)}: {row['outcome']}: {row['reason']}")
        gated = True
        return median(row["synced_seconds"][row["synced_warmup"] :])

    return read


def cases(idiom: Idiom, workload: str, size: str, stack: str) -> list[tuple[Case, Case]]:
    """Returns (our case, their case) for each pass. The two differ in the track, or not at all."""
    sides = []
    for track in ("default", idiom.track):
        selection = planning.Selection(
            workloads=(workload,),
            stacks=(stack,),
            sizes=(size,),
            passes=idiom.passes,
            tracks=(track,),
            threads=(len(facts.usable_cores()),),
        )
        plan = planning.make("benchmark", preset.load("ops"), selection, find(), None, lambda *_: None)
        if refused := [planned.unsupported for planned in plan.cases if planned.unsupported]:
            raise SystemExit(f"{workload} on {stack}: {refused[0]}")
        sides.append([planned.case for planned in plan.cases])
    return list(zip(*sides, strict=True))


def race(idiom: Idiom, options: argparse.Namespace) -> None:
    """Races every stack, workload and pass of one idiom."""
    protocol = dataclasses.replace(
        Protocol(), seconds_min=options.seconds, samples_min=options.samples, slow_samples_min=options.samples
    )
    for stack in options.stack or idiom.stacks:
        environment = STACKS[stack].environment
        with tempfile.TemporaryDirectory(prefix="stack-wars-") as home:
            ours = Copied(Path(home) / "ours", environment, {})
            theirs = Copied(Path(home) / "theirs", environment, idiom.changes)
            ours.warm_up("; ".join(f"import {module}" for module in IMPORTS[environment]))
            for workload, size in idiom.workloads.items():
                if options.workload and workload not in options.workload:
                    continue
                for our_case, their_case in cases(idiom, workload, options.size or size, stack):
                    print(f"{case_name(our_case)}: {idiom.what}", flush=True)
                    compare(reader(our_case, ours, protocol), reader(their_case, theirs, protocol), options.pairs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("idioms", nargs="*", default=list(IDIOMS), help=f"of {', '.join(IDIOMS)} (default: all)")
    parser.add_argument("--stack", action="append", help="a stack in place of the idiom's; repeatable")
    parser.add_argument("--workload", action="append", help="only this workload of the idiom; repeatable")
    parser.add_argument("--size", help="a size for all workloads, in place of the idiom's")
    parser.add_argument("--pairs", type=int, default=20, choices=PAIRS)
    parser.add_argument("--seconds", type=float, default=2.0, help="of samples in each process")
    parser.add_argument("--samples", type=int, default=10, help="in each process, at least")
    options = parser.parse_args()
    if unknown := set(options.idioms) - set(IDIOMS):
        raise SystemExit(f"No idiom is called {', '.join(sorted(unknown))}. Known: {', '.join(IDIOMS)}.")
    for name in options.idioms:
        race(IDIOMS[name], options)


if __name__ == "__main__":
    main()
