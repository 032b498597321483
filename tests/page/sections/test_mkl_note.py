"""The note on MKL's default path: a likely cause that the set didn't test, with the command that tests it."""

from __future__ import annotations

import dataclasses
import shlex
from pathlib import Path
from typing import Any

import pytest

from suite import results
from suite.cli.options import RunOptions
from suite.page.map.panel import panels
from suite.page.map.remedies import options_of
from suite.page.report import report
from suite.page.sections import mkl_record
from suite.page.sections.mkl_note import MklNote, mkl_note
from suite.page.sections.timed.comparisons import ComparisonsSection
from suite.results.analysis import Analysis
from suite.results.frame import Frame
from suite.stacks.torch.mkl_path import KNOB
from tests.page.parts import part
from tests.typed import parsed

AMD = {"cpu_vendor": "AuthenticAMD", "cpu_model": "AMD EPYC", "cpu_flags": ["avx2", "avx512f"]}


@pytest.fixture(scope="module")
def slowed(loaded: results.Results) -> Analysis:
    """An analysis in which PyTorch's product took MKL's default path."""
    return with_kernels(loaded.analysis(), "MKL default path; rest ATen AVX512")


def with_kernels(analysis: Analysis, kernels: str) -> Analysis:
    """The analysis with these kernels of torch_eager on gemm."""
    comparisons = tuple(
        dataclasses.replace(
            comparison,
            cases=tuple(
                dataclasses.replace(case, kernels=kernels) if case.stack == "torch_eager" else case
                for case in comparison.cases
            ),
        )
        if comparison.name == "gemm forward"
        else comparison
        for comparison in analysis.comparisons
    )
    return dataclasses.replace(analysis, comparisons=comparisons)


def note_of(analysis: Analysis, machine: dict[str, Any]) -> MklNote | None:
    """The only note of an analysis."""
    notes = [note for each in analysis.comparisons if (note := mkl_note(each, analysis, machine))]
    assert len(notes) <= 1
    return notes[0] if notes else None


def test_an_arm_has_no_mkl(slowed: Analysis) -> None:
    assert note_of(slowed, AMD | {"platform": "Linux x86_64"})
    assert note_of(slowed, AMD | {"platform": "Linux aarch64"}) is None  # as in an emulator, with the host's processor
    assert note_of(slowed, {"cpu_vendor": "ARM", "cpu_model": "ARM Neoverse-V1", "platform": "Linux aarch64"}) is None


def test_the_cause_is_likely_untested_and_has_its_command(slowed: Analysis) -> None:
    note = note_of(slowed, AMD)
    assert note and "MKL, which torch_eager calls here" in note.text
    assert "isn't Intel's, and this is AMD EPYC. On this path it uses at most AVX2" in note.text
    assert "although it has AVX-512" in note.text
    assert note.text.endswith("That likely makes torch_eager slower here; it is not tested in this set.")
    assert note.command.startswith("./stackwars run --stack=torch_eager --baseline=torch_eager --workload=gemm ")
    assert " --track=default --track=tuned " in note.command
    assert f"replaces its function {KNOB.name}" in note.trial and "runs torch_eager alone" in note.trial
    assert "not tested in this set; a command there tests it" in note.short
    assert "on this AMD processor likely slows torch_eager" in note.first and "reverse the ranking" in note.first


def test_its_command_has_the_settings_of_the_set(loaded: results.Results, slowed: Analysis) -> None:
    gemm = next(comparison for comparison in slowed.comparisons if comparison.name == "gemm forward")
    note = mkl_note(gemm, slowed, AMD, loaded.plan_file)
    assert note and loaded.plan_file
    words = shlex.split(note.command)
    assert {*options_of(loaded.plan_file)} <= {*words}
    _, options = parsed(words[1:])
    assert isinstance(options, RunOptions) and options.track == ("default", "tuned")
    view = next(v for v in part(report(loaded), ComparisonsSection).views if v.comparison.name == gemm.name)
    of_amd = Frame(dataclasses.replace(loaded, machine=AMD), slowed)
    assert dataclasses.replace(view, comparison=gemm, frame=of_amd).mkl_note == note


def test_there_is_no_note_where_the_set_does_not_support_it(loaded: results.Results, slowed: Analysis) -> None:
    hygon = note_of(slowed, AMD | {"cpu_vendor": "HygonGenuine"})
    assert hygon and hygon.command == "", "the knob acts on AMD's processors alone"
    plain = note_of(slowed, AMD | {"cpu_flags": ["avx2"]})
    assert plain and "although" not in plain.text
    for machine in ({}, AMD | {"cpu_vendor": "GenuineIntel"}):
        assert note_of(slowed, machine) is None
    assert note_of(with_kernels(loaded.analysis(), "MKL AVX-512"), AMD) is None


def note_in(digits: str, question: str) -> MklNote | None:
    """The note of a published set on one of its questions."""
    [folder] = (Path(__file__).parents[3] / "sets").glob(f"*.{digits}*")
    views = part(report(results.load(folder)), ComparisonsSection).views
    return next(view for view in views if view.comparison.name == question).mkl_note


def test_a_set_with_the_tuned_track_says_who_leads_on_it() -> None:
    note = note_in("b839632f", "ffn train default track")
    assert note and note.command == "" and note.short.endswith(" (tested on the tuned track)")
    assert note.first.startswith(
        "MKL's default path on this AMD processor likely slows torch_eager; with MKL's path for Intel's processors "
        "(the tuned track of this set) torch_eager leads ffn train: jax_jit is 0.8"
    )
    assert note_in("b839632f", "ffn train tuned track") is None


def test_a_question_without_a_record_has_that_of_its_set_and_the_measured_result_of_another() -> None:
    note = note_in("069b23a2", "mha train")  # only gemm's libraries were recorded
    assert note and "call for products of matrices (recorded on gemm train of this set)" in note.text
    assert "(the tuned track of set b839632f5c59) torch_eager leads mha train: jax_jit is 0." in note.first
    assert note_in("069b23a2", "selu train") is None, "it has no products"
    assert note_in("2c911dfa", "rnn forward").text.startswith("MKL, which keras_torch calls here")  # type: ignore[union-attr]


def test_a_set_that_records_no_library_has_what_an_own_set_recorded_of_its_processor_and_versions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    note = note_in("63b514e6", "attention forward")
    assert note and "which torch_eager and torch_inductor call for products of matrices (recorded on gemm " in note.text
    assert "of set 069b23a24959, with this processor and versions)" in note.text and note.command == ""
    assert "slows torch_eager and torch_inductor as far as a step multiplies matrices; a faster one may " in note.first
    assert note_in("ce22462e", "argsort forward") is None, "it waits for memory"
    monkeypatch.setattr(mkl_record, "own_sets", lambda of: ())
    assert note_in("63b514e6", "attention forward") is None, "no evidence"


def test_every_panel_of_the_question_links_to_the_note(slowed: Analysis) -> None:
    behind = panels(slowed, {}, AMD, None)
    linked = {(panel.comparison.name, panel.stack) for panel in behind if panel.note}
    gemm = next(comparison for comparison in slowed.comparisons if comparison.name == "gemm forward")
    assert linked == {("gemm forward", stack.stack) for stack in gemm.timed}
    assert ("gemm forward", "jax_jit") in linked
