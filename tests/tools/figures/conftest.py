"""Locks that don't change with the project's."""

from __future__ import annotations

from pathlib import Path

import pytest

from suite import environments

LOCKS = {
    "jax": "# Python 3.13\njax==0.12.0.1 \\\nnumpy==2.4.6 \\\n",
    "jax-py3.12": "# Python 3.12\njax==0.12.0.1 \\\nnumpy==2.4.6 \\\n",
    "jax-py3.11": "# Python 3.11\njax==0.10.2 \\\nnumpy==2.4.6 \\\n",
    "numpy": "# Python 3.11\nnumpy==2.4.6 \\\n",
    "torch": "# Python 3.11\nnumpy==2.4.6 \\\ntorch==2.13.0+cpu \\\n",
    "torch_xla": "# Python 3.11\nnumpy==2.4.6 \\\ntorch==2.9.0 \\\ntorch-xla==2.9.0 \\\n",
}


@pytest.fixture
def locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "docker" / "locks" / "cpu"
    folder.mkdir(parents=True)
    for name, text in LOCKS.items():
        (folder / f"{name}.txt").write_text(text)
    monkeypatch.setattr(environments, "ROOT", tmp_path)
