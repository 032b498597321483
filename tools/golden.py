"""`python -m tools.golden`: makes or checks the golden files. Another implementation of each model computes them.

It runs in the environment `oracle`.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from suite.cli.app import run_tool
from suite.cli.values import Names
from suite.environments import venv
from suite.errors import UserError, unknown
from suite.launch.engine import worker_environment
from suite.reference import expected
from suite.reference.digests import Digest
from suite.results.outcomes import FAILED
from suite.workloads.catalog import Workload, find

KERAS_ADAMW = "keras_adamw"
AGREEMENT = 1e-6  # relative: two makings of a file differ by the order of float64 sums, and by rounding to float32


def paths_of(workload: Workload, size: str) -> dict[str, Path]:
    """Returns the golden files of a size by their steps' optimizer: the spec's, and Keras's if the model is written in
    Keras and Keras computes that optimizer otherwise."""
    own, path = workload.spec.OPTIMIZER, workload.folder / "golden" / f"{size}.npz"
    keras = own == "adamw" and "keras" in workload.dialects
    return {own: path} | ({KERAS_ADAMW: expected.with_optimizer(path, KERAS_ADAMW)} if keras else {})


@dataclass(frozen=True, slots=True)
class GoldenMaker:
    """Makes golden files with the program `tools.oracle`, which `python` runs with the environment `variables`."""

    python: Path
    variables: Mapping[str, str]

    def make(self, workload: Workload, size: str, optimizer: str, file: Path) -> None:
        """Makes a golden file. Raises UserError if the workload has no oracle, and, with the end of the program's error
        output, if the program fails."""
        if not (workload.folder / "oracle.py").exists():
            raise UserError(
                f"Workload '{workload.name}' has no oracle.py, which makes golden files. With a `reference` in its "
                "spec it needs none."
            )
        command = [str(self.python), "-m", "tools.oracle", str(workload.folder), size, str(file), optimizer]
        done = subprocess.run(command, env=dict(self.variables), capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise UserError(f"The golden file of {workload.name}, {size}, couldn't be made:\n{done.stderr[-2000:]}")

    def differences(self, workload: Workload, size: str, optimizer: str) -> list[str]:
        """Makes the golden file again. Returns the names of the tensors in which it differs from the stored file."""
        with tempfile.TemporaryDirectory() as folder:
            new = Path(folder) / "new.npz"
            self.make(workload, size, optimizer, new)
            return compare(expected.load(paths_of(workload, size)[optimizer]), expected.load(new))


def compare(stored: expected.ReferenceAnswer, new: expected.ReferenceAnswer) -> list[str]:
    differing = []
    for group in ("outputs", "gradients", "moved", "shrunk", "noise", "stressed"):
        ours, theirs = getattr(stored, group), getattr(new, group)
        differing += [f"{group}: {name}" for name in sorted(set(ours) ^ set(theirs))]
        differing += [f"{group}: {n}" for n in sorted(set(ours) & set(theirs)) if not agree(ours[n], theirs[n])]
    return differing + ([] if agree(np.asarray(stored.losses), np.asarray(new.losses)) else ["losses"])


def agree(a: object, b: object) -> bool:
    """Whether two tensors, or two digests, are equal up to rounding."""
    if isinstance(a, Digest) and isinstance(b, Digest):
        a, b = a.figures, b.figures
    x, y = np.asarray(a, np.float64), np.asarray(b, np.float64)
    return x.shape == y.shape and float(np.linalg.norm(x - y)) <= AGREEMENT * max(float(np.linalg.norm(x)), 1e-30)


def golden(*, workload: Names = (), size: Names = ("tiny", "odd", "small"), check: bool = False) -> int:
    """Makes golden files, or compares the stored ones with new ones. Returns the exit code: 3 if some differ.

    :param workload: only these models
    :param size: sizes of the models
    :param check: make the golden files again and compare them with the stored ones; write nothing
    """
    models = {name: model for name, model in find().items() if (model.folder / "oracle.py").exists()}
    for name in workload:
        if name not in models:
            raise unknown("model", name, models)
    oracle = GoldenMaker(venv.ensure("oracle", "test").python, worker_environment(os.environ))
    code = 0
    for model in (models[name] for name in workload or models):
        for each in size:
            if each not in model.sizes:
                raise unknown("size", each, model.sizes, of=f"Workload '{model.name}'")
            for optimizer, path in paths_of(model, each).items():
                differing = []
                if check:
                    differing = oracle.differences(model, each, optimizer)
                else:
                    oracle.make(model, each, optimizer, path)
                code = FAILED if differing else code
                ending = f"differs in {', '.join(differing)}" if differing else "as stored" if check else "made"
                print(f"{path}: {ending}")
    return code


if __name__ == "__main__":
    run_tool("tools.golden", golden)
