"""Asks the same stack twice, under two names, again and again: every verdict other than a tie is false.

    PYTHONPATH=. .venv/bin/python benchmarks/same_twice.py --runs=200 --stack numpy jax_jit torch_eager

The question has two equal functions, so its answers are those of `./stackwars ask` on real processes. At most 5 % of
the runs may say `faster` or `slower`. `--option=--repeats=3` asks with another option of the command.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from suite import results
from suite.stacks.catalog import STACKS
from suite.units import estimate

ROOT = Path(__file__).parents[1]
BODIES = {
    "numpy": ("import numpy as np", "np.tanh(x @ x).sum(-1)"),
    "jax": ("import jax.numpy as jnp", "jnp.tanh(x @ x).sum(-1)"),
    "torch": ("import torch", "torch.tanh(x @ x).sum(-1)"),
    "tf": ("import tensorflow as tf", "tf.reduce_sum(tf.tanh(x @ x), -1)"),
}


def question(dialect: str, side: int) -> str:
    """Returns the text of a question file with two equal functions of a dialect, on a square matrix of normals."""
    imported, body = BODIES[dialect]
    functions = "".join(f"\n\ndef {dialect}_{name}(x):\n    return {body}\n" for name in ("one", "two"))
    head = f'"""The same function twice."""\n\n{imported}\n\nfrom suite.ask import normal\n\n\n'
    return f'{head}def inputs(n={side}):\n    return {{"x": normal(n, n)}}\n{functions}'


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--stack", nargs="+", default=["numpy", "jax_jit", "torch_eager"], help="asked in turn")
    parser.add_argument("--side", type=int, default=256, help="of the matrix")
    parser.add_argument("--option", action="append", default=[], help="a further option of `ask`")
    options = parser.parse_args()
    words: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as place:
        for number in range(1, options.runs + 1):
            stack = options.stack[number % len(options.stack)]
            dialect = STACKS[stack].dialect
            file = Path(place) / f"same_{dialect}.py"
            file.write_text(question(dialect, options.side), encoding="utf-8")
            started = time.monotonic()
            asked = [file, f"--stack={stack}", "--engine=local", f"--results={place}", "--json", *options.option]
            command = [sys.executable, "-m", "suite.cli", "ask", *asked]  # of this checkout
            done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
            seconds = time.monotonic() - started
            if done.returncode != 0:
                raise SystemExit(f"Run {number} ended with exit code {done.returncode}.")
            analysis = results.load(json.loads(done.stdout)["set"]).analysis()
            (found,) = analysis.speedups
            words[found.verdict] += 1
            shown = estimate(found.ratio.value, found.ratio.low, found.ratio.high)
            took = f"{len(analysis.blocks):2} blocks {seconds:5.0f} s"
            print(f"{number:4} {stack:16} {found.verdict:9} {shown:26} {took}  {found.note}", flush=True)
    false = words["faster"] + words["slower"]
    print(f"{options.runs} runs: {', '.join(f'{count} {word}' for word, count in words.most_common())}; {false} false.")


if __name__ == "__main__":
    main()
