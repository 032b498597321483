"""Races our synced clock against PyTorch's `torch.utils.benchmark.Timer`, on one matrix product in one process.

Required: a ratio of medians within 2 % of 1. Runs in the environment `torch`; benchmarks/README.md shows the command.
"""

from __future__ import annotations

from benchmarks.pairs import compare, median_of_clock, product_options, ready

THREADS = 2


def main() -> None:
    options = product_options(__doc__)
    with ready("torch_eager", "gemm", {"n": options.n}, "forward", THREADS) as (adapter, clock):
        import torch
        from torch.utils.benchmark import Timer

        model, a = clock.state[0], clock.batch["a"]
        # Every call enters the inference mode, as our step does; a stack that enters it once would be another stack.
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
