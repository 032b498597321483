"""Checks the latest run of .ci/run: every process ended `ok`, with the versions of the expected locks.

`all_ok.py newest|py3.11` names the lock of each environment: its newest, or that of a Python. With `py3.11` every stack
must have run.
"""

import json
import sys

import suite.results
from suite.environments import locks
from suite.stacks.catalog import STACKS

(wanted,) = sys.argv[1:]
frame = suite.results.load("results/latest").frame


def pinned(environment: str) -> dict[str, str]:
    every = locks.all_locks(environment, "cpu")
    return next(lock.pins for lock in every if wanted in ("newest", f"py{lock.python}"))


seen = {
    (row["environment"], package.replace("_", "-"), version)
    for row in frame.iter_rows(named=True)
    for package, version in json.loads(row["versions"] or "{}").items()
    if package != "python"
}
others = {each for each in seen if pinned(each[0]).get(each[1]) != each[2]}
stacks = set(frame["stack"])
exported = [name for name, stack in STACKS.items() if stack.forward_only]  # the run asks for a training step
frame = frame.remove(frame["stack"].is_in(exported) & (frame["outcome"] == "unsupported"))
print(
    f"{(frame['outcome'] == 'ok').sum()} of {len(frame)} processes ok, {len(stacks)} stacks, "
    f"{len(seen)} versions, not of their lock: {sorted(others) or 'none'}"
)
usual = {
    name
    for name, stack in STACKS.items()
    if "cpu" in stack.targets and not (stack.on_request or stack.of_questions)  # what a run without --stack asks
}
everything = wanted == "newest" or stacks == usual
sys.exit(not (everything and (frame["outcome"] == "ok").all() and seen and not others))
