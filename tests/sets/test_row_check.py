"""Rows that a stranger has forged are refused when they are read, by file; what is read can be shown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from suite import results
from suite.errors import UserError
from suite.page.formats.render import page
from suite.sets.arrow import to_table
from suite.sets.result_set import ResultSet
from suite.sets.row_check import TYPES
from tests.results.rows import attempt_of, make_set, record, row_of

LONG = [0.01] * 5


def stored(folder: Path, **columns: Any) -> ResultSet:
    """Two stacks in two blocks; one row has other columns."""
    rows = [row_of(attempt_of(stack, block)) for stack in ("numpy", "jax_jit") for block in (1, 2)]
    store = make_set(folder, rows, [record(1, 1), record(2, 1)])
    store.commit()
    rows[0] |= columns
    pq.write_table(to_table(rows), store.results_path)
    for path in (store.folder / "attempts").iterdir():
        path.unlink()
    return store


@pytest.mark.parametrize(
    "columns",
    [
        {"holders": "5"},
        {"holders": '{"categories": 5}'},
        {"holders": '{"largest": [1]}'},
        {"kernels": '[{"library": 1}]'},
        {"kernels": "{}"},
        {"programs": "[1]"},
        {"programs": '[{"name": "a"}]'},
        {"profile": '{"seconds": 1}'},
        {"profile": "null"},
        {"behaviour": "[{}]"},
        {"versions": '{"jax": {}}'},
        {"versions": "[1"},
        {"environment_facts": "[]"},
        {"dims": "{}["},
        {"dims": '{"../n": 1}'},
        {"dims": '{"n": "64"}'},
        {"workload": "../x"},
        {"target": "moon"},
        {"outcome": "fine"},
        {"purpose": "fun"},
        {"threads": -1},
        {"versions": "[" * 100_000},
        {"synced_seconds": [-1.0, *LONG]},
        {"synced_seconds": [float("nan"), *LONG]},
        {"first_seconds": float("inf")},
        {"synced_seconds": [0.0, *LONG]},
        {"fetch_seconds": [1e-300]},
        {"second_seconds": 1e300},
        {"flops": -1},
        {"device_peak_bytes": -1},
        {"synced_seconds": LONG, "synced_others": [0.0]},
        {"synced_seconds": LONG, "synced_rounds": [1]},
        {"synced_seconds": LONG, "synced_rounds": [0] * len(LONG)},
        {"synced_seconds": LONG, "synced_rounds": [-1] * len(LONG)},
    ],
    ids=str,
)
def test_what_no_process_tells_is_refused(columns: dict[str, Any], tmp_path: Path) -> None:
    columns = {name: value[:50_000] if isinstance(value, str) else value for name, value in columns.items()}
    with pytest.raises(UserError, match=r"results\.parquet can't be read"):
        results.load(stored(tmp_path / "a-set", **columns).folder)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**40), 2**40) | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
LIKE = st.fixed_dictionaries(
    {},
    optional={
        "told_by": st.text(max_size=3),
        "categories": st.dictionaries(st.text(max_size=3), st.floats(), max_size=2),
        "largest": st.lists(VALUES, max_size=2),
        "seconds": st.floats(),
        "plain_seconds": st.floats(),
    },
)


@given(st.sampled_from(sorted(TYPES)), VALUES | LIKE, st.sampled_from(["timed", "explain", "profile", "ir", "probe"]))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_what_is_read_can_be_shown(
    tmp_path_factory: pytest.TempPathFactory, column: str, value: Any, purpose: str
) -> None:
    store = stored(tmp_path_factory.mktemp("set") / "a-set", **{column: json.dumps(value), "purpose": purpose})
    try:
        loaded = results.load(store.folder)
    except UserError:
        return
    assert "<html" in page(loaded)


@pytest.mark.parametrize("seconds", [2e-12, 9e11])
def test_times_of_any_size_are_shown(seconds: float, tmp_path: Path) -> None:
    store = stored(tmp_path / "a-set", synced_seconds=[seconds] * 5, first_seconds=seconds, second_seconds=seconds)
    assert "<html" in page(results.load(store.folder))
