"""What PyTorch's allocator would hold in a step of tensors that aren't there: its fake tensors, followed storage by
storage."""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from typing import Any

BLOCK_BYTES = 512  # to which PyTorch's allocator for CUDA rounds up: kMinBlockSize of c10/cuda/CUDACachingAllocator.cpp


def tracker(torch: Any) -> Any:
    """Returns a mode of dispatch that follows the storages of every operation's results: `held` bytes now, `peak` bytes
    at most. What a kernel takes for itself and gives back before it ends isn't seen."""

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
    """Returns the bytes that so many take in whole blocks."""
    return -(-size // BLOCK_BYTES) * BLOCK_BYTES


def nbytes(tensors: Iterable[Any]) -> int:
    """Returns the bytes of some tensors together, each in whole blocks."""
    return sum(rounded(tensor.nbytes) for tensor in tensors)
