"""Predictions on the page, in Markdown, CSV and JSON; they enter no ratio."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from suite import results
from suite.answers.predicted import FITS, NEITHER, OUT, title
from suite.cli.terminal.progress import line
from suite.errors import UserError
from suite.page.formats.export import export
from suite.page.formats.render import render
from suite.plan.search.curves import SIZE_MAX
from suite.sets.arrow import to_table
from suite.sets.rows import Row
from tests.answers.asking import answered, asked
from tests.answers.predictions import REFUSED, predicted_row, refused_row, rows
from tests.page.test_report import Page
from tests.predict.answers import compiled, prediction

GIB = 2**30


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """A file of rows."""
    file = tmp_path / "results.parquet"
    pq.write_table(to_table(rows()), file)
    return file


def test_every_case_has_what_it_needs() -> None:
    found = answered("predicted", rows())
    assert found.by_question == {
        "h100": "Predicted, not measured: 1 of 1 cases fit, 0 don't.",
        "v6e-1": "Predicted, not measured: 3 of 6 cases fit, 2 don't, 1 without a verdict.",
    }
    refused = (OUT, 74.5 * GIB, None)
    fitting = (FITS, 1.5 * GIB, 1.5 * GIB / 32e9)
    assert {(line["question"], line["stack"]): value_of(line) for line in found.table.to_dicts()} == {
        ("vit train on h100", "jax_jit"): fitting,
        ("vit train on v6e-1", "jax_jit"): fitting,
        ("vit train on v6e-1", "torch_xla"): fitting,
        ("gpt_neo train on v6e-1", "jax_jit"): fitting,
        ("gpt_neo train on v6e-1", "torch_xla"): (NEITHER, None, None),
        ("llama train on v6e-1", "jax_jit"): refused,
        ("llama train on v6e-1", "torch_xla"): refused,
    }
    first = found.table.row(0, named=True)
    names = ("argument_bytes", "output_bytes", "aliased_bytes", "temporary_bytes", "planned_peak_bytes", "copied_bytes")
    assert [first[name] / GIB for name in names] == [1, 1, 1, 0.5, 1.5, 2.5]
    assert (first["fusions"], first["operations"], first["bound_seconds"], first["compile_seconds"]) == (
        20,
        30,
        1.5e-3,
        2,
    )
    assert first["collectives"] == [{"operation": "all-reduce", "number": 3, "bytes": 2**20}]


def value_of(line: dict[str, Any]) -> tuple[str, float | None, float | None]:
    return line["prediction"], line["needed_bytes"], line["of_device"]


def test_a_refusal_that_names_no_size_has_none() -> None:
    silent = refused_row("jax_jit", "llama") | {"message": "RESOURCE_EXHAUSTED: no more"}
    assert answered("predicted", [silent]).table["needed_bytes"].to_list() == [None]


def search(asked_rows: list[Row]) -> dict[str, Any]:
    (line,) = answered("searches", asked_rows).table.to_dicts()
    return line


def test_a_search_has_the_largest_that_fits_and_the_smallest_that_does_not() -> None:
    fitting = [predicted_row("jax_jit", dims={"batch": batch, "image": 224, "patch": 16}) for batch in (1, 8)]
    refused = refused_row("jax_jit", "vit", dims={"batch": 12, "image": 224, "patch": 16})
    other = predicted_row("torch_xla", dims={"batch": 1, "image": 224, "patch": 16})
    found = search([*fitting, refused, other])
    assert (found["question"], found["stack"], found["vary"]) == ("vit train f32", "jax_jit", "batch")
    sizes = ("largest_size", "failed_size", "compiled_sizes", "needed_bytes")
    assert [found[name] for name in sizes] == [8, 12, 3, 1.5 * GIB]
    two_dims = predicted_row("jax_jit", dims={"batch": 2, "image": 448, "patch": 16})
    assert asked("searches", [*fitting, two_dims]) is None, "two dims vary: nothing was searched"
    assert answered("searches", [refused_row("jax_jit", "vit", {"batch": b}) for b in (1, 2)]).table[
        "largest_size"
    ].to_list() == [None]


@pytest.mark.parametrize(
    ("largest", "outcome", "reason"),
    [
        (SIZE_MAX, "", "none: the search ends at 1,073,741,824"),
        (8, "", "none tried"),
        (8, "timeout", "12: timeout in its compiler"),
    ],
)
def test_a_search_without_a_size_that_does_not_fit_has_the_reason(
    largest: int, outcome: str, reason: str, tmp_path: Path
) -> None:
    sizes = [predicted_row("jax_jit", dims={"batch": batch}) for batch in (1, largest)]
    if outcome:
        ended = {"outcome": outcome, "phase": "compile", "reason": "no answer within 60 min", "prediction": None}
        sizes.append(predicted_row("jax_jit", dims={"batch": 12}) | ended)
    file = tmp_path / "results.parquet"
    pq.write_table(to_table(sizes), file)
    exported = export(results.load(file))
    assert reason in Page(render(file).read_text(encoding="utf-8")).text
    assert f"| {largest:,} | {reason} |" in exported.written("md")
    (found,) = json.loads(exported.written("json"))["searches"]
    assert (found["largest_size"], found["failed_size"]) == (largest, None)


@pytest.mark.parametrize(
    ("workload", "longest", "reason"),
    [
        ("gpt2", 1024, "none: the workload allows no seq above 1,024"),
        ("gpt2", 512, "none tried"),
        ("mine", 1024, "none tried"),
    ],
)
def test_a_search_that_ended_at_the_model_s_own_limit_says_so(workload: str, longest: int, reason: str) -> None:
    lengths = [{"batch": 1, "seq": seq, "positions": 1024} for seq in (16, longest)]
    found = search([predicted_row("jax_jit", workload, dims=dims) for dims in lengths])
    assert (found["vary"], found["largest_size"], found["why_none"]) == ("seq", longest, reason)


def verdicts(asked_rows: list[Row]) -> dict[tuple[str, str], str]:
    """{(model, stack): why the prediction differs from the published verdict}."""
    lines = answered("published_verdicts", asked_rows).table.to_dicts()
    return {(line["workload"], line["stack"]): line["why_they_differ"] for line in lines}


def test_each_disagreement_has_its_reason_by_the_figures() -> None:
    assert answered("published_verdicts", rows()).sentence == "4 of 6 published verdicts agree with the prediction."
    whys = verdicts(rows())
    assert {place for place, why in whys.items() if why} == {("vit", "torch_xla"), ("gpt_neo", "torch_xla")}
    assert "would need 2.50 GiB, which fits too" in whys["vit", "torch_xla"]
    assert whys["gpt_neo", "torch_xla"] == "there is no prediction: no answer within 60 min"
    large = prediction(compiled(aliased=20 * 2**30, peak=15 * 2**30))
    doubled = predicted_row("torch_xla") | {"prediction": json.dumps(asdict(large))}
    assert "would need 35.0 GiB, more than the device has" in verdicts([doubled])["vit", "torch_xla"]
    smaller = predicted_row("torch_xla") | {"size": "tiny"}
    assert asked("published_verdicts", [smaller]) is None
    assert asked("published_verdicts", [predicted_row("jax_jit", device="h100")]) is None, "the study had a TPU"


def test_every_format_has_the_predictions(kept: Path) -> None:
    page = render(kept).read_text(encoding="utf-8")
    assert REFUSED in page and 'href="#predicted"' in page
    assert Page(page).text.count("fits") >= 3
    exported = export(results.load(kept))
    document = json.loads(exported.written("json"))
    lines = {(line["question"], line["stack"]): line for line in document["predicted"]}
    assert lines["vit train on v6e-1", "jax_jit"]["aliased_bytes"] == 2**30
    assert (len(document["published_verdicts"]), document["searches"]) == (6, [])
    assert document["comparisons"] == [], "what was predicted is never compared with what was measured"
    table = exported.written("csv")
    heads, first, *_ = table.splitlines()
    assert heads.endswith("predicted_bytes") and first.startswith("vit train on h100,jax_jit,predict,ok,,1,1,")
    assert float(first.rpartition(",")[2]) == 1.5 * GIB
    assert "| vit train | torch_xla | fits |  | 1.50 | 5.03 % |" in exported.written("md")


def test_the_console_has_a_line_for_each(kept: Path) -> None:
    fits, refused = predicted_row("jax_jit"), refused_row("jax_jit", "llama")
    assert line(fits).endswith("  fits, 1.50 GiB of 29.8 GiB, compiled in 2.00 s")
    assert line(refused).endswith(f"  oom_compile: {REFUSED}")


@pytest.mark.parametrize("broken", ['{"compiler": 3}', '{"compiled": {}}', "[1]"])
def test_a_prediction_that_is_none_is_refused_when_the_file_is_read(broken: str, tmp_path: Path) -> None:
    file = tmp_path / "results.parquet"
    pq.write_table(to_table([predicted_row("jax_jit") | {"prediction": broken}]), file)
    with pytest.raises(UserError, match="prediction"):
        results.load(file)


def test_a_device_without_memory_is_refused(tmp_path: Path) -> None:
    told = asdict(prediction(compiled())) | {"device_bytes": 0}
    file = tmp_path / "results.parquet"
    pq.write_table(to_table([predicted_row("jax_jit") | {"prediction": json.dumps(told)}]), file)
    with pytest.raises(UserError, match="a device has memory"):
        results.load(file)


def test_a_slice_s_heading_says_that_the_figures_are_of_one_of_its_chips() -> None:
    assert title("v6e-1", "TPU v6e, one chip") == title("v99-4", "TPU v6e, one chip") == "TPU v6e, one chip"
    assert title("v6e-4", "TPU v6e, one chip") == "TPU v6e, one of the 4 chips of v6e-4"
    assert title("h100", "NVIDIA H100 SXM, 80 GB") == "NVIDIA H100 SXM, 80 GB"
