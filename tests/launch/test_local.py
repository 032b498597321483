"""What a worker of this machine gets of its environment."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from suite.launch import local
from suite.launch.engine import ROOT
from suite.launch.process import EXIT_FILE, Exit, ProcessLimits
from suite.stacks.threads import cuda_environ


@pytest.mark.parametrize(
    ("target", "inherited", "visible"),
    [("cuda", None, "0"), ("cuda", "2,3", "2"), ("cuda", "", ""), ("cpu", None, None), ("cpu", "2,3", "2,3")],
)
def test_a_worker_sees_one_gpu(
    target: str, inherited: str | None, visible: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[dict[str, str]] = []
    monkeypatch.setattr(local, "launch", lambda _, variables, *rest: started.append(variables))
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if inherited is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", inherited)
    request: Any = SimpleNamespace(
        variables=cuda_environ(target), cache_directory=tmp_path, arguments=(), folder=tmp_path, limits=None, company=1
    )
    local.Local(tmp_path / "python").launch(request)
    assert started[0].get("CUDA_VISIBLE_DEVICES") == visible


HUNGRY = """
import os, sys
from pathlib import Path
from suite.launch import events, local, outcome
from suite.launch.process import ProcessLimits

folder = Path(sys.argv[1])
limits = ProcessLimits(timeout_seconds=120, compile_timeout_seconds=120)
end = local.launch([sys.executable, "-c", "bytearray(2**33)"], os.environ, folder, limits)
told = outcome.judge(end, events.read(folder / "events.jsonl"), "cpu", (folder / "stderr.log").read_text())
print(told.outcome, told.reason)
"""


def test_a_process_that_a_shell_s_limit_stopped_says_under_which(tmp_path: Path) -> None:
    words = ["sh", "-c", 'ulimit -v 3000000 && exec "$0" -c "$1" "$2"', sys.executable, HUNGRY, str(tmp_path)]
    told = subprocess.run(words, capture_output=True, text=True, check=True, cwd=ROOT).stdout
    assert told == "oom_host out of host memory before its first phase, under ulimit -v 2.86 GiB: MemoryError\n"


@pytest.mark.parametrize("forged", [5, {"address_space_bytes": "much"}, {"-rf": 1}])
def test_forged_limits_are_no_account(forged: object, tmp_path: Path) -> None:
    whole = {field.name: None for field in dataclasses.fields(Exit)} | {"phase_seconds": {}, "shell_limits": forged}
    del whole["limits"], whole["problem"]
    (tmp_path / EXIT_FILE).write_text(json.dumps(whole))
    with pytest.raises(TypeError):
        Exit.of(tmp_path, ProcessLimits(timeout_seconds=1, compile_timeout_seconds=1))
