"""A set without its page: the page's own numbers, as Markdown, CSV and JSON."""

from __future__ import annotations

import csv
import dataclasses
import json
from pathlib import Path

import pytest

from suite import results
from suite.errors import UserError
from suite.page.formats.export import export
from tests.page import synthetic

SETS = Path(__file__).parents[2] / "results" / "sets"
THREE_QUESTIONS = """\
### Speedup over torch_eager

| stack | ffn train full | gemm forward tiny | llama train tiny |
| --- | ---: | ---: | ---: |
| numpy | 0.739× [0.550, 0.992] slower | 2.84× [2.57, 3.14] faster | unsupported |
| jax_jit | 1.75× [1.39, 2.20] faster | 0.251× [0.188, 0.335] slower (two modes) | 3.45× [3.12, 3.81] faster |
| torch_xla | out of host memory in the steady runs \
| 0.0746× [0.0417, 0.133] slower (two modes) | 0.0896× [0.0628, 0.128] slower (two modes) |
| torch_eager | 22.0 ms | 9.27 µs | 1.60 ms |
"""
TWO_PASSES = """\
### One stack under two settings

| setting | question | stack | value | baseline | clock | verdict | speedup |
| --- | --- | --- | --- | --- | --- | --- | ---: |
| pass | gemm | numpy | train | forward | synced | slower | 0.138× [0.133, 0.145] |
"""


def test_markdown_has_answers_tables_and_reasons() -> None:
    shown = export(results.load(SETS / "three_questions")).written("md")
    assert shown.startswith("### ffn, gemm, llama: which stack is fastest\n\n- On this 2-core AMD EPYC JAX trains ffn")
    assert "\n- Fastest for ffn train full: jax_jit" in shown
    assert THREE_QUESTIONS in shown
    assert "| ffn train full | torch_xla | out of host memory in the steady runs | killed at its 640 MiB limit" in shown
    assert "| ffn train full | numpy | ok |  | assumed 3/4, no steady state 1/4 |" in shown
    assert "- Machine: AMD EPYC (family 26" in shown
    assert TWO_PASSES in export(results.load(SETS / "two_passes")).written("md")


@pytest.mark.parametrize("stored", ["three_questions", "two_passes"])
def test_every_form_has_every_case_with_the_same_numbers(stored: str) -> None:
    loaded = results.load(SETS / stored)
    made = export(loaded)
    table = list(csv.DictReader(made.written("csv").splitlines()))
    document = json.loads(made.written("json"))
    frame = loaded.stacks().sort("question", "stack")
    assert len(table) == len(frame) == sum(len(each["stacks"]) for each in document["comparisons"])
    seconds = {
        (each["name"], line["stack"]): line["median_seconds"]
        for each in document["comparisons"]
        for line in each["stacks"]
    }
    for line, row in zip(table, frame.iter_rows(named=True), strict=True):
        assert [line[name] for name in ("question", "stack", "outcome")] == [
            row[name] for name in ("question", "stack", "outcome")
        ]
        median = row["median_seconds"]
        assert line["median_seconds"] == ("" if median is None else repr(median))
        assert seconds[line["question"], line["stack"]] == median
    assert document["version"] == 2 and document["baseline"] == loaded.baseline


def test_hostile_text_stays_text(loaded: results.Results) -> None:
    shown = export(loaded)
    assert "<script" not in shown.written("md") and "&lt;script&gt;" in shown.written("md")
    rows = [row | {"reason": "=cmd()|x"} for row in loaded.rows]
    evil = export(dataclasses.replace(loaded, rows=rows))
    reasons = {line["reason"] for line in csv.DictReader(evil.written("csv").splitlines())}
    assert "'=cmd()|x" in reasons and not any(reason.startswith("=") for reason in reasons)
    assert synthetic.HOSTILE in json.dumps(json.loads(shown.written("json")), ensure_ascii=False).replace('\\"', '"')


def test_a_baseline_that_the_set_lacks_is_refused(loaded: results.Results) -> None:
    with pytest.raises(UserError, match="no stack 'nummpy'"):
        export(loaded, "nummpy")
    assert "### Speedup over numpy" in export(loaded, "numpy").written("md")
