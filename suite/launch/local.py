"""The local engine: a worker as a process of this machine, under a supervisor of its own."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from suite.launch.process import Exit, Limits

ROOT = Path(__file__).resolve().parents[2]  # the folder that holds the package `suite`
EXIT_FILE = "exit.json"

# What a worker inherits. Everything else stays behind: a variable of somebody's shell must not
# decide which stack is faster. Of the exceptions, PyTorch's Inductor finds its compiler by CC and
# CXX; an accelerator's driver libraries often lie in LD_LIBRARY_PATH alone; and CUDA_VISIBLE_DEVICES
# and TPU_… say *which* device is ours on a shared machine, not how to use it.
INHERITED = re.compile(
    r"PATH|HOME|USER|LOGNAME|TZ|TMPDIR|CC|CXX|LD_LIBRARY_PATH|CUDA_VISIBLE_DEVICES|CUDA_DEVICE_ORDER|TPU_\w+"
)

# Variables that change what frameworks, their libraries or the allocator do: named when dropped.
SKEWING = re.compile(
    r"(^|_)(XLA_|JAX_|TF_|TORCH|PYTORCH|OMP_|GOMP_|MKL_|KMP_|NPROC|CUDA|CUBLAS|CUDNN|NVIDIA_|PJRT|PYTHON|OPENBLAS"
    r"|BLIS|DNNL_|ONEDNN|TRITON|LIBTPU|KERAS|NUMEXPR|MALLOC|GLIBC_TUNABLES|LD_)"
)


def worker_environment(base: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """A small, clean environment for workers, and the names of skewing variables left out of it.

    `base` is the caller's own environment. Byte code may be used and written, hashes are the
    same in every process, and messages are in English (outcomes are told by their text).
    """
    environment = {name: value for name, value in base.items() if INHERITED.fullmatch(name)}
    environment |= {
        "LANG": "C.UTF-8",
        "PYTHONPATH": str(ROOT),
        "PYTHONHASHSEED": "0",
        "PYTHONUNBUFFERED": "1",  # a killed worker's last words must have left it
        "PYTHONNOUSERSITE": "1",  # packages in a home folder are in no lock
    }
    dropped = sorted(name for name in base if SKEWING.search(name) and not INHERITED.fullmatch(name))
    return environment, dropped


def launch(command: Sequence[str], environment: Mapping[str, str], directory: Path, limits: Limits) -> Exit:
    """Run one worker in `directory` to its end, whichever that is, and say how it ended.

    Leaves stdout.log, stderr.log and exit.json there. Returns only when the worker and all its
    descendants are gone; the wait is blocking and costs nothing. If it is interrupted (Ctrl-C),
    it ends them first and then passes the exception on. Must be called from a thread that
    stays alive meanwhile, since the kernel ties the supervisor's life to it.
    """
    account = directory / EXIT_FILE
    account.unlink(missing_ok=True)
    spec = {
        "command": list(command),
        "environment": dict(environment),
        "directory": str(directory.resolve()),
        "timeout_seconds": limits.timeout_seconds,
        "compile_timeout_seconds": limits.compile_timeout_seconds,
        "memory_bytes": limits.memory_bytes,
        "cgroup": limits.cgroup,
        "parent_pid": os.getpid(),
    }
    supervisor = subprocess.Popen(
        [sys.executable, "-S", "-m", "suite.launch.supervise"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        cwd=ROOT,
        env={"LANG": "C.UTF-8", "PATH": os.environ.get("PATH", os.defpath)},
        start_new_session=True,  # a terminal's Ctrl-C reaches the orchestrator alone
        encoding="utf-8",
        errors="replace",
    )
    try:
        _, complaint = supervisor.communicate(json.dumps(spec))
    except BaseException:
        _end(supervisor)
        raise
    try:
        return Exit.from_json(json.loads(account.read_text(encoding="utf-8")), limits)
    except (OSError, ValueError, TypeError) as error:
        words = complaint.strip().splitlines()[-1:] or [f"{type(error).__name__}: {error}"]
        problem = f"the supervisor ended with code {supervisor.returncode} and left no account: {words[0]}"
        return Exit.lost(problem, limits)


def _end(supervisor: subprocess.Popen[str]) -> None:
    """Have the supervisor kill its tree, and wait for that even if Ctrl-C is pressed again."""
    while supervisor.poll() is None:
        try:
            supervisor.terminate()
            supervisor.wait()
        except KeyboardInterrupt:
            continue
