"""Compares two peaks of a training step of eager PyTorch: the one that `./stackwars predict` computes on fake tensors,
to predict GPUs, and the one that PyTorch's profiler sees in a real step on the CPU.

Required: within 2 %. Runs in the environment `torch`; benchmarks/README.md shows the command.
"""

from __future__ import annotations

from typing import Any

from benchmarks.pairs import prepared, started

THREADS = 2
CASES = (("gpt2", "small"), ("vit", "small"), ("resnet50", "small"), ("ffn", "quick"))
TOLERANCE = 0.02


def followed(workload: str, size: str) -> int:
    """Returns the peak of a training step on fake tensors, in bytes."""
    with prepared("torch_eager", workload, size, {}, "train", THREADS) as adapter:
        from suite.worker.data import Data

        data = Data(adapter.case, adapter.workload, 0)
        adapter.build(abstract=True)
        adapter.compile_on_shapes(data.parameters | data.buffers, data.batch)
        return sum(adapter.planned.values())


def profiled(workload: str, size: str) -> int:
    """Returns the peak of a real training step, the third of its process, in bytes."""
    memory: Any = None
    with prepared("torch_eager", workload, size, {}, "train", THREADS) as adapter:
        clock = started(adapter)
        clock.synced()
        clock.synced()
        memory = adapter.holders(None, clock.state, clock.batch)
    return sum(holder.nbytes for holder in memory.all)


def main() -> None:
    print("workload   size    followed    profiled   ratio")
    for workload, size in CASES:
        plan, seen = followed(workload, size), profiled(workload, size)
        verdict = "" if abs(plan / seen - 1) <= TOLERANCE else "  off by more than 2 %"
        print(f"{workload:9}  {size:6} {plan / 2**20:8.1f} MiB {seen / 2**20:8.1f} MiB   {plan / seen:.3f}{verdict}")


if __name__ == "__main__":
    main()
