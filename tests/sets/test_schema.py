"""The public contract: every column, in order, with its meaning, and what a table refuses."""

from __future__ import annotations

import json
import math
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from suite.sets.arrow import SCHEMA, to_table
from suite.sets.rows import empty_row, metrics_json
from suite.sets.schema import DESCRIBED, NAMES, SCHEMA_VERSION
from tests.results.rows import WHEN, attempt_of, row_of

PUBLIC = [
    "schema_version", "set_id", "machine_id", "case_id", "case_name", "comparison_id", "block", "position",
    "replicate", "purpose", "retry", "seed", "workload", "size", "dims", "pass", "precision", "track", "stack",
    "variant", "implementation", "dialect", "environment", "target", "device", "engine", "cache", "threads",
    "limit_memory_bytes", "allocator",
    "outcome", "reason", "flags", "phase", "provenance", "inferred_from", "exception_type", "message", "exit_code",
    "signal", "stderr_tail", "import_seconds", "device_seconds", "build_seconds", "place_seconds", "first_seconds",
    "second_seconds", "synced_seconds", "dispatch_seconds", "pipelined_seconds", "fetch_seconds", "synced_warmup",
    "pipelined_calls", "compile_seconds", "compiles_first", "compiles_second", "compiles_steady", "graph_breaks",
    "synced_others", "pipelined_others", "fetch_others", "first_others", "second_others", "effective_cores",
    "kernel_share", "minor_faults_per_step", "sampling", "synced_rounds", "company", "held_seconds",
    "held_processor_seconds", "restless_handovers",
    "host_peak_build_bytes", "host_peak_step_bytes", "cgroup_peak_bytes", "cgroup_anonymous_bytes",
    "device_peak_bytes", "device_reserved_bytes", "nvml_bytes", "host_base_bytes", "host_file_bytes",
    "device_total_bytes", "program_argument_bytes", "program_output_bytes", "program_temporary_bytes",
    "program_aliased_bytes", "floor_parameters_bytes", "floor_gradients_bytes", "floor_optimizer_bytes",
    "floor_inputs_bytes", "holders", "flops", "bytes_floor", "parameters", "items_per_step",
    "kernels", "programs", "prediction", "profile", "behaviour",
    "relative_error", "tolerance", "result_types", "precision_observed", "weights_sha256", "canary_seconds",
    "steal_share", "versions",
    "lock_sha256", "image_digest", "engine_version", "environment_facts", "started_at", "metrics",
]  # fmt: skip
LISTS = {
    "flags", "synced_seconds", "dispatch_seconds", "pipelined_seconds", "fetch_seconds", "canary_seconds",
    "synced_others", "pipelined_others", "fetch_others", "synced_rounds",
}  # fmt: skip


def test_the_columns_are_the_public_ones_in_their_order() -> None:
    assert list(NAMES) == PUBLIC
    assert SCHEMA.names == PUBLIC


def test_every_column_has_a_type_and_a_meaning() -> None:
    columns = [column for group in DESCRIBED.values() for column in group]
    assert len({name for name, *_ in columns}) == len(columns)
    for name, _, meaning in columns:
        assert len(meaning) >= 8, f"{name} isn't documented"
        kind = SCHEMA.field(name).type
        assert pa.types.is_list(kind) == (name in LISTS)
        if name.endswith("_seconds"):
            assert kind in (pa.float64(), pa.list_(pa.float64()))
        if name.endswith("_bytes"):
            assert kind == pa.int64()
    assert SCHEMA.field("started_at").type == pa.timestamp("us")


def test_an_empty_row_knows_its_question_and_nothing_else() -> None:
    attempt = attempt_of("jax_jit", block=2, variant="nightly", limit_memory_bytes=2**30)
    row = empty_row(attempt)
    assert list(row) == list(NAMES)
    assert row["case_id"] == attempt.case.case_id and row["comparison_id"] == attempt.case.comparison_id
    assert (row["pass"], row["variant"], row["limit_memory_bytes"], row["block"]) == ("forward", "nightly", 2**30, 2)
    assert json.loads(row["dims"]) == {"n": 64}
    assert row["purpose"] == "timed" and type(row["purpose"]) is str
    assert row["outcome"] is None and row["first_seconds"] is None and row["graph_breaks"] is None
    assert row["flags"] == [] and row["metrics"] is None and row.metrics == []
    assert to_table([row]).num_rows == 1


FULL: dict[str, Any] = {
    "reason": "µ: \x00 and \U0001f600", "flags": ["noisy", "assumed"], "signal": 9, "exit_code": None,
    "synced_seconds": [0.1, 1e-9, 5e-324], "canary_seconds": [0.1, None], "pipelined_seconds": None,
    "fetch_seconds": [], "flops": 2 * 30_000**3, "relative_error": math.inf, "graph_breaks": 0,
    "metrics": metrics_json([{"name": "loss", "unit": "1", "kind": "gate", "values": [1.0, math.nan, -math.inf]}]),
    "versions": '{"numpy":"2.0"}', "started_at": WHEN.replace(tzinfo=None),
}  # fmt: skip


def test_rows_survive_a_file(tmp_path: Any) -> None:
    """Null stays apart from 0 and from an empty list, and every sample keeps all its bits."""
    rows = [row_of(attempt_of()) | FULL, empty_row(attempt_of("jax_jit", block=2))]
    pq.write_table(to_table(rows), tmp_path / "rows.parquet")
    table = pq.read_table(tmp_path / "rows.parquet", schema=SCHEMA)
    assert table.schema.equals(SCHEMA, check_metadata=True)
    assert table.to_pylist() == rows
    pq.write_table(to_table([rows[0] | {"relative_error": math.nan}]), tmp_path / "rows.parquet")
    assert math.isnan(pq.read_table(tmp_path / "rows.parquet").to_pylist()[0]["relative_error"])


def test_a_missing_column_is_null_and_no_rows_are_a_table_of_this_version_too() -> None:
    assert to_table([{"set_id": "a-set"}]).to_pylist() == [dict.fromkeys(NAMES) | {"set_id": "a-set"}]
    assert to_table([]).schema.equals(SCHEMA)
    assert str(SCHEMA_VERSION).encode() in (SCHEMA.metadata or {}).values()


@pytest.mark.parametrize("where", [0, 1])
def test_an_unknown_column_is_refused_by_name(where: int) -> None:
    rows = [row_of(attempt_of()), row_of(attempt_of("jax_jit"))]
    rows[where]["colour"] = "red"
    with pytest.raises((ValueError, KeyError), match="colour"):
        to_table(rows)


@pytest.mark.parametrize(
    ("name", "value"),
    [("block", "one"), ("block", 1.5), ("block", 2**63), ("flops", 0.5), ("synced_seconds", ["slow"]),
     ("synced_seconds", 0.1), ("outcome", 3), ("dims", {"n": 64}), ("first_seconds", "1 s"),
     ("started_at", "yesterday"), ("metrics", [{"name": "loss"}]), ("versions", {"numpy": "2.0"})],
)  # fmt: skip
def test_a_misfit_is_refused(name: str, value: Any) -> None:
    with pytest.raises((ValueError, TypeError, OverflowError, pa.ArrowException)):
        to_table([row_of(attempt_of()) | {name: value}])
