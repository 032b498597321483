"""Predictions on the page, in Markdown, CSV and JSON; they enter no ratio."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from suite import results
from suite.cli.terminal.progress import QuestionUnits, line
from suite.errors import UserError
from suite.report.formats.export import export
from suite.report.formats.render import render
from suite.report.sections.questions.predicted_device import device_view, disagreement, title
from suite.results.questions.curves import SIZE_MAX
from suite.results.questions.predictions import predicted_devices
from suite.sets.schema import to_table
from tests.predict.answers import compiled, prediction
from tests.report.test_page import Page
from tests.results.questions.test_predictions import REFUSED, predicted_row, refused_row, rows


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """A file of rows."""
    file = tmp_path / "results.parquet"
    pq.write_table(to_table(rows()), file)
    return file


def test_the_matrix_says_what_fits_and_how_much_of_the_device_it_takes() -> None:
    _, tpu = map(device_view, predicted_devices(rows()))
    assert tpu.answer == "Predicted, not measured: 3 of 6 cases fit, 2 don't, 1 without a verdict."
    matrix = {name: [f"{cell.text} {cell.detail}".strip() for cell in cells if cell] for name, cells in tpu.lines}
    assert matrix == {
        "gpt_neo train": ["fits 1.50 GiB, 5.03 %", "timeout in its compiler"],
        "llama train": ["doesn't fit 74.5 GiB", "doesn't fit 74.5 GiB"],
        "vit train": ["fits 1.50 GiB, 5.03 %", "fits 1.50 GiB, 5.03 %"],
    }
    assert tpu.figures[0].cells[:6] == ("1.00 GiB", "1.00 GiB", "1.00 GiB", "512 MiB", "1.50 GiB", "2.50 GiB")
    assert tpu.figures[0].cells[-1] == "3 all-reduce, 1.00 MiB"


def test_a_search_stands_as_a_line(tmp_path: Path) -> None:
    sizes = [predicted_row("jax_jit", dims={"batch": batch}) for batch in (1, 2)]
    (view,) = map(device_view, predicted_devices([*sizes, refused_row("jax_jit", "vit", {"batch": 3})]))
    (line,) = view.searches
    assert (line.axis, line.fits, line.fails, line.needed, line.tried) == ("batch", "2", "3", "1.50 GiB", 3)
    file = tmp_path / "results.parquet"
    pq.write_table(to_table(sizes), file)
    assert "The largest that fits" in render(file).read_text(encoding="utf-8")
    assert json.loads(export(results.load(file)).written("json"))["predicted"][0]["searches"][0]["largest"] == 2


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
    assert json.loads(exported.written("json"))["predicted"][0]["searches"][0]["failed"] is None


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
    (view,) = map(device_view, predicted_devices([predicted_row("jax_jit", workload, dims=dims) for dims in lengths]))
    (line,) = view.searches
    assert (line.axis, line.fits, line.fails) == ("seq", f"{longest:,}", reason)


def test_each_disagreement_has_its_reason_by_the_figures() -> None:
    _, tpu = predicted_devices(rows())
    whys = {(line.workload, line.stack): line.why for line in device_view(tpu).published if line.why}
    assert set(whys) == {("vit", "torch_xla"), ("gpt_neo", "torch_xla")}
    assert "would need 2.50 GiB, which fits too" in whys["vit", "torch_xla"]
    assert whys["gpt_neo", "torch_xla"] == "there is no prediction: no answer within 60 min"
    large = prediction(compiled(aliased=20 * 2**30, peak=15 * 2**30))
    doubled = predicted_row("torch_xla") | {"prediction": json.dumps(asdict(large))}
    (agreement,) = predicted_devices([doubled])[0].published
    assert "would need 35.0 GiB, more than the device has" in disagreement(agreement)
    (refused,) = predicted_devices([refused_row("jax_jit", "vit")])[0].published
    assert disagreement(refused).startswith("the compiler refuses this step")


def test_every_format_has_the_predictions(kept: Path) -> None:
    page = render(kept).read_text(encoding="utf-8")
    assert REFUSED in page and 'href="#predicted"' in page
    assert Page(page).text.count("fits") >= 3
    exported = export(results.load(kept))
    document = json.loads(exported.written("json"))
    gpu, tpu = document["predicted"]
    assert (gpu["device"], tpu["device"]) == ("h100", "v6e-1")
    (vit,) = [question for question in tpu["questions"] if question["name"] == "vit train"]
    assert vit["stacks"][0]["prediction"]["compiled"]["aliased_bytes"] == 2**30
    assert document["comparisons"] == [], "what was predicted is never compared with what was measured"
    table = exported.written("csv")
    heads, first, *_ = table.splitlines()
    assert heads.endswith("predicted_bytes") and first.split(",")[2] == "predict"
    assert "| vit train | fits, 1.50 GiB, 5.03 % | fits, 1.50 GiB, 5.03 % |" in exported.written("md")


def test_the_console_has_a_line_for_each(kept: Path) -> None:
    fits, refused = predicted_row("jax_jit"), refused_row("jax_jit", "llama")
    assert line(fits, QuestionUnits()).endswith("  fits, 1.50 GiB of 29.8 GiB, compiled in 2.00 s")
    assert line(refused, QuestionUnits()).endswith(f"  oom_compile: {REFUSED}")


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
