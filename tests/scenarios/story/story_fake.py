"""The scenes: what the fake stack does, by the case's size. Real processes, real signals, real sleeps."""

import ctypes
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np

from suite.stacks.base import Unsupported

FIRST_SECONDS = 0.060
SECOND_SECONDS = 0.030
SLOWER_SECONDS = 0.005  # beside it, what a busy machine's scheduler adds to each step is little
DRIFT_SECONDS = 0.0002  # that each step takes longer than the one before
# What oneDNN prints of a product, in full.
VERBOSE = b"onednn_verbose,v1,primitive,exec,cpu,matmul,brg_matmul:avx512_core,undef,src:f32::blocked,,,64x64,0.1\n"


class Scenario:
    """Hooks that the fake adapter calls; `variant` makes one fake stack slower than another: `slow`, and versions from
    1.5 on. 1.4 can't do anything."""

    def __init__(self, case):
        self.scene = case.size
        self.is_cut = False
        version = re.fullmatch(r"1\.(\d+)", case.variant)
        if case.variant == "1.4":
            raise Unsupported("no wheel of this version works here")
        slow = case.variant == "slow" or (version and int(version[1]) >= 5)
        self.steady = case.dims["step_us"] * 1e-6 + (SLOWER_SECONDS if slow else 0.0)

    def place(self):
        if self.scene == "unsupported":
            raise Unsupported("the fake stack refuses this scene")
        mib = {"allocate": 600, "large": 200, "unequal": 300 if self.steady >= SLOWER_SECONDS else 150}.get(self.scene)
        self.ballast = None  # of the place before: the gate's is another one
        if mib:
            self.ballast = bytearray(mib << 20)
            self.ballast[::4096] = bytes([1]) * (mib << 8)  # resident: every page is touched

    def matmul(self, a, b):
        return np.zeros_like(a @ b) if self.scene == "rounded" else None  # what bfloat16 makes of the probe

    def step(self, count):
        seconds = {1: FIRST_SECONDS, 2: SECOND_SECONDS}.get(count, self.steady)
        if self.scene == "drift":
            seconds += count * DRIFT_SECONDS
        time.sleep(seconds)
        if self.scene == "verbose" and "ONEDNN_VERBOSE" in os.environ:
            os.write(1, VERBOSE)
        if count == 2:
            getattr(self, f"play_{self.scene}", lambda: None)()

    def play_segfault(self):
        ctypes.string_at(0)

    def play_silent(self):
        os._exit(0)

    def play_flood(self):
        line = b"flood " * 1000 + b"\n"
        for _ in range(10_000):
            os.write(1, line)
            os.write(2, line)

    def play_hang(self):
        time.sleep(3600)

    def play_slow(self):
        time.sleep(1.0)

    def play_fork(self):
        code = "import os, time; os.setsid(); time.sleep(3600)"
        subprocess.Popen([sys.executable, "-c", code, *sys.argv])  # found by these arguments if it survives
        time.sleep(3600)

    def play_garbage(self):
        with open(sys.argv[sys.argv.index("--out") + 1] + "/events.jsonl", "a") as events:
            events.write("\x00 this is no event\n")

    def play_dies(self):
        """The slow variant ends as soon as it holds; the other one never."""
        if self.steady >= SLOWER_SECONDS:
            threading.Thread(target=end_while_held, daemon=True).start()

    def play_raise(self):
        raise ValueError("the story ends here")

    def play_cut(self):
        self.is_cut = True

    def play_oom(self):
        raise MemoryError("the story is too long")

    def counters(self, count):
        late = max(0, count - 2)
        return {
            "compiles": 1 + (late if self.scene == "recompile" else 0),
            "compile_seconds": 0.05,
            "graph_breaks": 2 if self.scene == "break" else 0,
            "fallback_ops": 3 if self.scene == "fallback" else 0,
        }

    def programs(self, caches):
        """Of the second step, a dump that ends in the middle, as on a disk that is full."""
        if self.is_cut:
            (caches / "dump").write_bytes(b"\x0a\xf0\x7f and no more")
            yield "0000-step.before.pb", caches / "dump"

    def read(self, what, state, batch):
        return {"output": state["w"] * batch["x"] * (1.5 if self.scene == "wrong" else 1.0)}

    def fetch(self, state, batch):
        return state["w"] * batch["x"]


def end_while_held():
    """Ends this process by a signal once its events say that it holds for the second time: after its warm-up."""
    path = sys.argv[sys.argv.index("--out") + 1] + "/events.jsonl"
    while Path(path).read_text(encoding="utf-8").count('"phase": "hold"') < 2:
        time.sleep(0.01)
    os.kill(os.getpid(), signal.SIGSEGV)
