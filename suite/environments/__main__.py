"""`python3 -m suite.environments NAME ...` makes environments on a machine that has none."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from suite import environments
from suite.environments import ISOLATED, pythons, say, uv
from suite.environments.locks import ORCHESTRATOR, newest
from suite.environments.venv import ensure
from suite.errors import UserError
from suite.machine import limits


def main(arguments: Sequence[str]) -> int:
    """Makes the environments that the arguments name, by default the orchestrator's. Returns the exit code: 0; 2 for an
    error that the user can mend; 130 after Ctrl-C."""
    if refusal := limits.refusal():
        say(refusal)
        return 2
    try:
        if python := other_python():
            os.execv(python, [python, ISOLATED, "-m", "suite.environments", *arguments])
        for name in arguments or [ORCHESTRATOR]:
            ensure(name)
    except UserError as refused:
        say(str(refused))
        return 2
    except OSError as broken:
        say(f"{broken.filename}: {broken.strerror}. {uv.remedy(str(broken))}")
        return 2
    except KeyboardInterrupt:
        return 130
    return 0


def other_python() -> str | None:
    """Returns the Python with which this program must be started again; None if the running Python will do.

    There are two reasons to start again. The running Python may be that of `.venv`, which this program may have to
    remove. Or the orchestrator's lock may be for another Python that this machine has.
    """
    if Path(sys.prefix).resolve() == (environments.ROOT / ".venv").resolve():
        base = Path(sys.base_prefix) / "bin" / f"python{pythons.running()}"
        return str(base) if base.exists() else None
    wanted = newest(ORCHESTRATOR, "cpu").pythons
    return None if pythons.running() in wanted else next(filter(None, map(pythons.find, wanted)), None)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
