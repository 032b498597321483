"""Makes the environments of a run or a target together, before anything is measured."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed

from suite import environments, units
from suite.environments import say, uv, venv
from suite.environments.locks import Lock

AT_ONCE = 2  # environments: while one is downloaded, another one is unpacked and compiled to byte code
# About how many MB an environment has (seen on Linux on x86-64), without CUDA's libraries, which some bring.
SIZES = {"numpy": 70, "jax": 760, "tensorflow": 1550, "torch": 900, "torchax": 2900, "torch_xla": 2700}
OTHER_SIZE, CUDA_SIZE = 1000, 4800


def make_all(locks: Iterable[Lock]) -> None:
    """Makes the environments of these locks that aren't ready, two at once where the disk has room for all, and says
    how many bytes and about how much time are left. Raises UserError if one can't be made."""
    missing = {venv.place(lock): lock for lock in locks if lock.exists and venv.status(lock) != "ready"}
    sizes = {lock: about(lock) for lock in missing.values()}
    if not sizes:
        return
    whole, began, made = sum(sizes.values()), time.monotonic(), 0
    home = environments.ROOT / ".environments"
    home.mkdir(exist_ok=True)
    free = shutil.disk_usage(home).free
    say(f"{len(sizes)} environments are made first: about {units.quantity(whole)}, of {units.quantity(free)} free.")
    uv.find_uv()  # may have to be installed itself, once
    pool = ThreadPoolExecutor(AT_ONCE if free > whole else 1)
    try:
        largest_first = sorted(sizes, key=lambda lock: -sizes[lock])
        pending = {pool.submit(venv.made, lock): sizes[lock] for lock in largest_first}
        for ended in as_completed(pending):
            ended.result()
            made += pending[ended]
            left = (time.monotonic() - began) * (whole - made) / made
            if left:
                say(f"About {units.quantity(whole - made)} are left: about {units.duration(left)}.")
    finally:
        pool.shutdown(cancel_futures=True)


def about(lock: Lock) -> int:
    """Returns about how many bytes an environment has."""
    plain = SIZES.get(lock.name.partition("@")[0], OTHER_SIZE)
    return 10**6 * (plain + (CUDA_SIZE if venv.brings_cuda(lock) else 0))
