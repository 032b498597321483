"""One order of names, in which numbers count."""

from __future__ import annotations

import polars as pl
import pytest

from suite.order import natural
from suite.results.columns import in_order
from suite.results.ranking import catalogue_order


@pytest.mark.parametrize(
    "names",
    [
        ["gemm forward (n = 96)", "gemm forward (n = 200)", "gemm forward (n = 1,000)", "gemm forward (n = 10,000)"],
        ["limit 512 MiB", "limit 1.50 GiB", "limit 2.00 GiB", "limit 16.0 GiB", "limit 1.00 TiB"],
        ["gemm-n=96-f32-cpu-2GiB-numpy", "gemm-n=96-f32-cpu-16GiB-numpy", "gemm-n=1000-f32-cpu-2GiB-numpy"],
        ["jax@0.6", "jax@0.6-old-runtime", "jax@0.9.1", "jax@0.10", "jax@0.10.2"],
        ["2 cores", "16 cores"],
        ["b09-a1.json", "b99-a1.json", "b100-a1.json"],
        ["batch=2,seq=64", "batch=2,seq=512", "batch=16,seq=64"],
    ],
)
def test_numbers_count(names: list[str]) -> None:
    assert sorted({*names}, key=natural) == names
    table = pl.DataFrame({"name": names[::-1]})
    assert table.sort(in_order("name"))["name"].to_list() == names


def test_variants_of_a_stack_by_version() -> None:
    names = ["jax_jit@0.9", "jax_jit@0.10", "jax_jit:f2", "jax_jit:f10"]
    assert sorted({*names}, key=catalogue_order) == names[2:] + names[:2]
