"""Describes a question's model in the environment that has its framework: `python -m suite.worker.describe FOLDER`.

FOLDER has the question's files and `asked.json`: {"file", "case", "dialect", "weights", "trace"}. Without weights it
gets the model's leaves; with those of a port the model's answer in float64, by which ports are compared, or a trace of
its submodules.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from suite.workloads.questions.ports.weights import ANSWER, ASKED, LEAVES, REFUSED


def main(folder: Path) -> None:
    from suite.case import Case
    from suite.errors import UserError
    from suite.workloads import catalog

    asked = json.loads((folder / ASKED).read_text(encoding="utf-8"))
    question: Any = catalog.load(folder / asked["file"])
    case, dialect = Case.from_json(asked["case"]), asked["dialect"]
    if not asked["weights"]:
        try:
            leaves = question.of_case(dialect, case).leaves
        except UserError as refused:
            (folder / REFUSED).write_text(str(refused), encoding="utf-8")
            return
        (folder / LEAVES).write_text(json.dumps(leaves), encoding="utf-8")
        return
    answer(folder, question.of_case(dialect, case, Path(asked["weights"])), case, asked)


def answer(folder: Path, question: Any, case: Any, asked: dict[str, Any]) -> None:
    """Writes results, losses, FLOPs, and by the names of leaves gradients and movements, in the framework's own layout;
    or, if it is asked for, a trace."""
    import numpy as np

    from suite.worker.data import Data

    data = Data(case, question, 0)
    if asked["trace"]:
        values, batch = data.arguments()
        calls = question.spec.exact(values, batch).calls(training=case.pass_ != "forward")
        trace(folder, calls, {leaf.short: leaf.native(values[leaf.name]) for leaf in question.leaves})
        return
    expected = data.expected()
    if expected is None:
        (folder / REFUSED).write_text(data.no_float64, encoding="utf-8")
        return
    leaves = {leaf.name: leaf for leaf in question.leaves}
    found = {f"output {name}": value for name, value in expected.outputs.items()}
    found |= {"loss": np.asarray(expected.losses)} if expected.losses else {}
    for group in ("gradients", "moved", "noise"):
        of = getattr(expected, group)
        found |= {f"{group} {leaves[name].short}": leaves[name].native(value) for name, value in of.items()}
    found |= {"flops": np.asarray(question.spec.exact(*data.arguments()).flops()), "curve": np.asarray(expected.curve)}
    np.savez(folder / ANSWER, **found)  # type: ignore[arg-type]  # its stubs take no names but their own


def trace(folder: Path, calls: list[Any], values: dict[str, Any]) -> None:
    """Writes the inputs and results of all submodules, and the values of the leaves."""
    import numpy as np

    from suite.workloads import trees

    found = {f"value {name}": value for name, value in values.items()}
    listed: list[tuple[str, str]] = []
    for path, kind, inputs, results in calls:
        number = len(listed)
        listed.append((path.removeprefix("module."), kind))
        found |= {f"{number} in {place}": value for place, value in enumerate(inputs)}
        found |= {f"{number} out {name}": value for name, value in trees.leaves(results)}
    np.savez(folder / ANSWER, calls=json.dumps(listed), **found)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
