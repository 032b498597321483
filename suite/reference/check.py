"""Golden files: made, and made again to be compared, by another implementation in an environment of its own."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from suite.errors import UserError
from suite.reference import expected
from suite.reference.digests import Digest
from suite.workloads.catalog import Workload

AGREEMENT = 1e-6  # relative: two makings differ by the order of float64 sums, and are stored in float32


def path_of(workload: Workload, size: str) -> Path:
    """Where a workload keeps what is expected at a size."""
    return workload.folder / "golden" / f"{size}.npz"


@dataclass(frozen=True, slots=True)
class Oracle:
    """The other implementation: an interpreter that has it, and the variables of its processes."""

    python: Path
    variables: Mapping[str, str]

    def make(self, workload: Workload, size: str, file: Path) -> None:
        """Compute a golden file. Raises UserError with the oracle's last words."""
        if not (workload.folder / "oracle.py").exists():
            raise UserError(f"Workload '{workload.name}' has no oracle.py: its reference is in its spec.")
        command = [str(self.python), "-m", "suite.reference.make", str(workload.folder), size, str(file)]
        done = subprocess.run(command, env=dict(self.variables), capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise UserError(f"The golden file of {workload.name}, {size}, couldn't be made:\n{done.stderr[-2000:]}")

    def differences(self, workload: Workload, size: str) -> list[str]:
        """What a new making says otherwise than the stored file; empty where they agree."""
        with tempfile.TemporaryDirectory() as folder:
            new = Path(folder) / "new.npz"
            self.make(workload, size, new)
            return compare(expected.load(path_of(workload, size)), expected.load(new))


def compare(stored: expected.Expected, made: expected.Expected) -> list[str]:
    """The tensors in which two golden files differ."""
    found = []
    for group in ("gradients", "moved", "shrunk", "noise"):
        ours, theirs = getattr(stored, group), getattr(made, group)
        found += [f"{group}: {name}" for name in sorted(set(ours) ^ set(theirs))]
        found += [f"{group}: {n}" for n in sorted(set(ours) & set(theirs)) if not agree(ours[n], theirs[n])]
    if not agree(stored.output, made.output):
        found.append("output")
    return found + ([] if agree(np.asarray(stored.losses), np.asarray(made.losses)) else ["losses"])


def agree(a: object, b: object) -> bool:
    """Whether two tensors, or two digests, are the same but for rounding."""
    if isinstance(a, Digest) and isinstance(b, Digest):
        a, b = a.figures, b.figures
    x, y = np.asarray(a, np.float64), np.asarray(b, np.float64)
    return x.shape == y.shape and float(np.linalg.norm(x - y)) <= AGREEMENT * max(float(np.linalg.norm(x)), 1e-30)
