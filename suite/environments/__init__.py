"""The environments of the stacks: hashed locks, and virtual environments (by uv) and images (by Docker) made from them.

`python3 -m suite.environments orchestrator` runs before any environment exists, so `locks`, `pythons`, `uv` and `venv`
import only the standard library.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def say(text: str, end: str = "\n") -> None:
    """Prints a line of progress on standard error."""
    print(text, end=end, file=sys.stderr, flush=True)
