"""The environments that the tests need beside those of the stacks."""

from __future__ import annotations

from suite.cli.extras import targets
from suite.environments import venv
from suite.environments.locks import Lock, all_locks, names
from suite.errors import UserError
from suite.run.predictions import ENVIRONMENT
from suite.stacks.catalog import without_requested

# Environments that tests before a release need, with their targets. TorchTPU's takes gigabytes, and Python 3.13.
RELEASE = (
    *(("oracle", "test"), ("skypilot", "test"), ("notebook", "test")),
    *((name, target) for target in targets() for name in names(target)),
    *((ENVIRONMENT, ENVIRONMENT), ("torch_tpu", "tpu")),
)
# These are tested from their oldest lock as well: a machine with an older Python runs that.
OLDEST = {name: all_locks(name, "cpu")[-1] for name in ("jax", "torchax")}
# No test makes these, and their tests are skipped where they aren't made.
REQUESTED = {*names("cpu")} - {*without_requested(names("cpu"))}


def environments(*, release: bool) -> dict[str, str]:
    """Makes the environments that the tests need, with `release` also those of the tests that only a release needs.
    Returns {environment: reason} of those that can't be made, and of those that nobody has asked for."""
    wanted: list[Lock | tuple[str, str]] = [(name, "cpu") for name in without_requested(names("cpu"))]
    if release:
        wanted += [*RELEASE, *OLDEST.values()]
    lacking = {name: unasked(name) for name in REQUESTED if venv.status(venv.fit(name, "cpu")) != "ready"}
    for each in wanted:
        try:
            venv.made(each) if isinstance(each, Lock) else venv.ensure(*each)
        except UserError as refused:
            lacking[each.path.stem if isinstance(each, Lock) else each[0]] = str(refused).splitlines()[0]
    return lacking


def unasked(name: str) -> str:
    """Why an environment isn't there that a run of its own stack makes."""
    return f"`./stackwars run --preset=tiny --stack={name}` makes it"
