"""Which path MKL takes in PyTorch, by the last bits of a product: they differ from path to path. MKL's own log names
the processor, and on AMD's it says the same on every path."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from suite.environments import venv
from suite.stacks import base
from suite.stacks.torch import mkl_path
from tests.worker.processes import ROOT, case_of

DIGEST = """
import hashlib
torch.manual_seed(0)
values = torch.randn(512, 512)
print(hashlib.sha256(torch.mm(values, values).numpy().tobytes()).hexdigest())
"""
PRODUCT = (
    """
import sys
from suite.stacks.torch import mkl_path

if sys.argv[1] != "nothing":
    mkl_path.interpose(int(sys.argv[1]))
import torch
"""
    + DIGEST
)
TUNED = (
    """
import json, os, sys
from suite.case import Case
from suite.stacks import knobs
from suite.stacks.catalog import adapter_class
from suite.workloads import catalog

knobs.processor_flags = lambda: frozenset(["", "AuthenticAMD"])
case = Case.from_json(json.loads(sys.argv[1]))
os.environ.update(adapter_class(case.stack).environ(case, "/nowhere"))
adapter = adapter_class(case.stack)(case, catalog.find()[case.workload])
mapped = open("/proc/self/maps").read()
assert ("mkl_path.so" in mapped) == (case.track == "tuned"), case.track
adapter.device()
torch = adapter.torch
"""
    + DIGEST
)


def path_of(code: str, *arguments: str) -> str:
    """The digest that a process of PyTorch's environment prints."""
    python = venv.ensure("torch", "cpu").python
    done = subprocess.run(
        [python, "-c", code, *arguments], cwd=ROOT, env=dict(os.environ), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()[-1]


@pytest.mark.stacks
def test_mkl_goes_by_what_the_interposed_function_says() -> None:
    fast, slow = path_of(PRODUCT, "1"), path_of(PRODUCT, "0")
    assert fast != slow
    assert path_of(PRODUCT, "nothing") in (fast, slow), "on a processor of Intel's the fast one, else the slow one"


@pytest.mark.stacks
def test_the_adapter_interposes_it_in_the_tuned_track_alone() -> None:
    tuned = path_of(TUNED, json.dumps(case_of(stack="torch_eager", track="tuned").to_json()))
    assert tuned == path_of(PRODUCT, "1")
    default = path_of(TUNED, json.dumps(case_of(stack="torch_eager").to_json()))
    assert default == path_of(PRODUCT, "nothing")


def test_without_a_c_compiler_the_case_is_unsupported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(base.Unsupported, match="there is no C compiler"):
        mkl_path.interpose()


def test_a_compiler_that_fails_is_a_reason(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    broken = tmp_path / "cc"
    broken.write_text("#!/bin/sh\necho no such option >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setenv("CC", str(broken))
    with pytest.raises(base.Unsupported, match="makes no shared library: no such option"):
        mkl_path.interpose()
