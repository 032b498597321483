"""The public contract: the columns of results.parquet, one row per attempt. In every column null means unknown or not
applicable, and 0 is a counted zero. suite/sets/arrow.py has them as Arrow's types."""

from __future__ import annotations

from typing import NamedTuple

# Raised when a column is added, removed or changes its meaning. Once a version is published, its sets stay readable;
# none is yet, so that readers know this version alone.
SCHEMA_VERSION = 13


class Kind(NamedTuple):
    """A kind of column: the name of its type, and its unit, empty where it has none."""

    type: str
    unit: str = ""


KINDS = {
    "whole": Kind("int64"),
    "text": Kind("string"),
    "words": Kind("list<string>"),
    "json": Kind("json"),
    "time": Kind("timestamp", "UTC"),
    "seconds": Kind("float64", "seconds"),
    "samples": Kind("list<float64>", "seconds"),
    "rounds": Kind("list<int64>"),
    "share": Kind("float64", "1"),
    "shares": Kind("list<float64>", "1"),
    "bytes": Kind("int64", "bytes"),
    "count": Kind("int64", "count"),
    "mean count": Kind("float64", "count"),
    "cores": Kind("float64", "cores"),
    "FLOP": Kind("int64", "FLOP"),
}
# The columns as (name, kind, meaning), by group.
DESCRIBED = {
    "identity": (
        ("schema_version", "whole", "version of this table of columns"),
        ("set_id", "text", "the result set"),
        ("machine_id", "text", "pseudonym of the machine; rows of two machines are never paired"),
        ("case_id", "text", "sha256 of the case's canonical JSON"),
        ("case_name", "text", "the case, readable"),
        ("comparison_id", "text", "shared by cases that differ in stack, variant and implementation alone"),
        ("block", "whole", "the block, from 1; the unit of pairing"),
        ("position", "whole", "the place in the block's shuffled order"),
        ("replicate", "whole", "1; the baseline's further processes in the block (A/A twins) have 2, 3, …"),
        ("purpose", "text", "what the process is for: timed, prime, memory, explain, profile, ir, probe, predict"),
        ("retry", "whole", "1, and one more each time that the block, or this process alone, is run again"),
        ("seed", "whole", "seed of the generator of weights and inputs"),
    ),
    "case": (
        ("workload", "text", "what is computed"),
        ("size", "text", "name of the workload's set of dims; custom where no size has them"),
        ("dims", "json", "whole numbers by name, an object"),
        ("pass", "text", "forward, train or gradient"),
        ("precision", "text", "declared arithmetic: f32, tf32 or bf16"),
        ("track", "text", "default or tuned"),
        ("stack", "text", "how the dialect's code is executed"),
        ("variant", "text", "another lock or other flags of the stack; empty for none"),
        ("implementation", "text", "the function of a question file that computes it; empty for one in each dialect"),
        ("dialect", "text", "the language that the workload is written in"),
        ("environment", "text", "the locked virtual environment"),
        ("target", "text", "hardware class: cpu, cuda or tpu"),
        ("device", "text", "the device planned; what the framework saw is in environment_facts"),
        ("engine", "text", "how the process was contained: local or docker; not part of the case's identity"),
        ("cache", "text", "cold or warm compile caches"),
        ("threads", "count", "CPU cores that the framework was given"),
        ("limit_memory_bytes", "bytes", "memory limit; null where only the machine limits"),
        ("allocator", "text", "kept: the process keeps freed memory; system: the C library decides"),
    ),
    "outcome": (
        ("outcome", "text", "how it ended: ok, differ, oom_host, timeout, wrong, …; the glossary has all words"),
        ("reason", "text", "why, for every outcome but ok, and for the flag implausible"),
        ("flags", "words", "what a reader must know beyond the outcome"),
        ("phase", "text", "the last phase that the worker began"),
        ("provenance", "text", "measured, inferred (from another row) or predicted"),
        ("inferred_from", "text", "case_name of the row that this row was inferred from"),
        ("exception_type", "text", "type of the exception that ended the worker"),
        ("message", "text", "its message, at most 4 KiB"),
        ("exit_code", "whole", "the process's exit code; null where a signal ended it"),
        ("signal", "whole", "the signal that ended it"),
        ("stderr_tail", "text", "the last lines of standard error"),
    ),
    "times": (
        ("import_seconds", "seconds", "importing the framework; this and the next three are null in rounds"),
        ("device_seconds", "seconds", "opening the device"),
        ("build_seconds", "seconds", "building the step"),
        ("place_seconds", "seconds", "placing weights, optimizer state and inputs on the device"),
        ("first_seconds", "seconds", "first call in a fresh process until its results are ready: trace, compile, run"),
        ("second_seconds", "seconds", "second call"),
        ("synced_seconds", "samples", "the headline clock, until a call's results are ready; every sample in order"),
        ("dispatch_seconds", "samples", "until the same calls returned: the time to submit, not to compute"),
        ("pipelined_seconds", "samples", "time of pipelined_calls submitted calls and one wait, over their number"),
        ("fetch_seconds", "samples", "a synced call and the copy of its result to the host"),
        ("synced_warmup", "count", "leading samples of synced_seconds that are warm-up, kept but not summarised"),
        ("pipelined_calls", "count", "calls in flight in a sample of pipelined_seconds"),
        ("compile_seconds", "seconds", "all compiling, by the framework's own counters"),
        ("compiles_first", "count", "compiles and retraces during the first call"),
        ("compiles_second", "count", "compiles and retraces during the second call"),
        ("compiles_steady", "count", "compiles and retraces in later calls; any sets the flag recompiled"),
        ("graph_breaks", "count", "graph breaks"),
        ("synced_others", "shares", "share of our cores' time that other processes took in the batch of each sample"),
        ("pipelined_others", "shares", "the same for pipelined_seconds"),
        ("fetch_others", "shares", "the same for fetch_seconds"),
        ("first_others", "share", "the same for the first call"),
        ("second_others", "share", "the same for the second call"),
        ("effective_cores", "cores", "our processor time over wall time, in the samples of synced_seconds"),
        ("kernel_share", "share", "share of that processor time that the kernel used"),
        ("minor_faults_per_step", "mean count", "minor page faults per step, in the same samples"),
        ("sampling", "text", "how the samples were taken: alone, or in rounds, in turn with other processes"),
        ("synced_rounds", "rounds", "round of each synced sample; 0: not in a turn, or leading into one; null: alone"),
        ("company", "count", "processes that took turns in the rounds, with this one; null: sampled alone"),
        ("held_seconds", "seconds", "waiting for turns, while other processes were measured"),
        ("held_processor_seconds", "seconds", "processor time that this process took while it waited"),
        ("restless_handovers", "count", "waits that began before the process had come to rest"),
    ),
    "memory": (
        ("host_peak_build_bytes", "bytes", "peak resident memory until weights and inputs were placed"),
        ("host_peak_step_bytes", "bytes", "peak resident memory while stepping"),
        ("cgroup_peak_bytes", "bytes", "peak of the process's own cgroup, page cache included; null without one"),
        ("cgroup_anonymous_bytes", "bytes", "greatest sampled anonymous memory of that cgroup: without page cache"),
        ("device_peak_bytes", "bytes", "peak allocated on the device, by the framework"),
        ("device_reserved_bytes", "bytes", "peak reserved on the device; can't be compared with device_peak_bytes"),
        ("nvml_bytes", "bytes", "the process's device memory, by the driver"),
        ("host_base_bytes", "bytes", "peak resident memory before anything was placed: Python and the framework"),
        ("host_file_bytes", "bytes", "resident pages of files (libraries) at the end: the kernel can drop them"),
        ("device_total_bytes", "bytes", "device memory that the framework may use"),
        ("program_argument_bytes", "bytes", "arguments of the compiled step, by its compiler"),
        ("program_output_bytes", "bytes", "results of that step, with those that overwrite an argument"),
        ("program_temporary_bytes", "bytes", "temporary buffers of that step"),
        ("program_aliased_bytes", "bytes", "results of that step that overwrite an argument"),
        ("floor_parameters_bytes", "bytes", "parameters and buffers, by the workload's spec; the floor of every stack"),
        ("floor_gradients_bytes", "bytes", "all gradients at once, which a compiler may avoid"),
        ("floor_optimizer_bytes", "bytes", "the optimizer's moments"),
        ("floor_inputs_bytes", "bytes", "inputs and targets"),
        ("holders", "json", "what holds the memory, by an explain process: bytes by category, largest tensors"),
    ),
    "work": (
        ("flops", "FLOP", "floating-point operations of a call, by a formula; of a question by XLA's own count"),
        ("bytes_floor", "bytes", "the least bytes that a call must move; of a question those of inputs and results"),
        ("parameters", "count", "trained numbers"),
        ("items_per_step", "count", "tokens, images or rows in a call"),
        ("kernels", "json", "which libraries and instruction sets do the work, by an explain process, most time first"),
    ),
    "compiler": (
        ("programs", "json", "what the stack hands to its compiler, by an ir process, in order; the texts are in ir/"),
    ),
    "prediction": (
        ("prediction", "json", "what an accelerator's compiler makes of its program, by a predict process: an object"),
    ),
    "profile": (
        ("profile", "json", "where a step's time goes, by a profile process: seconds by category, also unprofiled"),
    ),
    "behaviour": (
        ("behaviour", "json", "what a probe observed: aspects with their class, words, lines and what is documented"),
    ),
    "gate": (
        ("relative_error", "share", "worst relative Frobenius error against the reference"),
        ("tolerance", "share", "largest relative error of a right result"),
        ("result_types", "json", "type of each result by its name, an object"),
        ("precision_observed", "text", "arithmetic observed in use"),
        ("weights_sha256", "text", "digest of the generated weights and inputs, equal on all stacks"),
    ),
    "surroundings": (
        ("canary_seconds", "samples", "time of a fixed piece of work before and after the block"),
        ("steal_share", "share", "share of the block's processor time that the hypervisor took"),
        ("versions", "json", "packages' versions by name, an object"),
        ("lock_sha256", "text", "digest of the environment's lock file"),
        ("image_digest", "text", "digest of the container's image"),
        ("engine_version", "text", "version of the container engine"),
        ("environment_facts", "json", "what the worker saw of its surroundings, an object"),
        ("started_at", "time", "when the process was started"),
    ),
    "metrics": (("metrics", "json", "further figures of a workload: a list with name, unit, kind and values of each"),),
}
COLUMNS = {name: KINDS[kind] for columns in DESCRIBED.values() for name, kind, _ in columns}
NAMES: tuple[str, ...] = tuple(COLUMNS)


def markdown() -> str:
    lines = []
    for group, columns in DESCRIBED.items():
        lines += [f"### {group.capitalize()}", "", "| column | type | unit | meaning |", "| --- | --- | --- | --- |"]
        for name, kind, meaning in columns:
            type_, unit = KINDS[kind]
            lines.append(f"| `{name}` | {type_.replace('<', '&lt;')} | {unit} | {meaning} |")
        lines.append("")
    return "\n".join(lines)
