"""What a worker of this machine gets of its environment."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from suite.launch import local
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
