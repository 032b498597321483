"""What other documents published: read, each with its source, and refused where it isn't valid."""

from __future__ import annotations

from pathlib import Path

import pytest

from suite.errors import UserError
from suite.results.documents.figures import document, documents
from suite.stacks.catalog import STACKS
from suite.workloads import catalog


def test_every_document_has_figures_of_stacks_and_workloads_that_there_are() -> None:
    workloads = catalog.find()
    assert {document.name for document in documents()} == {"jax-101", "jax-series-1", "study"}
    for read in documents():
        assert read.title and read.known and read.times
        assert not read.url or read.url.startswith("https://")
        for time in read.times:
            assert time.stack in STACKS and time.pass_ in workloads[time.workload].spec.PASSES
            assert time.ends in ("host", "device", "not said") and 1e-6 < time.seconds < 10
            assert set(time.dims) <= set(workloads[time.workload].dims("full", time.dims))
        assert all(verdict.workload in workloads for verdict in read.verdicts)


def test_the_study_says_what_fits_by_framework() -> None:
    (study,) = [document for document in documents() if document.name == "study"]
    assert {verdict.workload: tuple(verdict.fits.values()) for verdict in study.verdicts} == {
        "vit": (True, False),
        "gpt_neo": (True, False),
        "llama": (False, False),
    }


@pytest.mark.parametrize("text", ["[[times]", 'title = "x"', 'title = "x"\nurl = ""\nknown = ""\n[[times]]\nn = 1'])
def test_a_file_that_is_no_document_is_refused_by_name(text: str, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match=r"mine\.toml can't be read"):
        document(tmp_path / "mine.toml")
