"""What other documents published: read, each with its source, and refused where it isn't valid."""

from __future__ import annotations

from pathlib import Path

import pytest

from suite.errors import UserError
from suite.results.documents.figures import document, documents
from suite.results.documents.reach import possible
from suite.stacks.catalog import STACKS
from suite.workloads import catalog


def test_every_document_has_figures_of_stacks_and_workloads_that_there_are() -> None:
    workloads = catalog.find()
    assert len(documents()) == 13
    for read in documents():
        assert read.times or read.figures
        assert not (read.question and read.apart) and (read.question or read.apart or any(map(possible, read.times)))
        assert read.date is None or read.date.year >= 2020
        for time in read.times:
            assert time.stack in STACKS and time.pass_ in workloads[time.workload].spec.PASSES
            assert 1e-6 < time.seconds < 10
            assert set(time.dims) <= set(workloads[time.workload].dims("full", time.dims))
        assert all(verdict.workload in workloads for verdict in read.verdicts)


def test_the_study_says_what_fits_by_framework() -> None:
    (study,) = [document for document in documents() if document.verdicts]
    assert {verdict.workload: tuple(verdict.fits.values()) for verdict in study.verdicts} == {
        "vit": (True, False),
        "gpt_neo": (True, False),
        "llama": (False, False),
    }


VALID = """title = "x"\nclaim = "x"\nurl = ""\nconditions = "x"\n"""
TIME = 'times = [{ workload = "gemm", dims = { n = 1 }, pass = "forward", stack = "numpy", device = "x", '


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("[[times]", "at line 1"),
        ('title = "x"', "missing required field `claim`"),
        (VALID + 'wrong = "x"', "unknown field `wrong`"),
        (VALID.replace('url = ""', 'url = "http://x"'), "`$.url`"),
        (VALID + 'date = "May 2026"', "`$.date`"),
        (VALID + 'figures = [{ of = "x", by = "x", value = 0 }]', "> 0"),
        (VALID + 'figures = [{ of = "x", by = "x", value = 1, unit = "min" }]', "`$.figures[0].unit`"),
        (VALID + TIME + 'ends = "here", seconds = 1 }]', "`$.times[0].ends`"),
        (VALID + TIME + 'ends = "host", seconds = "1" }]', "`$.times[0].seconds`"),
    ],
)
def test_a_file_that_is_no_document_is_refused_by_name_and_place(text: str, wrong: str, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match=r"mine\.toml can't be read") as refused:
        document(tmp_path / "mine.toml")
    assert wrong in str(refused.value)


def test_a_time_has_its_step_s_precision_or_float32(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(VALID + TIME + 'ends = "host", seconds = 1 }]', encoding="utf-8")
    (time,) = document(tmp_path / "mine.toml").times
    assert (time.pass_, time.seconds, time.precision) == ("forward", 1.0, "f32")
