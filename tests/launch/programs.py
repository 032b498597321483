"""Workers for the launch tests: small programs that misbehave for real."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from suite.launch.process import Exit

HUNG_SECONDS = 120.0  # what takes longer has hung: no test is quicker or slower by it
# What the programs below may use. `note` makes process ids known once all of them are there; what sleeps `FOREVER` is
# ended by somebody else.
PRELUDE = """
import ctypes, json, os, signal, sys, time
FOREVER = 10 * 120
def emit(*events):
    with open("events.jsonl", "a") as file:
        for n, event in enumerate(events):
            file.write(json.dumps({"v": 1, "seq": n, "t_ns": n, **event}) + "\\n")
def note(**pids):
    with open("pids.tmp", "w") as file:
        json.dump(pids, file)
    os.replace("pids.tmp", "pids.json")
def daemon():
    '''A grandchild in a session of its own whose parent is gone; returns its process id.'''
    read, write = os.pipe()
    if os.fork() == 0:
        os.setsid()
        pid = os.fork()
        if pid == 0:
            time.sleep(FOREVER)
        os.write(write, str(pid).encode())
        os._exit(0)
    os.wait()
    return int(os.read(read, 32))
def looks(count):
    '''Returns after the supervisor has looked around so many times more: it sleeps before each look.'''
    def sleeps():
        return int(open(f"/proc/{os.getppid()}/status").read().split("\\nvoluntary_ctxt_switches:")[1].split()[0])
    until = sleeps() + count
    while sleeps() < until:
        time.sleep(0.05)
"""

Run = Callable[..., Exit]


def write_program(path: Path, code: str) -> Path:
    """A Python program at `path`, executable, with the prelude; starts in some 10 ms."""
    path.write_text(f"#!{sys.executable} -S\n{PRELUDE}\n{code}", encoding="utf-8")
    path.chmod(0o755)
    return path


def read_pids(folder: Path) -> dict[str, int]:
    """The process ids that a program noted, waited for."""
    file = folder / "pids.json"
    wait_for(file.exists)
    pids: dict[str, int] = json.loads(file.read_text(encoding="utf-8"))
    return pids


def wait_for(condition: Callable[[], Any]) -> None:
    """Returns when the condition holds; fails the test if it never does."""
    until = time.monotonic() + HUNG_SECONDS
    while not condition():
        assert time.monotonic() < until, f"not within {HUNG_SECONDS:g} s"
        time.sleep(0.02)


def alive(pid: int) -> bool:
    """Whether a process still runs; one that only waits to be reaped doesn't."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"
