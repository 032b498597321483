"""A published set is fetched and run again elsewhere, and never resumed."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from suite.errors import UserError
from suite.extras.archive import fetch
from suite.extras.archive.publish import publish
from suite.extras.archive.storage import Storage
from suite.run.start.reopen import reopen
from tests.cli.measure.test_reproduce import a_set
from tests.runs import STACKWARS


def test_a_fetched_set_is_reproduced_and_never_resumed(tmp_path: Path) -> None:
    shelf = Storage.of(str(tmp_path / "shelf"))
    store = a_set(tmp_path, python="/tmp/evil", workload_paths=("/tmp/evil",))
    here = fetch.fetch(shelf, publish(store.folder, shelf, lambda text: None).name, tmp_path / "here")
    with pytest.raises(UserError, match=r"wasn't begun in this folder.*reproduce --set="):
        reopen(here)
    with pytest.raises(UserError, match="begun on another machine"):
        reopen(here, trust=True)


def invoke(*words: object) -> subprocess.CompletedProcess[str]:
    """The command line."""
    return subprocess.run([*STACKWARS, *map(str, words)], capture_output=True, text=True, check=False)


@pytest.mark.stacks
@pytest.mark.release
def test_a_set_is_made_archived_fetched_and_reproduced(tmp_path: Path) -> None:
    """With another lock here than the set's: its own is used."""
    shelf = Storage.of(str(tmp_path / "shelf"))
    asked = (
        "--preset=tiny",
        "--workload=gemm",
        "--pass=forward",
        "--stack=numpy",
        "--stack=jax_jit",
        "--baseline=numpy",
        "--engine=local",
        "--repeats=2",
        "--force",
    )
    done = invoke("run", *asked, f"--results={tmp_path / 'there'}")
    assert done.returncode == 0, done.stderr
    made = publish(tmp_path / "there" / "latest", shelf, lambda text: None, with_changes=True)
    here = tmp_path / "here"
    done = invoke("reproduce", f"--set={made.name}", f"--from={shelf.uri}", f"--results={here}", "--force")
    assert done.returncode in (0, 5), done.stderr  # two blocks of microseconds: either verdict is honest
    assert "jax_jit" in done.stdout and f"{made.name}: " in done.stdout
    (again,) = here.glob("*-reproduction-cpu-*")
    judged = invoke("reproduce", f"--set={here / made.name}", f"--against={again}", "--json")
    (claim,) = json.loads(judged.stdout)["claims"]
    assert (claim["stack"], claim["outcomes"]) == ("jax_jit", ["ok", "ok"]) and claim["there"]["value"] > 0
