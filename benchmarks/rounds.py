"""Compares the two ways of sampling: how much a ratio varies from block to block, and whether both give the same mean.

It runs blocks of fresh processes, which are sampled alone and in rounds alternately, so that both ways see the same
hours of the machine. For each question and stack it prints the standard deviation of ln(time of the baseline / time of
the stack) over the blocks, its mean with standard error, and by how many standard errors the two means differ. Required
before more presets than `quick` use rounds: means within 2 standard errors of each other on eight questions.

    PYTHONPATH=. .venv/bin/python benchmarks/rounds.py --question=gemm:forward --question=ffn:train \
        --stack=numpy --stack=jax_jit --stack=torch_eager --baseline=torch_eager --pairs=12
"""

from __future__ import annotations

import argparse
import math
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from statistics import fmean, stdev

from suite import results
from suite.protocol import SAMPLINGS
from suite.verdicts.speedups import Pairing

STACKWARS = Path(sys.executable).parent / "stackwars"
PRESET = """
title = "One block, sampled {sampling}"
size = "{size}"
baseline = "{baseline}"
stacks = [{stacks}]
twin = {twin}
questions = [{questions}]

[protocol]
blocks = 1
blocks_max = 1
noisy_retries = 0
disturbed_retries = 0
seconds_min = {seconds}
roofline = false
sampling = "{sampling}"
"""
Logs = dict[tuple[str, str], dict[str, list[float]]]  # {(question, stack): {sampling: log ratio of each block}}


def run_block(options: argparse.Namespace, sampling: str, place: Path) -> dict[tuple[str, str], float]:
    """Runs one block; returns ln(t_baseline / t_stack) by question and stack."""
    questions = ", ".join(
        f'{{ workload = "{workload}", pass = "{pass_}" }}'
        for workload, pass_ in (question.split(":") for question in options.question)
    )
    preset = place / f"{sampling}.toml"
    preset.write_text(
        PRESET.format(
            sampling=sampling,
            size=options.size,
            baseline=options.baseline,
            stacks=", ".join(f'"{stack}"' for stack in options.stack),
            twin=str(options.twin).lower(),
            questions=questions,
            seconds=options.seconds,
        ),
        encoding="utf-8",
    )
    words = [STACKWARS, "run", f"--preset={preset}", "--engine=local", f"--results={place}", *options.further]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    newest = place / "latest"
    if not newest.exists():
        raise SystemExit(f"A block couldn't be run:\n{done.stderr}")
    loaded = results.load(newest.resolve())
    newest.unlink()
    speedups = Pairing.of(loaded.rows, loaded.protocol, options.baseline).over(options.baseline).values()
    return {(speedup.name, speedup.stack): fmean(speedup.log_ratios.values()) for speedup in speedups}


def line(question: str, stack: str, logs: dict[str, list[float]]) -> str:
    """Returns the table's line for one stack on one question: standard deviation, mean and standard error of the log
    ratio for each way of sampling, and how far apart the two means are."""
    cells, means, errors = [], [], []
    for sampling in SAMPLINGS:
        values = logs[sampling]
        spread = stdev(values) if len(values) > 1 else math.nan
        means.append(fmean(values) if values else math.nan)
        errors.append(spread / math.sqrt(len(values)) if values else math.nan)
        cells.append(f"{len(values):3} {spread:7.4f} {means[-1]:+8.4f} ±{errors[-1]:6.4f}")
    apart = (means[0] - means[1]) / (math.hypot(*errors) or math.nan)
    return f"{question:34} {stack:16} {'   '.join(cells)}   {apart:+5.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--question", action="append", required=True, help="workload:pass")
    parser.add_argument("--stack", action="append", required=True)
    parser.add_argument("--baseline", default="torch_eager", help="one of the stacks")
    parser.add_argument("--size", default="quick")
    parser.add_argument("--pairs", type=int, default=12, help="blocks for each way of sampling")
    parser.add_argument("--seconds", type=float, default=2.0, help="of samples in each process, as `seconds_min`")
    parser.add_argument("--twin", action="store_true", help="run the baseline twice in each block")
    parser.add_argument("further", nargs="*", help="options of ./stackwars run, after --")
    options = parser.parse_args()
    logs: Logs = defaultdict(lambda: {sampling: [] for sampling in SAMPLINGS})
    with tempfile.TemporaryDirectory(prefix="stack-wars-rounds-") as folder:
        for pair in range(options.pairs):
            for sampling in SAMPLINGS if pair % 2 == 0 else reversed(SAMPLINGS):
                for side, log in run_block(options, sampling, Path(folder)).items():
                    logs[side][sampling].append(log)
            print(f"pair {pair + 1} of {options.pairs}", file=sys.stderr, flush=True)
    head = "  n      sd     mean   error"
    print(f"{'question':34} {'stack':16} {'alone':26}   {'rounds':26}")
    print(f"{'':34} {'':16} {head}   {head}   apart, in standard errors")
    for (question, stack), ways in sorted(logs.items()):
        print(line(question, stack, ways))


if __name__ == "__main__":
    main()
