"""What rows say of where the time goes, and the page of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from suite.case import Purpose
from suite.ir.timeline import Category, Profile
from suite.report.formats.render import render
from suite.report.sections.questions.profiles import profile_view
from suite.results.questions.profiles import profile_questions
from suite.results.store.rows import Row
from suite.results.store.schema import to_table
from tests.report.test_page import Page
from tests.results.rows import attempt_of, untimed_row

KINDS = [Category.PRODUCTS, Category.COPIES, Category.HOST, Category.UNATTRIBUTED]


def told(stack: str, purpose: Purpose = Purpose.PROFILE, **columns: Any) -> Row:
    """A process outside the blocks."""
    return untimed_row(attempt_of(stack, block=0, purpose=purpose), **columns)


def profiled(stack: str, plain: float, **categories: float) -> Row:
    """A profile process; `categories` in seconds."""
    names = dict(zip(("products", "copies", "host", "lost"), KINDS, strict=True))
    found = Profile(
        "a profiler",
        sum(categories.values()),
        plain,
        {names[k]: v for k, v in categories.items()},
        ((Category.PRODUCTS, "dot.1", 0.004),),
    )
    return told(stack, profile=json.dumps(found.to_json()))


def rows() -> list[Row]:
    """Two profiles, one that a fifth is missing from, one stack that has no profiler."""
    kernels = json.dumps([{"library": "oneDNN", "isa": "avx512", "calls": 3, "seconds": 0.1}])
    return [
        profiled("torch_eager", 0.020, products=0.016, lost=0.004, host=0.002),
        profiled("jax_jit", 0.010, products=0.008, copies=0.003),
        told("jax_jit", Purpose.EXPLAIN, kernels=kernels),
        told("fake", outcome="unsupported", reason="it has no profiler"),
    ]


def test_a_question_has_the_fastest_first_and_says_who_has_none() -> None:
    (question,) = profile_questions(rows())
    assert [stack for stack, _ in question.stacks] == ["jax_jit", "torch_eager"]
    assert question.without == (("fake", "it has no profiler"),)
    assert question.kernels == {"jax_jit": "oneDNN avx512"}


def test_a_line_says_what_the_profiler_cost_and_what_is_missing() -> None:
    (question,) = profile_questions(rows())
    section = profile_view(question)
    most = "matrix products, 72.7 % (jax_jit) to 72.7 % (torch_eager)"
    assert section.answer == f"Most of a step, on every stack: {most}."
    other = [profiled("torch_eager", 0.020, products=0.0086, copies=0.0074, lost=0.004), *rows()[1:]]
    (question,) = profile_questions(other)
    answer = profile_view(question).answer
    assert answer.startswith("The largest part of a step, on every stack: matrix products, 4"), "that isn't most of it"
    jax, torch = section.lines
    assert (jax.plain, jax.profiled, jax.cost) == ("10.0 ms", "11.0 ms", "+10 %")
    assert jax.shares == "matrix products 72.7 %, copies and layout 27.3 %"
    assert jax.missing == ""
    assert torch.missing == "4.00 ms of a step belong to no known operation"
    assert section.bars is not None
    assert [words for _, words in section.bars.legend] == KINDS
    for bar in section.bars.rows:
        assert sum(width for _, _, width, _ in bar.segments) <= 100


def test_a_page_of_profiles_alone_is_whole(tmp_path: Path) -> None:
    file = tmp_path / "results.parquet"
    pq.write_table(to_table(rows()), file)
    page = Page(render(file).read_text(encoding="utf-8"))
    assert not page.open
    assert "gemm: where the time goes" in page.text
    assert "4.00 ms of a step belong to no known operation" in page.text
    assert "fake: it has no profiler" in page.text
