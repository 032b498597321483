"""Measures how many operations a second some cores reach in matrix products of bfloat16 numbers.

It runs in PyTorch's environment, because NumPy has no bfloat16. `python -m suite.machine.bf16_peak --cores 0 1` prints
JSON: {side of the matrices: operations a second}.
"""

import argparse
import json
import os
import sys

from suite.machine.roofline import GEMM_REPEATS, SIDES, best_seconds


def peak(cores):
    """Returns {side: operations a second} of products of square bfloat16 matrices. On cores without bfloat16 arithmetic
    the library converts the numbers, and may be slower than in float32."""
    os.sched_setaffinity(0, cores)
    import torch

    torch.set_num_threads(len(cores))
    rates = {}
    for side in SIDES:
        a = torch.rand(side, side).bfloat16()
        out = torch.empty_like(a)
        seconds = best_seconds(lambda a=a, out=out: torch.matmul(a, a, out=out), GEMM_REPEATS)
        rates[str(side)] = 2 * side**3 / seconds
    return rates


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cores", type=int, nargs="+", required=True)
    json.dump(peak(parser.parse_args().cores), sys.stdout)
