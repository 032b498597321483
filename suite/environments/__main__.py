"""`python3 -m suite.environments NAME ...` makes environments on a machine that has none."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from suite import environments
from suite.environments import pythons, say
from suite.environments.locks import ORCHESTRATOR, lock_path, pythons_of_lock
from suite.environments.venv import ensure
from suite.errors import UserError


def main(arguments: Sequence[str]) -> int:
    """Makes the environments. Returns the exit code: 0; 2 for an error that a person can mend; 130 for Ctrl-C."""
    if python := another():
        os.execv(python, [python, "-m", "suite.environments", *arguments])
    try:
        for name in arguments or [ORCHESTRATOR]:
            ensure(name)
    except UserError as refused:
        say(str(refused))
        return 2
    except KeyboardInterrupt:
        return 130
    return 0


def another() -> str | None:
    """Returns the Python to start this program again with; None if the running one will do.

    In an activated `.venv`, python3 is in the environment that may have to be removed. And where the running Python
    doesn't suit the orchestrator's lock, another one on this machine may.
    """
    if Path(sys.prefix).resolve() == (environments.ROOT / ".venv").resolve():
        base = Path(sys.base_prefix) / "bin" / f"python{pythons.running()}"
        return str(base) if base.exists() else None
    wanted = pythons_of_lock(lock_path(ORCHESTRATOR, "cpu"))
    return None if pythons.running() in wanted else pythons.find_without_uv(wanted)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
