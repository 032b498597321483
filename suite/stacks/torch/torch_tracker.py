"""Counts the memory that PyTorch's allocator would hold in a step, without taking it: the step runs on PyTorch's fake
tensors, and their storages are followed."""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from typing import Any

BLOCK_BYTES = 512  # PyTorch's CUDA allocator rounds up to it: kMinBlockSize of c10/cuda/CUDACachingAllocator.cpp


def tracker(torch: Any) -> Any:
    """Returns a dispatch mode that follows the storages of every operation's results: `held` is the bytes held now,
    `peak` the most so far. It doesn't see memory that a kernel takes and frees before it ends."""

    class Tracker(torch.utils._python_dispatch.TorchDispatchMode):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.held = self.peak = 0
            self.known: set[int] = set()

        def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            result = function(*args, **kwargs or {})
            for value in torch.utils._pytree.tree_leaves(result):
                if torch.is_tensor(value):
                    self.hold(value.untyped_storage())
            self.peak = max(self.peak, self.held)
            return result

        def hold(self, storage: Any) -> None:
            if storage._cdata not in self.known:
                size = rounded(storage.nbytes())
                self.known.add(storage._cdata)
                self.held += size
                weakref.finalize(storage, self.release, storage._cdata, size)

        def release(self, storage: int, size: int) -> None:
            self.known.remove(storage)
            self.held -= size

    return Tracker()


def rounded(size: int) -> int:
    return -(-size // BLOCK_BYTES) * BLOCK_BYTES


def nbytes(tensors: Iterable[Any]) -> int:
    return sum(rounded(tensor.nbytes) for tensor in tensors)
