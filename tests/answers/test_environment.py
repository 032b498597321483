"""What the page says of the machine: which it is, what it reaches, what ran, how environments differ."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from suite import results
from suite.answers.environment import differences
from suite.case import Attempt, Purpose
from suite.environments import releases
from suite.page.formats.render import render
from suite.page.report import Report, report
from suite.sets.result_set import ResultSet
from suite.sets.rows import Row, empty_row
from suite.stacks.names import attempt_name
from tests.answers.asking import answered
from tests.page import synthetic
from tests.page.parts import found
from tests.results.rows import attempt_of, row_of

CEILINGS = [
    {"measured_at": "2026-01-15T10:00:00+00:00", "threads": 2, "side": 1024, "flops_per_second": 2e11},
    {"measured_at": "2026-01-16T10:00:00+00:00", "threads": 2, "side": 1024, "flops_per_second": 1.5e11},
]


@pytest.fixture(scope="module")
def explained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A set that was resumed on a slower day, one of its cases explained."""
    folder = synthetic.write(tmp_path_factory.mktemp("machine") / "explained")
    store = ResultSet.open(folder)
    store.ceilings = CEILINGS
    timed = next(a for a in store.plan_file.attempts if a.case.stack == "torch_eager" and a.case.workload == "gemm")
    attempt = Attempt.from_json(timed.to_json() | {"block": 0, "purpose": "explain"})
    kernels = [{"library": "MKL", "isa": "AVX2", "calls": 1, "seconds": 0.02}]
    store.write_attempt(
        attempt_name(attempt),
        empty_row(attempt)
        | {"machine_id": store.plan_file.machine_id, "outcome": "ok", "kernels": json.dumps(kernels)},
    )
    store.commit()
    return folder


@pytest.fixture(scope="module")
def reported(explained: Path) -> Report:
    return report(results.load(explained))


def test_the_kernel_library_stands_beside_its_stack(explained: Path, tmp_path: Path) -> None:
    text = render(explained, tmp_path / "report.html").read_text(encoding="utf-8")
    assert text.count(">MKL AVX2</td>") == 1
    assert text.count("library and instructions, most first") == 1, "where it was asked, and there alone"
    lines = results.load(explained).stacks()
    assert list(lines.filter(kernels="MKL AVX2")["stack"]) == ["torch_eager"]


def test_a_set_that_did_not_ask_has_no_such_column(html_file: Path) -> None:
    assert "library and instructions" not in html_file.read_text(encoding="utf-8")


def test_the_machine_and_its_ceiling_stand_under_the_title(reported: Report) -> None:
    machine = reported.facts["Machine"]
    assert machine.startswith("Example CPU @ 2.80GHz") and "reaches 200 GFLOP/s in f32" in machine


def test_every_reading_of_the_ceiling_is_listed_and_a_change_noticed(reported: Report) -> None:
    facts = found(reported, "environment").table["fact"].to_list()
    assert [fact[-16:] for fact in facts if fact.startswith("f32 ceiling")] == ["2026-01-15 10:00", "2026-01-16 10:00"]
    assert any("reached 150 GFLOP/s in f32 when this set was resumed and 200" in notice for notice in reported.notices)


def facts_row(stack: str, environment: str, **facts: str) -> Row:
    """A row of an environment with these facts."""
    return row_of(attempt_of(stack), environment=environment, environment_facts=json.dumps(facts))


def test_environments_that_differ_in_their_builds_are_named() -> None:
    same = {"c_library": "glibc 2.36", "interpreter": "CPython 3.11.9, PGO, LTO, GCC"}
    ours, theirs = facts_row("numpy", "numpy", **same), facts_row("jax_jit", "jax", **same)
    assert differences([ours, theirs]) == ()
    [said] = differences([ours, facts_row("jax_jit", "jax", **same | {"c_library": "glibc 2.39"}), theirs])
    assert said.startswith("The C library differs between environments: ")
    assert "glibc 2.36 (jax, local; numpy, local) and glibc 2.39 (jax, local)" in said


def test_what_is_unknown_is_not_compared() -> None:
    assert differences([facts_row("numpy", "numpy", compiler="g++ 12"), facts_row("jax_jit", "jax")]) == ()


def test_an_explanation_is_no_process_of_a_comparison(reported: Report) -> None:
    processes = reported.facts["Processes"]
    plan = synthetic.attempts("explained")
    assert processes.endswith(f"of {sum(a.purpose is Purpose.TIMED for a in plan)} planned")


def test_every_environment_has_the_version_of_its_own_framework() -> None:
    """A package may be named with an underscore, or with what it runs on."""
    versions = {
        "numpy": {"numpy": "2.4"},
        "torch_xla": {"torch": "2.9", "torch_xla": "2.9"},
        "tensorflow": {"numpy": "2.4", "tensorflow-cpu": "2.21"},
    }
    rows = [
        row_of(attempt_of(), environment=name, versions=json.dumps(packages)) for name, packages in versions.items()
    ]
    sentence = answered("environment", rows).sentence
    assert sentence == "3 environments (numpy 2.4, tensorflow-cpu 2.21, torch_xla 2.9)."


def test_a_release_has_its_day_and_an_unknown_one_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(releases, "days", lambda _: {"torch": {"2.15.0": "2026-10-28"}})
    versions = {"torch": "2.15.0+cu132", "numpy": "2.4"}
    answer = answered("environment", [row_of(attempt_of(), environment="torch", versions=json.dumps(versions))])
    assert answer.sentence == "1 environment (torch 2.15.0+cu132 of 2026-10-28)."
    facts = {fact: value for of, fact, value in answer.table.iter_rows() if of == "torch"}
    assert (facts["torch"], facts["numpy"]) == ("2.15.0+cu132 of 2026-10-28", "2.4")
