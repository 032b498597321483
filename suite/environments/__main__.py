"""`python3 -m suite.environments NAME ...`: make environments on a machine that has none."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from suite import environments
from suite.environments import say
from suite.environments.locks import ORCHESTRATOR, python_of
from suite.environments.venv import ensure
from suite.errors import UserError


def main(arguments: Sequence[str]) -> int:
    """The exit code: 0, 2 for what a person can mend, 130 interrupted."""
    if Path(sys.prefix).resolve() == (environments.ROOT / ".venv").resolve():
        # In an activated `.venv`, python3 is the very environment that may have to be removed.
        python = str(Path(sys.base_prefix) / "bin" / f"python{python_of(ORCHESTRATOR, 'cpu')}")
        if Path(python).exists():
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


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
