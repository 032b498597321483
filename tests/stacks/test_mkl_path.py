"""Which path MKL takes in PyTorch, by the last bits of a product: they differ from path to path. MKL's own log names
the processor, and on AMD's it says the same on every path."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from suite.stacks import base
from suite.stacks.torch import mkl_path
from tests.stacks.programs import WITH_CASE, told
from tests.worker.processes import case_of

DIGEST = """
import hashlib
torch.manual_seed(0)
values = torch.randn(512, 512)
print(json.dumps(hashlib.sha256(torch.mm(values, values).numpy().tobytes()).hexdigest()))
"""
PRODUCT = (
    """
import json, sys
from suite.stacks.torch import mkl_path

if sys.argv[1] != "nothing":
    mkl_path.interpose(int(sys.argv[1]))
import torch
"""
    + DIGEST
)
TUNED = (
    WITH_CASE
    + """
from suite.stacks import knobs

knobs.processor_flags = lambda: frozenset(["", "AuthenticAMD"])
adapter = adapter_class(case.stack)(case, workload)
mapped = open("/proc/self/maps").read()
assert ("mkl_path.so" in mapped) == (case.track == "tuned"), case.track
adapter.device()
torch = adapter.torch
"""
    + DIGEST
)


@pytest.mark.stacks
def test_mkl_goes_by_what_the_interposed_function_says() -> None:
    fast, slow, own = (told("torch", PRODUCT, answer) for answer in ("1", "0", "nothing"))
    assert fast != slow
    assert own in (fast, slow), "on a processor of Intel's the fast one, else the slow one"


@pytest.mark.stacks
def test_the_adapter_interposes_it_in_the_tuned_track_alone() -> None:
    for track, answer in (("tuned", "1"), ("default", "nothing")):
        case = case_of(stack="torch_eager", track=track)
        assert told("torch", TUNED, json.dumps(case.to_json())) == told("torch", PRODUCT, answer)


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
