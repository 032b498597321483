"""The environment variables that every framework gets: for the number of cores, and for the CUDA driver's cache."""

from __future__ import annotations

from collections.abc import Mapping


def thread_environ(threads: int) -> dict[str, str]:
    """Returns the variables by which OpenMP, BLAS, oneDNN, XLA and TensorFlow learn how many cores they may use.

    The process's CPU affinity limits the cores too: XLA's CPU backend sizes its pool by the affinity and by NPROC.
    """
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NPROC", "TF_NUM_INTRAOP_THREADS")
    return dict.fromkeys(names, str(threads))


def with_flags(environ: Mapping[str, str], flags: Mapping[str, str]) -> dict[str, str]:
    """Returns a stack's variables with a variant's own. Lists of flags are joined; if two flags contradict each other,
    the variant's counts."""
    both = {
        name: f"{environ[name]} {value}"
        for name, value in flags.items()
        if name in environ and name.endswith(("_FLAGS", "_ARGS"))
    }
    return {**environ, **flags, **both}


def cuda_environ(target: str) -> dict[str, str]:
    """Returns the variables that turn off the driver's cache of compiled kernels, which processes would share, and that
    number GPUs as nvidia-smi does."""
    return {"CUDA_CACHE_DISABLE": "1", "CUDA_DEVICE_ORDER": "PCI_BUS_ID"} if target == "cuda" else {}
