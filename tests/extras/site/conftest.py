"""Ten sets of two machines over ten days, and the site of them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from suite.extras.site.build import Site, build
from suite.extras.site.sources import SetSource
from suite.sets.result_set import ResultSet
from tests.extras.archive.s3 import bucket, place, server, shelf
from tests.plan_files import plan_file
from tests.results.rows import attempt_of, record, row_of

__all__ = ["bucket", "place", "server", "shelf"]  # fixtures
STORED = Path(__file__).parents[2] / "results" / "sets"
MACHINES = {"a-machine": "Example CPU @ 2.80GHz", "b-machine": "Other CPU @ 3.10GHz"}


def made(
    folder: Path,
    day: int,
    pace: float = 1.0,
    machine: str = "a-machine",
    version: str = "1.0",
    model: str | None = None,
) -> ResultSet:
    """A whole set of one day, of three stacks in two passes; `jax_jit` takes `pace` times 10 ms."""
    name = f"202603{day:02d}-120000-quick-cpu-{machine[0]}"
    plan = plan_file(set_id=name, created_at=f"2026-03-{day:02d}T12:00:00+00:00")
    store = ResultSet.create(folder / name, plan)
    store.machine = {"machine_id": machine, "cpu_model": model or MACHINES[machine], "ram_bytes": 2**34}
    random = np.random.default_rng(day)
    paces: Mapping[str, float] = {"numpy": 2.0, "jax_jit": pace, "torch_eager": 1.5}
    store.write_rows(
        [
            row_of(
                attempt_of(stack, block, pass_=pass_),
                0.01 * times * float(np.exp(random.normal(0, 0.01))),
                machine_id=machine,
                versions=json.dumps({"jax": version, "python": "3.11", "numpy": "2.0"}),
                sampling="rounds",
            )
            for stack, times in paces.items()
            for pass_ in ("forward", "train")
            for block in (1, 2, 3)
        ]
    )
    for block in (1, 2, 3):
        store.write_block(block, 1, record(block, 1))
    store.seal()
    return store


def quiet(text: str) -> None:
    """Nothing that is said matters here."""


@pytest.fixture(scope="session")
def ten(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Seven days on one machine, slower by a fifth from the fifth on; two on another; one stored set of a real run."""
    folder = tmp_path_factory.mktemp("ten") / "results"
    for day in range(1, 8):
        made(folder, day, 1.0 if day < 5 else 1.2, version="1.0" if day < 5 else "1.1")
    for day in (3, 6):
        made(folder, day, 3.0, "b-machine")
    shutil.copytree(STORED / "three_questions", folder / "three_questions")
    return folder


@pytest.fixture(scope="session")
def site(ten: Path, tmp_path_factory: pytest.TempPathFactory) -> Site:
    """The site of the ten."""
    return build(SetSource(ten), tmp_path_factory.mktemp("site") / "site", quiet)
