"""`./stackwars golden`: makes or checks the golden files, which hold the results of independent implementations."""

from __future__ import annotations

import os

from suite.cli.options.project import GoldenOptions
from suite.environments import venv
from suite.errors import unknown
from suite.launch.engine import worker_environment
from suite.reference import golden_check
from suite.results.outcomes import FAILED
from suite.workloads.catalog import find


def make_golden(options: GoldenOptions) -> int:
    """Makes golden files, or compares the stored ones with new ones. Returns the exit code: 3 if some differ."""
    models = {name: workload for name, workload in find().items() if (workload.folder / "oracle.py").exists()}
    for name in options.workload:
        if name not in models:
            raise unknown("model", name, models)
    oracle = golden_check.GoldenMaker(venv.ensure("oracle", "test").python, worker_environment(os.environ)[0])
    code = 0
    for name in options.workload or models:
        workload = models[name]
        for size in options.size:
            if size not in workload.sizes:
                raise unknown("size", size, workload.sizes, of=f"Workload '{name}'")
            path = golden_check.path_of(workload, size)
            if not options.check:
                oracle.make(workload, size, path)
            differing = oracle.differences(workload, size) if options.check else []
            if differing:
                code = FAILED
            ending = f"differs in {', '.join(differing)}" if differing else "as stored" if options.check else "made"
            print(f"{path}: {ending}")
    return code
