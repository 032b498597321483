"""Each template of a published table, rendered from rows; and the sets that are refused."""

from __future__ import annotations

import dataclasses
import json
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from suite import results
from suite.errors import UserError
from suite.sets import manifest
from suite.sets.arrow import to_table
from suite.sets.rows import Row
from tests.plan import test_capacity
from tests.results.rows import rows_of
from tools.figures.definitions import Definition
from tools.figures.markers import Origin
from tools.figures.tables import Source, published, text

pytestmark = pytest.mark.usefixtures("locks")
THREE_QUESTIONS = Path(__file__).parents[2] / "results" / "sets" / "three_questions"
OLDER = "JAX 0.10.2 is of an older lock (jax-py3.11.txt); the newest has 0.12.0.1."


def defined(template: str, **fields: Any) -> Definition:
    return Definition("mine", "docs/findings/figures.md", template, **{"sets": ("one",), **fields})


def rendered(template: str, rows: Sequence[Row], folder: Path, **fields: Any) -> str:
    """The Markdown of a set that has only rows."""
    file = folder / "results.parquet"
    pq.write_table(to_table(rows), file)
    loaded = results.load(file)
    source = Source("2026-11-24.cpu.0123456789ab", "", loaded, loaded.analysis())
    return text(defined(template, **fields), [source], Origin())


def test_questions_have_a_section_each_with_the_numbers_of_the_analysis() -> None:
    table = published(defined("comparisons"), {"one": results.load(THREE_QUESTIONS)})
    assert table.origin.sets == (manifest.read(THREE_QUESTIONS).called(12),)
    assert table.origin.sets[0].startswith("2026-11-21.cpu."), "date, target and digest"
    assert table.origin.versions["torch_xla"] == {"torch": "2.9.0", "torch-xla": "2.9.0", "numpy": "2.4.6"}
    assert table.origin.noise == (0.9898, 1.0178)
    assert "`./stackwars run --preset=mixed.toml --engine=local --limit-memory=640MiB` on AMD EPYC" in table.text
    assert "57 processes in 4 blocks, 52 of them ok (1 oom_host, 4 unsupported); 3 more weren't run" in table.text
    assert "; set [`2026-11-21.cpu" in table.text
    assert "PyTorch 2.13.0+cpu (torch) and 2.9.0 (torch_xla), PyTorch/XLA 2.9.0, NumPy 2.4.6." in table.text
    assert OLDER in table.text
    assert (
        "### ffn train full\n\nFastest for ffn train full: jax_jit, 12.5 ms, 1.75× as fast as torch_eager" in table.text
    )
    assert "| `jax_jit` | 12.5 ms | 1.75× [1.39, 2.20] | faster | 329 ms | 13.1 ms |  |\n" in table.text
    assert "| `torch_eager` | 22.0 ms | – | baseline | 38.1 ms | 24.5 ms |  |\n" in table.text
    assert "| `torch_xla` | – | – | out of host memory | – | – |  |\n" in table.text
    assert "slower, two modes |" in table.text
    assert "Noise floor: `torch_eager` over itself 1.00× [0.930, 1.08]." in table.text
    assert re.search(r"\| all questions \| `numpy` \| 1\.45× \[.*\] \| 2 of 3 \| llama train tiny \|", table.text)
    assert "\n\n\n" not in table.text


def test_the_heading_says_how_many_blocks_exceeded_a_noise_limit() -> None:
    loaded = results.load(THREE_QUESTIONS)
    quiet = Source("2026-11-24.cpu.0123456789ab", "", loaded, loaded.analysis())
    assert "noise" not in quiet.outcomes
    blocks = [{**loaded.blocks[0], "reasons": ["load 3.1"]}, *loaded.blocks[1:]]
    noisy = dataclasses.replace(quiet, results=dataclasses.replace(loaded, blocks=blocks))
    assert noisy.outcomes == f"{quiet.outcomes}; 1 of {len(blocks)} block runs exceeded a noise limit"


def test_speedups_have_a_column_for_each_question_that_is_named() -> None:
    asked = defined("speedups", questions=("gemm forward tiny", "ffn train full"), vendor="AMD")
    table = published(asked, {"one": results.load(THREE_QUESTIONS)})
    assert table.text.startswith("On AMD: `./stackwars run")
    assert "| speedup over `torch_eager` | gemm forward tiny | ffn train full |\n| --- | ---: | ---: |\n" in table.text
    assert "| `torch_xla` | 0.0746× [0.0417, 0.133] slower, two modes | out of host memory |\n" in table.text
    assert "| `torch_eager` | 9.27 µs | 22.0 ms |\n" in table.text
    assert "over itself: gemm forward tiny 0.990× [0.914, 1.07], ffn train full 1.00× [0.930, 1.08]." in table.text
    assert "`--allocator=kept`, the default" in table.text and "page faults" not in table.text


@pytest.mark.parametrize("template", ["speedups", "comparisons"])
def test_an_undecided_ratio_outside_of_1_has_its_reason(template: str, tmp_path: Path) -> None:
    baseline = {"torch_eager": [0.020, 0.0201, 0.0199, 0.02]}
    twin = rows_of({"torch_eager": [0.0222, 0.0223, 0.0221, 0.0222]}, replicate=2)
    shown = rendered(template, [*rows_of(baseline | {"jax_jit": [0.0228] * 4}), *twin], tmp_path)
    assert "undecided: equal processes differ as much |" in shown


def test_markdown_has_names_as_they_are() -> None:
    loaded = results.load(THREE_QUESTIONS)
    named = dataclasses.replace(loaded, machine=dict(loaded.machine) | {"cpu_model": "AMD's <EPYC>"})
    assert " on AMD's <EPYC> (family" in published(defined("speedups"), {"one": named}).text


@pytest.mark.parametrize("template", ["speedups", "comparisons"])
def test_page_faults_are_said(template: str, tmp_path: Path) -> None:
    rows = rows_of({"numpy": [0.004] * 3, "jax_jit": [0.002] * 3})
    shown = rendered(template, [row | {"flags": ["page_faults"]} for row in rows], tmp_path)
    assert "page faults may have cost a stack more than 5 % of a step on gemm forward." in shown


def test_a_frontier_has_the_curve(tmp_path: Path) -> None:
    shown = rendered("frontier", test_capacity.rows(), tmp_path)
    assert "| `jax_jit` | 10 | 8 | 16 | 5 | 1.00 GiB | 512 MiB | < 0.1 % |\n" in shown


def test_a_set_that_is_not_whole_or_of_another_processor_is_refused(tmp_path: Path) -> None:
    loaded = {"one": results.load(THREE_QUESTIONS)}
    with pytest.raises(UserError, match="are for Intel; the set ran on AMD EPYC"):
        published(defined("speedups", vendor="Intel"), loaded)
    with pytest.raises(UserError, match=r"are for AMD family 1; the set ran on AMD EPYC \(family/model/stepping"):
        published(defined("speedups", vendor="AMD", family=1), loaded)
    with pytest.raises(UserError, match="show gemm train, a question that the set doesn't have"):
        published(defined("speedups", questions=("gemm train",)), loaded)
    with pytest.raises(UserError, match="need the set 'two' too"):
        published(defined("speedups", sets=("one", "two")), loaded)
    unfinished = shutil.copytree(THREE_QUESTIONS, tmp_path / "set")
    (unfinished / "manifest.json").unlink()
    with pytest.raises(UserError, match="isn't a whole result set"):
        Source.of(dataclasses.replace(loaded["one"], path=unfinished), "README.md")


def test_a_set_of_unlocked_versions_or_of_wide_noise_floors_is_refused() -> None:
    loaded = results.load(THREE_QUESTIONS)
    strange = [row | {"versions": json.dumps({"numpy": "1.0.0"})} for row in loaded.rows]
    with pytest.raises(UserError, match=r"numpy ran NumPy 1\.0\.0, which no lock has: the newest lock has NumPy 2"):
        published(defined("speedups"), {"one": dataclasses.replace(loaded, rows=strange)})
    wide = [
        row | {"synced_seconds": [second * 1.3 for second in row["synced_seconds"]]}
        if row["replicate"] == 2 and row["synced_seconds"]
        else row
        for row in loaded.rows
    ]
    with pytest.raises(UserError, match=r"its noise floors are too wide: from 0\.7"):
        published(defined("speedups"), {"one": dataclasses.replace(loaded, rows=wide)})
