"""What rows say of where the time goes, and the page of it."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from suite.case import Purpose
from suite.ir.timeline import Category, Profile
from suite.page.formats.render import render
from suite.sets.arrow import to_table
from suite.sets.rows import Row
from tests.answers.asking import answered
from tests.page.test_report import Page
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
    return told(stack, profile=json.dumps(asdict(found)))


def rows() -> list[Row]:
    """Two profiles, one that a fifth is missing from, one stack that has no profiler."""
    kernels = json.dumps([{"library": "oneDNN", "isa": "avx512", "calls": 3, "seconds": 0.1}])
    return [
        profiled("torch_eager", 0.020, products=0.016, lost=0.004, host=0.002),
        profiled("jax_jit", 0.010, products=0.008, copies=0.003),
        told("jax_jit", Purpose.EXPLAIN, kernels=kernels),
        told("fake", outcome="unsupported", reason="it has no profiler"),
    ]


def test_the_fastest_is_first_and_who_has_no_profile_is_named() -> None:
    found = answered("profiles", rows())
    assert found.table["stack"].to_list() == ["jax_jit", "torch_eager"]
    assert found.table["kernels"].to_list() == ["oneDNN avx512", ""]
    assert found.also == ["fake on gemm forward: it has no profiler"]


def test_a_line_says_what_the_profiler_cost_and_what_is_missing() -> None:
    found = answered("profiles", rows())
    assert "Most of a step, on every stack: matrix products, 72.7 % (jax_jit) to 72.7 %" in found.sentence
    jax, torch = found.table.to_dicts()
    assert (jax["step_seconds"], jax["profiled_seconds"], jax["cost"]) == pytest.approx((0.010, 0.011, 0.1))
    assert [each["share"] for each in jax["categories"]] == pytest.approx([8 / 11, 3 / 11])
    assert (jax["unknown_seconds"], torch["unknown_seconds"]) == (None, 0.004)
    (bars,) = found.figures
    assert bars and [words for *_, words in bars.legend] == KINDS
    assert all(bars.drawn[name][-1]["high"] <= 100 for name in bars.names)
    other = [profiled("torch_eager", 0.020, products=0.0086, copies=0.0074, lost=0.004), *rows()[1:]]
    assert "The largest part of a step" in answered("profiles", other).sentence, "it isn't most of it"


def test_a_page_of_profiles_alone_is_whole(tmp_path: Path) -> None:
    file = tmp_path / "results.parquet"
    pq.write_table(to_table(rows()), file)
    page = Page(render(file).read_text(encoding="utf-8"))
    assert not page.open
    assert "gemm: where the time goes" in page.text
    assert "4.00" in page.text and "fake on gemm forward: it has no profiler" in page.text
