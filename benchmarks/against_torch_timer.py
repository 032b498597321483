"""Our synced clock against PyTorch's own `torch.utils.benchmark.Timer`, on one matrix product in one process.

Asked: the ratio of medians within 2 % of 1. Run in the torch environment, see benchmarks/README.md.
"""

from __future__ import annotations

import argparse

from benchmarks.pairs import PAIRS, compare, median_of_clock, ready

THREADS = 2


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=20, choices=PAIRS)
    parser.add_argument("--seconds", type=float, default=0.5, help="of samples on each side of a pair")
    parser.add_argument("--n", type=int, default=1024, help="side of the matrices")
    options = parser.parse_args()
    with ready("torch_eager", "gemm", {"n": options.n}, "forward", THREADS) as (adapter, clock):
        import torch
        from torch.utils.benchmark import Timer

        model, a = clock.state[0], clock.batch["a"]
        # The mode is entered in every call, as our step does it: once a process would be another stack.
        timer = Timer(
            stmt="with torch.inference_mode():\n    y = model(a)",
            globals={"torch": torch, "model": model, "a": a},
            num_threads=THREADS,
        )
        print(f"torch {torch.__version__}, gemm n={options.n} forward, {adapter.device()}")
        compare(
            lambda: median_of_clock(clock, options.seconds),
            lambda: float(timer.blocked_autorange(min_run_time=options.seconds).median),
            options.pairs,
        )


if __name__ == "__main__":
    main()
