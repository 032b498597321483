"""What libraries say is heard, whole, and of the last step alone."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from suite.case import Purpose
from suite.worker.observing.explain import LOG
from tests.worker.processes import ROOT, attempt_of, case_of, columns_of, of, request, run_worker

OPS = ROOT / "suite" / "workloads" / "ops"
TALKING = """
import ctypes, os, sys
from pathlib import Path
from suite.worker.observing.explain import LogCapture
listener = LogCapture(Path(sys.argv[1]))
libc = ctypes.CDLL(None)
libc.puts(b"from C, not flushed")
print("from Python")
os.write(1, b"from the system\\n")
sys.stderr.write(repr(listener.heard()))
"""


def test_every_way_of_writing_is_heard(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", TALKING, str(tmp_path)], capture_output=True, text=True, cwd=ROOT)
    assert done.stdout == "", done.stderr
    for words in ("from C, not flushed", "from Python", "from the system"):
        assert words in done.stderr
        assert words in (tmp_path / LOG).read_text(encoding="utf-8")


def test_an_explain_process_has_no_clock_and_no_gate(tmp_path: Path) -> None:
    attempt = attempt_of(case_of(), Purpose.EXPLAIN)
    done, told = run_worker(request(attempt, OPS / "gemm", tmp_path, gate=False))
    assert done.returncode == 0, done.stderr
    phases = [event["phase"] for event in of(told, "phase")]
    assert phases == ["start", "import", "device", "build", "place", "first", "second", "explain", "end"]
    assert of(told, "samples") == of(told, "metric") == []
    assert not {"first_seconds", "second_seconds", "relative_error"} & set(columns_of(told))
    [used] = columns_of(told)["kernels"]
    assert used["library"] == "OpenBLAS" and used["isa"], json.dumps(used)
