"""Makes the environments of the stacks from hashed locks: virtual environments with uv, images with Docker.
`checkout` knows this checkout: its revision, changes and address.

`python3 -m suite.environments orchestrator` runs before any environment exists. So the modules `locks`, `pythons`, `uv`
and `venv` import only the standard library.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# How this program's Pythons are started: without the shell's PYTHONPATH and PYTHONHOME, which may hide a library.
ISOLATED = "-Es"


def say(text: str, end: str = "\n") -> None:
    print(text, end=end, file=sys.stderr, flush=True)
