"""Checks the latest run of .ci/run: every process ended `ok`, with the JAX of the expected lock.

`all_ok.py newest|py3.11` names that lock of the environment `jax`. With `py3.11` every stack must have run.
"""

import json
import sys

import suite.results
from suite.environments import locks
from suite.stacks.catalog import STACKS

(wanted,) = sys.argv[1:]
frame = suite.results.load("results/latest").frame
lock = next(lock for lock in locks.all_locks("jax", "cpu") if wanted in ("newest", lock.path.stem.removeprefix("jax-")))
jax = {
    json.loads(row["versions"])["jax"]
    for row in frame.iter_rows(named=True)
    if row["environment"] in ("jax", "torchax")
}
stacks = set(frame["stack"])
print(
    f"{(frame['outcome'] == 'ok').sum()} of {len(frame)} processes ok, {len(stacks)} stacks, "
    f"JAX {', '.join(sorted(jax))}"
)
everything = wanted == "newest" or stacks == {name for name, stack in STACKS.items() if "cpu" in stack.targets}
sys.exit(not (everything and (frame["outcome"] == "ok").all() and jax == {lock.pins["jax"]}))
