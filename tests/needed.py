"""The environments that the tests need beside those of the stacks."""

from __future__ import annotations

from suite.cluster.schedule import CLUSTER
from suite.environments import venv
from suite.environments.locks import Lock, all_locks, names
from suite.errors import UserError
from suite.run.predictions import ENVIRONMENT

# Environments that tests before a release need, with their targets. TorchTPU's takes gigabytes, and Python 3.13.
RELEASE = (
    *(("oracle", "test"), ("skypilot", "test"), ("notebook", "test")),
    *(("ray", CLUSTER), (ENVIRONMENT, ENVIRONMENT), ("torch_tpu", "tpu")),
)
# These are tested from their oldest lock as well: a machine with an older Python runs that.
OLDEST = {name: all_locks(name, "cpu")[-1] for name in ("jax", "torchax")}


def environments(*, release: bool) -> dict[str, str]:
    """Makes the environments that the tests need, with `release` also those of the tests that only a release needs.
    Returns {environment: reason} of those that can't be made."""
    wanted: list[Lock | tuple[str, str]] = [(name, "cpu") for name in names("cpu")]
    if release:
        wanted += [*RELEASE, *OLDEST.values()]
    lacking = {}
    for each in wanted:
        try:
            venv.made(each) if isinstance(each, Lock) else venv.ensure(*each)
        except UserError as refused:
            lacking[each.path.stem if isinstance(each, Lock) else each[0]] = str(refused).splitlines()[0]
    return lacking
