"""`python -m tests.unwarmed run …` is `invoke run …`, but no framework is imported beforehand: that spares measured
processes a cold disk cache, and takes seconds for each framework where nobody asks how long anything took."""

from __future__ import annotations

from suite.cli import app
from suite.launch.container import Container
from suite.launch.engine import Engine
from suite.launch.local import Local


def warm_up(self: Engine, code: str) -> None:
    """Does nothing."""


def spare() -> None:
    """Has this process's engines warm nothing up."""
    Local.warm_up = Container.warm_up = warm_up  # type: ignore[method-assign]


if __name__ == "__main__":
    spare()
    app.main()
