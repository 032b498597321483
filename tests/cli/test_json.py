"""`--json`: one object alone on standard output, of the form that docs/reference/commands.md says."""

from __future__ import annotations

import datetime
import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from suite import environments
from suite.cli.project.environments import images as print_images
from suite.environments import images
from tests.plan_files import plan_file
from tests.results.rows import attempt_of, make_set, record, row_of
from tests.runs import STACKWARS
from tests.typed import answered

NAME = "20260301-123000-quick-cpu-1a2b"
USAGE = environments.ROOT / "docs" / "reference" / "commands.md"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where commands are typed: with a whole set and one that isn't in results/."""
    folder = tmp_path_factory.mktemp("home")
    rows = [
        row_of(attempt_of(stack, block), 0.01 * (1 + block / 1000))
        for stack in ("numpy", "jax_jit")
        for block in (1, 2)
    ]
    for name in (NAME, "20260302-begun"):
        store = make_set(folder / "results" / name, rows, [record(1, 1), record(2, 1)])
        store.settle(plan_file(set_id=name))
    (folder / "results" / "20260302-begun" / "manifest.json").unlink(missing_ok=True)
    store = type(store).open(folder / "results" / NAME)
    store.commit()
    return folder


def documented(command: str) -> set[str]:
    """The fields of a command's object: those named before the first `:` of its row, or after a further one's."""
    lines = USAGE.read_text(encoding="utf-8").splitlines()
    (fields,) = [
        line.split("|")[2]
        for line in lines
        if line.startswith("| ")
        and f"`{command}`" in line.split("|")[1]
        and ("--dry-run" in line.split("|")[1]) == (command in ("run", "frontier", "explain"))
    ]
    return set(re.findall(r"`(\w+)`", re.sub(r"\([^)]*\)", "", fields.partition(":")[0].partition(";")[0])))


def told(home: Path, *words: str, code: int = 0) -> dict[str, Any]:
    """The object, which is all that is printed."""
    done = answered(*words, "--json", cwd=home)
    assert done.returncode == code, done.stderr
    assert done.stdout.count("\n") == 1 and done.stdout.endswith("\n")
    found = json.loads(done.stdout)
    assert found.pop("version") == 1 and found.keys() == documented(words[0])
    return dict(found)


def test_the_catalogue(home: Path) -> None:
    found = told(home, "list")
    by_name = {each["name"]: each for group in ("workloads", "probes", "stacks", "presets") for each in found[group]}
    assert by_name["gemm"]["sizes"]["tiny"] == {"n": 64} and by_name["gpt2"]["largest_state_bytes"] > 10**9
    numpy = {"name": "numpy", "title": "NumPy", "environment": "numpy", "targets": ["cpu"], "lacking": None}
    assert by_name["numpy"] == numpy and "fake" not in by_name
    assert by_name["retrace"]["aspects"] and by_name["quick"]["title"]
    (variant,) = [each for each in found["variants"] if each["environment"] == "jax@0.10"]
    assert variant["stacks"] == ["jax_eager@0.10", "jax_jit@0.10", "keras_jax@0.10"] and variant["versions"][
        "jax"
    ].startswith("0.10.")


def test_the_list_for_people_has_variants_too(home: Path) -> None:
    done = subprocess.run([*STACKWARS, "list"], cwd=home, capture_output=True, text=True, check=True)
    table = done.stdout.partition("Variants")[2].partition("Presets")[0]
    assert re.search(r"jax@0\.10 +\| jax_eager@0\.10, jax_jit@0\.10, keras_jax@0\.10 .*jax 0\.10\.0", table)


def test_what_this_machine_has(home: Path) -> None:
    done = subprocess.run([*STACKWARS, "doctor", "--json"], cwd=home, capture_output=True, text=True, check=False)
    found = json.loads(done.stdout)
    assert found.keys() - {"version"} == documented("doctor")
    assert done.returncode == (3 if found["missing"] else 0), "as without --json"
    assert found["missing"] == [each["name"] for each in found["checks"] if each["ok"] is False]
    assert any(each["name"] == "platform" and each["ok"] for each in found["checks"])
    shown = answered("doctor")
    assert all(each["name"] in shown.stdout for each in found["checks"])
    assert ("Missing" in shown.stderr) == (shown.returncode == 3) == bool(found["missing"])


def test_sets_here(home: Path) -> None:
    whole, begun = told(home, "sets")["sets"]
    assert (whole["set_id"], whole["where"], whole["outcomes"]) == (NAME, f"results/{NAME}", {"ok": 4})
    assert whole["whole"] and whole["trouble"] is None
    assert not begun["whole"] and begun["name"] is None and "run --resume=results/20260302-begun" in begun["trouble"]


def test_dry_runs(home: Path) -> None:
    words = ("--preset=tiny", "--stack=numpy", "--dims", "n=1000000", "--dims", "n=64", "--limit-memory=2GiB")
    found = told(home, "run", "gemm", "--dry-run", "--pass=forward", *words)
    assert [(each["dims"], each["runs"]) for each in found["cases"]] == [({"n": 1000000}, False), ({"n": 64}, True)]
    assert found["cases"][0]["verdict"].startswith("runs out of memory: tensors of 7.28 TiB")
    assert (found["purpose"], found["sampling"]) == ("timed", "alone")
    assert sum(found["processes"].values()) > 0 and found["seconds"] > 0
    searched = told(home, "frontier", "--workload=gpt2", "--limit-memory=6GiB", "--dry-run")
    assert searched["purpose"] == "memory" and searched["processes"].keys() == {"memory"}


def test_jobs_and_their_estimate(home: Path) -> None:
    found = told(home, "cloud", "--preset=ops", "--shards=2", "--price=3", "--on=slurm")
    assert [each["number"] for each in found["shards"]] == [1, 2] and found["files"].keys() == {"slurm.sh"}
    assert found["shards"][0]["usd"] == pytest.approx(3 * found["shards"][0]["seconds"] / 3600)
    written = told(home, "cloud", "--preset=ops", "--on=slurm", "--write")
    assert written["written"] == ["cloud-jobs/slurm.sh"] and written["files"] == {}
    assert written["shards"][0]["usd"] is written["usd_an_hour"] is None


def test_images(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    when = datetime.datetime(2026, 3, 1, tzinfo=datetime.UTC)
    built = images.Image("stackwars/cpu-jax:0e3406135f4a", "cpu", "jax", 10**9, "0e34", when, current=True)
    monkeypatch.setattr(images, "connect", lambda: None)
    monkeypatch.setattr(images, "built", lambda client: [built])
    print_images(json=True)
    found = json.loads(capsys.readouterr().out)
    assert found.keys() - {"version"} == documented("images") and not found["removed"]
    (image,) = found["images"]
    assert (image["tag"], image["size_bytes"], image["created"]) == (built.tag, 10**9, "2026-03-01T00:00:00+00:00")
