"""The public contract: the columns of results.parquet, one row per attempt, and how rows become tables.

Readers always pass `SCHEMA`, because Parquet readers silently drop a column that the first of several
files lacks. In every column null means unknown or not applicable, and 0 is a counted zero.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

# Raised when a column is added, removed or changes its meaning. Once a version is published, its sets stay readable;
# none is yet, so that readers know this version alone.
SCHEMA_VERSION = 12

JSON = "json"  # stored as a string, because the keys differ from row to row
ARROW_TYPES: dict[str, Any] = {
    "int64": pa.int64(),
    "float64": pa.float64(),
    "string": pa.string(),
    JSON: pa.string(),
    "timestamp": pa.timestamp("us", tz="UTC"),
    "list<float64>": pa.list_(pa.float64()),
    "list<int64>": pa.list_(pa.int64()),
    "list<string>": pa.list_(pa.string()),
    "list<metric>": pa.list_(
        pa.struct(
            [("name", pa.string()), ("unit", pa.string()), ("kind", pa.string()), ("values", pa.list_(pa.float64()))]
        )
    ),
}


@dataclass(frozen=True, slots=True)
class StoredColumn:
    """One column: its type (a key of `ARROW_TYPES`), its unit (empty where it has none) and its meaning."""

    name: str
    type: str
    unit: str
    doc: str


def _identity(name: str, type_: str, doc: str) -> StoredColumn:
    return StoredColumn(name, type_, "", doc)


def _seconds(name: str, doc: str) -> StoredColumn:
    return StoredColumn(name, "float64", "seconds", doc)


def _samples(name: str, doc: str) -> StoredColumn:
    return StoredColumn(name, "list<float64>", "seconds", doc)


def _share(name: str, doc: str) -> StoredColumn:
    return StoredColumn(name, "float64", "1", doc)


def _shares(name: str, doc: str) -> StoredColumn:
    return StoredColumn(name, "list<float64>", "1", doc)


def _bytes(name: str, doc: str) -> StoredColumn:
    return StoredColumn(name, "int64", "bytes", doc)


def _count(name: str, doc: str) -> StoredColumn:
    return StoredColumn(name, "int64", "count", doc)


def _text(name: str, doc: str, type_: str = "string") -> StoredColumn:
    return StoredColumn(name, type_, "", doc)


GROUPS: dict[str, tuple[StoredColumn, ...]] = {
    "identity": (
        _identity("schema_version", "int64", "version of this table of columns"),
        _identity("set_id", "string", "the result set"),
        _identity("machine_id", "string", "pseudonym of the machine; rows of two machines are never paired"),
        _identity("case_id", "string", "sha256 of the case's canonical JSON"),
        _identity("case_name", "string", "the case, readable"),
        _identity("comparison_id", "string", "shared by cases that differ in stack, variant and implementation alone"),
        _identity("block", "int64", "the block, from 1; the unit of pairing"),
        _identity("order", "int64", "the place in the block's shuffled order"),
        _identity("replicate", "int64", "1; the baseline's further processes in the block (A/A twins) have 2, 3, …"),
        _identity(
            "purpose",
            "string",
            "timed, prime (fills caches for a warm case), memory (a few steps, untimed), explain "
            "(which kernels run, what memory is made of), profile (where the time goes), ir (what compilers "
            "are handed), probe (how a stack behaves), predict (what an accelerator's compiler makes of a case)",
        ),
        _identity("retry", "int64", "1, and one more each time that the block, or this process alone, is run again"),
        _identity("seed", "int64", "seed of the generator of weights and inputs"),
    ),
    "case": (
        _text("workload", "what is computed"),
        _text("size", "name of the workload's set of dims; custom where no size has them"),
        _text("dims", "whole numbers by name, an object", JSON),
        _text("pass", "forward, train or gradient"),
        _text("precision", "declared arithmetic: f32, tf32 or bf16"),
        _text("track", "default or tuned"),
        _text("stack", "how the dialect's code is executed"),
        _text("variant", "another lock or other flags of the stack; empty for none"),
        _text(
            "implementation",
            "which function of a question file computes it; empty for workloads with one in each dialect",
        ),
        _text("dialect", "the language that the workload is written in"),
        _text("environment", "the locked virtual environment"),
        _text("target", "hardware class: cpu, cuda or tpu"),
        _text("device", "the device planned; what the framework saw is in environment_facts"),
        _text("engine", "how the process was contained: local or docker; not part of the case's identity"),
        _text("cache", "cold or warm compile caches"),
        _count("threads", "CPU cores that the framework was given"),
        _bytes("limit_memory_bytes", "memory limit; null where only the machine limits"),
        _text("allocator", "kept: the process keeps freed memory; system: the C library decides"),
    ),
    "outcome": (
        _text(
            "outcome", "ok, differ, oom_host, oom_device, oom_compile, timeout, unsupported, wrong, error or crashed"
        ),
        _text("reason", "why, for every outcome but ok, and for the flag implausible"),
        _text("flags", "what a reader must know beyond the outcome", "list<string>"),
        _text("phase", "the last phase that the worker began"),
        _text("provenance", "measured, inferred (from another row) or predicted"),
        _text("inferred_from", "case_name of the row that this row was inferred from"),
        _text("exception_type", "type of the exception that ended the worker"),
        _text("message", "its message, at most 4 KiB"),
        StoredColumn("exit_code", "int64", "", "the process's exit code; null where a signal ended it"),
        StoredColumn("signal", "int64", "", "the signal that ended it"),
        _text("stderr_tail", "the last lines of standard error"),
    ),
    "times": (
        _seconds("import_seconds", "importing the framework"),
        _seconds("device_seconds", "opening the device"),
        _seconds("build_seconds", "building the step"),
        _seconds("place_seconds", "placing weights, optimizer state and inputs on the device"),
        _seconds("first_seconds", "first call in a fresh process until its results are ready: trace, compile, run"),
        _seconds("second_seconds", "second call"),
        _samples("synced_seconds", "the headline clock, until a call's results are ready; every sample in order"),
        _samples("dispatch_seconds", "until the same calls returned: the time to submit, not to compute"),
        _samples("pipelined_seconds", "time of pipelined_calls submitted calls and one wait, divided by their number"),
        _samples("fetch_seconds", "a synced call and the copy of its result to the host"),
        _count("synced_warmup", "leading samples of synced_seconds that are warm-up, kept but not summarised"),
        _count("pipelined_calls", "calls in flight in a sample of pipelined_seconds"),
        _seconds("compile_seconds", "all compiling, by the framework's own counters"),
        _count("compiles_first", "compiles and retraces during the first call"),
        _count("compiles_second", "compiles and retraces during the second call"),
        _count("compiles_steady", "compiles and retraces in later calls; any sets the flag recompiled"),
        _count("graph_breaks", "graph breaks"),
        _shares("synced_others", "share of our cores' time that other processes took in the batch of each sample"),
        _shares("pipelined_others", "the same for pipelined_seconds"),
        _shares("fetch_others", "the same for fetch_seconds"),
        _share("first_others", "the same for the first call"),
        _share("second_others", "the same for the second call"),
        StoredColumn(
            "effective_cores", "float64", "cores", "our processor time over wall time, in the samples of synced_seconds"
        ),
        _share("kernel_share", "share of that processor time that the kernel used"),
        StoredColumn("minor_faults_per_step", "float64", "count", "minor page faults per step, in the same samples"),
        _text("sampling", "how the samples were taken: alone, or in rounds, in turn with other processes"),
        StoredColumn(
            "synced_rounds",
            "list<int64>",
            "",
            "round of each synced sample; 0: taken before the first turn, or leading into a turn; null: sampled alone",
        ),
        _count("company", "processes that took turns in the rounds, with this one; null: sampled alone"),
        _seconds("held_seconds", "waiting for turns, while other processes were measured"),
        _seconds("held_processor_seconds", "processor time that this process took while it waited"),
        _count("restless_handovers", "waits that began before the process had come to rest"),
    ),
    "memory": (
        _bytes("host_peak_build_bytes", "peak resident memory until weights and inputs were placed"),
        _bytes("host_peak_step_bytes", "peak resident memory while stepping"),
        _bytes("cgroup_peak_bytes", "peak of the process's own cgroup, page cache included; null without one"),
        _bytes("cgroup_anonymous_bytes", "greatest sampled anonymous memory of that cgroup: without page cache"),
        _bytes("device_peak_bytes", "peak allocated on the device, by the framework"),
        _bytes("device_reserved_bytes", "peak reserved on the device; can't be compared with device_peak_bytes"),
        _bytes("nvml_bytes", "the process's device memory, by the driver"),
        _bytes("host_base_bytes", "peak resident memory before anything was placed: Python and the framework"),
        _bytes("host_file_bytes", "resident pages of files (libraries) at the end: the kernel can drop them"),
        _bytes("device_total_bytes", "device memory that the framework may use"),
        _bytes("program_argument_bytes", "arguments of the compiled step, by its compiler"),
        _bytes("program_output_bytes", "results of that step, with those that overwrite an argument"),
        _bytes("program_temporary_bytes", "temporary buffers of that step"),
        _bytes("program_aliased_bytes", "results of that step that overwrite an argument"),
        _bytes("floor_parameters_bytes", "parameters and buffers, by the workload's spec; the floor of every stack"),
        _bytes("floor_gradients_bytes", "all gradients at once, which a compiler may avoid"),
        _bytes("floor_optimizer_bytes", "the optimizer's moments"),
        _bytes("floor_inputs_bytes", "inputs and targets"),
        _text("holders", "what holds the memory, by an explain process: bytes by category, largest tensors", JSON),
    ),
    "work": (
        StoredColumn(
            "flops",
            "int64",
            "FLOP",
            "floating-point operations of a call, by a formula; of a question by XLA's own count",
        ),
        StoredColumn(
            "bytes_floor",
            "int64",
            "bytes",
            "the least bytes that a call must move; of a question those of all inputs and results",
        ),
        _count("parameters", "trained numbers"),
        _count("items_per_step", "tokens, images or rows in a call"),
        _text(
            "kernels",
            "which libraries and instruction sets do the work, recorded by an explain process: a list, those with most "
            "time first",
            JSON,
        ),
    ),
    "compiler": (
        _text(
            "programs",
            "what the stack hands to its compiler, recorded by an ir process: a list in the order compiled, with "
            "counts; the texts are in ir/",
            JSON,
        ),
    ),
    "prediction": (
        _text(
            "prediction",
            "what an accelerator's own compiler makes, without the accelerator, of the program that the stack hands "
            "over, by a predict process: an object",
            JSON,
        ),
    ),
    "profile": (
        _text(
            "profile",
            "where a step's time goes, recorded by a profile process: seconds by category, with and without profiler",
            JSON,
        ),
    ),
    "behaviour": (
        _text(
            "behaviour",
            "what a probe observed: a list of aspects with the class of each, the framework's words, the lines "
            "that ran, and what is documented; its figures are metrics of the kind behaviour",
            JSON,
        ),
    ),
    "gate": (
        StoredColumn("relative_error", "float64", "1", "worst relative Frobenius error against the reference"),
        StoredColumn("tolerance", "float64", "1", "largest relative error of a right result"),
        _text("result_types", "type of each result by its name, an object", JSON),
        _text("precision_observed", "arithmetic observed in use"),
        _text("weights_sha256", "digest of the generated weights and inputs, equal on all stacks"),
    ),
    "surroundings": (
        _samples("canary_seconds", "time of a fixed piece of work before and after the block"),
        StoredColumn("steal_share", "float64", "1", "share of the block's processor time that the hypervisor took"),
        _text("versions", "packages' versions by name, an object", JSON),
        _text("lock_sha256", "digest of the environment's lock file"),
        _text("image_digest", "digest of the container's image"),
        _text("engine_version", "version of the container engine"),
        _text("environment_facts", "what the worker saw of its surroundings, an object", JSON),
        StoredColumn("started_at", "timestamp", "UTC", "when the process was started"),
    ),
    "metrics": (
        StoredColumn(
            "metrics", "list<metric>", "", "further figures of a workload: name, unit, kind and values of each"
        ),
    ),
}
COLUMNS: tuple[StoredColumn, ...] = tuple(column for group in GROUPS.values() for column in group)
NAMES: tuple[str, ...] = tuple(column.name for column in COLUMNS)
SCHEMA: Any = pa.schema(
    [pa.field(column.name, ARROW_TYPES[column.type]) for column in COLUMNS],
    metadata={"stack_wars_schema_version": str(SCHEMA_VERSION)},
)


def to_table(rows: Iterable[Mapping[str, Any]]) -> pa.Table:
    """Returns a table in the canonical schema; a column that a row lacks is null.

    Raises ValueError for a name that isn't a column (Arrow would drop it silently), and Arrow's own
    ArrowInvalid or ArrowTypeError, or OverflowError, for a value of another type.
    """
    listed = list(rows)
    if unknown := sorted({name for row in listed for name in row} - set(NAMES)):
        raise ValueError(f"no such column: {', '.join(unknown)}")
    for name in (column.name for column in COLUMNS if column.type == "int64"):
        for value in (row.get(name) for row in listed):
            # Arrow would silently cut 1.5 down to 1.
            if isinstance(value, float) and not value.is_integer():
                raise pa.ArrowInvalid(f"column {name} takes whole numbers, not {value}")
    return pa.Table.from_pylist(listed, schema=SCHEMA)


def markdown() -> str:
    """Returns the columns as Markdown, with a table for each group, for the docs."""
    lines = []
    for group, columns in GROUPS.items():
        lines += [f"### {group.capitalize()}", "", "| column | type | unit | meaning |", "| --- | --- | --- | --- |"]
        lines += [f"| `{c.name}` | {c.type.replace('<', '&lt;')} | {c.unit} | {c.doc} |" for c in columns]
        lines.append("")
    return "\n".join(lines)
