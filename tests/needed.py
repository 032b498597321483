"""The environments that the tests need beside those of the stacks."""

from __future__ import annotations

from pathlib import Path

from suite.cluster.schedule import CLUSTER
from suite.environments import venv
from suite.environments.locks import all_locks, names
from suite.errors import UserError
from suite.run.predictions import ENVIRONMENT

# Environments that tests before a release need, with their targets.
RELEASE = (("oracle", "test"), ("skypilot", "test"), ("ray", CLUSTER), (ENVIRONMENT, ENVIRONMENT))
# These are tested from their oldest lock as well: a machine with an older Python runs that.
OLDEST = {name: all_locks(name, "cpu")[-1] for name in ("jax", "torchax")}


def environments(*, release: bool) -> dict[str, str]:
    """Makes the environments that the tests need, with `release` also those of the tests that only a release needs.
    Returns {environment: reason} of those that can't be made."""
    wanted: list[tuple[str, str, Path | None]] = [(name, "cpu", None) for name in names("cpu")]
    if release:
        wanted += [(name, target, None) for name, target in RELEASE]
        wanted += [(name, "cpu", lock) for name, lock in OLDEST.items()]
    lacking = {}
    for name, target, lock in wanted:
        try:
            venv.ensure(name, target, lock)
        except UserError as refused:
            lacking[lock.stem if lock else name] = str(refused).splitlines()[0]
    return lacking
