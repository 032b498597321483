"""`python -m tests.older run …` is `invoke run …` on a machine that has only an old Python: of each environment with
several locks the oldest is taken."""

from __future__ import annotations

from suite.cli import program
from suite.environments import locks

if __name__ == "__main__":
    locks.CHOSEN |= {(name, "cpu"): locks.all_locks(name, "cpu")[-1] for name in ("jax", "torchax")}
    program.main()
