"""Programs that run in an environment with its framework."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from suite.environments import venv
from tests.worker.processes import ROOT

# The begin of a program that gets a case as its first argument: its stack's adapter may be made.
WITH_CASE = """
import json, os, sys
from pathlib import Path
from suite.case import Case
from suite.stacks.catalog import STACKS, adapter_class
from suite.worker.data import Data
from suite.workloads import catalog
case = Case.from_json(json.loads(sys.argv[1]))
workload = catalog.find()[case.workload]
os.environ.update(adapter_class(case.stack).environ(case, "/nowhere"))
"""


def told(environment: str, program: str, *arguments: str | Path, target: str = "cpu") -> Any:
    """What a program prints last, as JSON; None if it prints nothing."""
    asked = [venv.ensure(environment, target).python, "-c", program, *arguments]
    done = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1]) if done.stdout else None
