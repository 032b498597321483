"""`python -m tests.older run …` is `invoke run …` on a machine that has only an old Python: JAX and torchax, which have
several locks, are run from the oldest."""

from __future__ import annotations

from suite.cli import app
from suite.environments import venv
from suite.environments.locks import Lock
from tests import unwarmed
from tests.needed import OLDEST

FIT = venv.fit


def fit(name: str, target: str) -> Lock:
    """Returns the oldest lock of JAX and torchax; of every other environment the one that this machine can make."""
    return OLDEST[name] if name in OLDEST else FIT(name, target)


if __name__ == "__main__":
    venv.fit = fit
    unwarmed.spare()
    app.main()
