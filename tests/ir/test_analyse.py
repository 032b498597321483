"""What a process left of its programs, read by an XLA that can't read all of it: one that is older than their maker."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from suite.environments import ROOT, venv
from suite.ir import files
from suite.stacks.catalog import READER

pytestmark = pytest.mark.stacks

STEM = "first-0001-step"
NEWER = "a syntax of next year"
HINT = "made by the XLA of JAX 99.1; reading it needs Python 3.99 here"
# Compiles a step whose first argument is updated in place, and has XLA leave its programs in a folder.
STEP = """
import sys, jax
def step(p, g):
    return p - 0.1 * (g @ g), g.sum()
ones = jax.numpy.ones((8, 8))
lowered = jax.jit(step, donate_argnums=0).lower(ones, ones)
open(sys.argv[1] + "/lowered.mlir", "w").write(lowered.as_text())
lowered.compile({"xla_dump_to": sys.argv[1], "xla_dump_hlo_as_proto": True, "xla_dump_hlo_as_text": True})
"""


def python_of_reader() -> Path:
    return venv.ensure(READER).python


@pytest.fixture(scope="module")
def dumped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A captured folder of a real program."""
    dump, folder = tmp_path_factory.mktemp("dump"), tmp_path_factory.mktemp("captured")
    subprocess.run([python_of_reader(), "-c", STEP, str(dump)], check=True, capture_output=True)
    for name, path in files.dumped(dump):
        _, of_step, ending = name.partition("-jit_step")
        if of_step:
            shutil.copyfile(path, folder / f"{STEM}{ending}")
    assert len(list(folder.iterdir())) == 3, "before, after as text, after as HloProto"
    shutil.copyfile(dump / files.LOWERED, folder / files.LOWERED)
    return folder


@pytest.fixture
def captured(dumped: Path, tmp_path: Path) -> Path:
    """A copy of it, to be changed."""
    return Path(shutil.copytree(dumped, tmp_path / "ir"))


def analysed(folder: Path) -> dict[str, Any]:
    """The one program of a folder, as the summary has it."""
    command = [python_of_reader(), "-m", "suite.ir.analyse", str(folder), HINT]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return {"refused": done.stderr.strip()}
    [program] = json.loads((folder / files.SUMMARY).read_text(encoding="utf-8"))
    return dict(program)


def spoil(file: Path) -> None:
    """Puts a newer syntax into a text, behind its first line."""
    first, _, rest = file.read_text(encoding="utf-8").partition("\n")
    file.write_text(f"{first}\n{NEWER}\n{rest}", encoding="utf-8")


def test_a_text_with_a_newer_syntax_is_read_from_its_proto(dumped: Path, captured: Path) -> None:
    spoil(captured / f"{STEM}{files.AFTER}")
    program = analysed(captured)
    assert program["compiled"]["runs"]["parameter"] == 2
    assert program["unread"] == ""
    assert program == analysed(dumped), "the counts of the text itself"


def test_what_was_handed_over_is_kept_where_what_became_of_it_can_t_be_read(dumped: Path, captured: Path) -> None:
    spoil(captured / f"{STEM}{files.AFTER}")
    (captured / f"{STEM}{files.AFTER_PROTO}").unlink()
    program = analysed(captured)
    assert program["compiled"] is None
    assert program["contents"] == analysed(dumped)["contents"]
    assert program["contents"]["aliased_bytes"] == 8 * 8 * 4, "the aliases stand in the text's first line"
    assert program["unread"].startswith(f"{HINT} (INVALID_ARGUMENT: Syntax error")
    assert "HloModule: was parsing 2:" in program["unread"], "not cut at the colon"
    assert (captured / f"{STEM}{files.OPTIMIZED}.gz").exists()


def test_a_proto_that_is_cut_is_no_matter_of_versions(captured: Path) -> None:
    spoil(captured / f"{STEM}{files.AFTER}")
    proto = captured / f"{STEM}{files.AFTER_PROTO}"
    proto.write_bytes(proto.read_bytes()[:99])
    program = analysed(captured)
    assert program["unread"].endswith("this isn't a complete HloProto, as --xla_dump_hlo_as_proto writes it")
    assert program["unread"].startswith("INVALID_ARGUMENT")


def test_a_lowered_text_with_a_newer_syntax_gives_way_to_the_hlo(dumped: Path, captured: Path) -> None:
    assert analysed(dumped)["told_by"] == "the framework's own StableHLO"
    (captured / files.LOWERED).write_text('module { func.func @main() { "stablehlo.newer"() : () -> () return } }')
    program = analysed(captured)
    assert program["told_by"] == "HLO as it reached XLA"
    assert program["contents"]["results"] == 2


def test_only_what_xla_refuses_is_said_to_need_another_python(captured: Path) -> None:
    (captured / files.LOWERED).unlink()
    before = captured / f"{STEM}{files.BEFORE}"
    whole = before.read_bytes()
    before.write_bytes(whole[:99])
    assert analysed(captured)["refused"].startswith("this isn't a complete HloProto")
    before.write_bytes(whole.replace(b"\x12\x03dot", b"\x12\x03new"))
    assert analysed(captured)["refused"].startswith(f"{HINT} (")
