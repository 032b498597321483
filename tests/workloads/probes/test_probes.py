"""What probes make of figures: every class is one that the probe's words explain, and so is what is documented."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from suite.errors import UserError
from suite.stacks.catalog import STACKS
from suite.workloads.catalog import Workload, find, load

PROBES = {name: workload for name, workload in find().items() if workload.is_probe}
CALL, RIGHT = 0.02, {"seconds": [2e-4] * 4, "again_seconds": [1e-4] * 20}
TIMED = {"completed_seconds": [CALL] * 3}
CALLED: dict[str, dict[str, Any]] = {  # figures that every answer of a probe has
    "async_dispatch": TIMED,
    "dynamic_shape": RIGHT | {"calls": 20, "right": 20, "seconds": [2e-4] * 19},
    "side_effects": {"calls": 10},
    "traced_shape": RIGHT | {"calls": 5, "right": 5},
    "value_branch": {"right": 2},
}
DIFFER = {"equal": 0.0, "difference": 6.0}
CLASSES: dict[str, list[tuple[str, dict[str, Any], str]]] = {
    "async_dispatch": [
        ("dispatch", {"seconds": [1e-4] * 3}, "asynchronous"),
        ("dispatch", {"seconds": [CALL] * 3}, "synchronous"),
        ("depth", {"dispatch_seconds": [1e-4] * 32 + [CALL] * 96}, "blocks at a depth"),
        ("depth", {"dispatch_seconds": [CALL] * 128}, "synchronous"),
        ("depth", {"dispatch_seconds": [1e-4] * 128}, "never blocked in 128 calls"),
        ("forgotten", {"reported_seconds": [1e-3] * 3}, "flatters"),
        ("forgotten", {"reported_seconds": [CALL] * 3}, "honest"),
    ],
    "control_flow_scale": [
        ("unrolled", {"seconds": [1e-4, 6e-3]}, "interprets"),
        ("unrolled", {"compiles": [0, 0], "operations": [2, 128]}, "interprets"),
        ("unrolled", {"compiles": [1, 1], "operations": [2, 128]}, "grows with depth"),
        ("unrolled", {"compiles": [1, 1], "operations": [4, 67], "seconds": [0.1, 0.1]}, "grows with depth"),
        ("scanned", {"compiles": [1, 1], "operations": [1, 1], "seconds": [0.03, 0.2]}, "flat"),
        ("scanned", {"compiles": [1, 1], "operations": [20, 21]}, "flat"),
        ("batch", {"compiles": [1, 1], "operations": [4, 4]}, "flat"),
        ("sequence", {"compiles": [1, 1], "operations": [32, 512]}, "grows"),
    ],
    "dynamic_shape": [
        ("mask", {}, "interprets"),
        ("mask", {"compiles": 0}, "one program"),
        ("mask", {"compiles": 1, "graph_breaks": 0}, "recompiles once or twice"),
        ("mask", {"compiles": 2, "fallback_ops": 0}, "recompiles once or twice"),
        ("mask", {"compiles": 7}, "recompiles"),
        ("mask", {"compiles": 19}, "recompiles each time"),
        ("mask", {"compiles": 57}, "recompiles each time"),
        ("mask", {"compiles": 1, "graph_breaks": 1}, "breaks the graph"),
        ("mask", {"compiles": 19, "fallback_ops": 20}, "falls back"),
        ("mask", {"compiles": 0, "right": 19}, "wrong"),
        ("mask", {"compiles": 0, "graph_breaks": 0, "skipped": 1}, "left to Python"),
        ("mask", {"compiles": 0, "seconds": [0.1] * 19}, "recompiles each time"),
        ("mask", {"compiles": 0, "seconds": [2e-4, *[0.1] * 18]}, "one program"),
    ],
    "eager_overhead": [("chain", {"seconds": [0.01], "per_op": 1e-5}, "measured")],
    "fusion": [
        ("selu", {"kernels": 1, "seconds": [9.0], "copy_seconds": [0.1]}, "fused"),
        ("selu", {"kernels": 5}, "op by op"),
        ("chain", {"kernels": 2}, "fused"),
        ("chain", {"kernels": 20, "seconds": [0.1], "copy_seconds": [0.1]}, "op by op"),
        ("chain", {"seconds": [0.012, 0.1], "short_seconds": [0.01] * 2}, "fused"),
        ("chain", {"seconds": [0.1] * 2, "short_seconds": [0.01, 0.02]}, "op by op"),
        ("selu", {"seconds": [0.2] * 2, "short_seconds": [0.01] * 2}, "measured"),
        ("chain", {"seconds": [0.2]}, "measured"),
    ],
    "in_place": [
        ("assign", {"changed": 1.0}, "changes"),
        ("assign", {"changed": 0.0}, "ignores"),
        ("view", {"slice": 1.0, "reshaped": 1.0}, "both write through"),
        ("view", {"slice": 1.0, "reshaped": 0.0}, "slices alone write through"),
        ("view", {"slice": 1.0}, "slices alone write through"),
        ("view", {"slice": 0.0, "reshaped": 1.0}, "reshaped alone writes through"),
        ("view", {"slice": 0.0, "reshaped": 0.0}, "copies"),
        ("compiled", {"visible": 1.0}, "seen by the caller"),
        ("compiled", {"visible": 0.0}, "not seen"),
        ("donate", {"deleted": 1.0, "reuse_raises": 1.0}, "deleted"),
        ("donate", {"deleted": 1.0, "reuse_raises": 0.0}, "lives"),  # said to be gone, and yet it can be used
        ("donate", {"deleted": 0.0, "reuse_raises": 0.0}, "lives"),
        ("own_way", {"address_stays": 1.0, "seconds": [1.0]}, "in place"),
        ("own_way", {"address_stays": 0.0, "seconds": [1e-9]}, "a new buffer"),  # however fast it was
        ("own_way", {"seconds": [1e-9]}, "measured"),
        ("one_value", {"address_stays": 0.0}, "a new buffer"),
    ],
    "prealloc": [
        ("default", {"share": 0.75, "import_bytes": 2**28}, "preallocates"),
        ("off", {"share": 0.97, "device_bytes": 2**30}, "preallocates"),
        ("default", {"share": 0.05}, "takes what it needs"),
        ("off", {"share": 0.0003}, "takes what it needs"),
    ],
    "prng": [
        ("same_seed", {"equal": 1.0, "difference": 0.0}, "same"),
        ("same_seed", DIFFER, "differ"),
        ("two_draws", {"equal": 0.001, "difference": 6.0}, "differ"),
        ("compiled", {"equal": 0.4, "difference": 2e-7}, "same but for rounding"),
        ("compiled", {"equal": 0.4, "difference": 2.0}, "differ"),
        ("split", DIFFER | {"seeds": 1}, "splits"),
        ("split", DIFFER | {"seeds": 2, "again": 0.0}, "a seed each"),
        ("split", DIFFER | {"seeds": 2, "again": 1.0}, "a seed each, draws repeat"),
        ("split", {"equal": 1.0, "difference": 0.0, "seeds": 1}, "same"),  # no streams at all
        ("normals", {"seconds": [0.1, 0.2]}, "measured"),
    ],
    "retrace": [
        ("shape", {"seconds": 1e-5}, "interprets"),
        ("shape", {"traces": 0, "compiles": 0}, "reuses"),
        ("shape", {"compiles": 0, "seconds": 10.0}, "reuses"),
        ("shape", {"traces": 1, "compiles": 0}, "retraces"),
        ("shape", {"traces": 0, "compiles": 1}, "retraces"),
        ("shape", {"compiles": 2}, "retraces"),
        # One more trace isn't one for each number.
        ("scalars", {"seconds": 1e-4}, "interprets"),
        ("scalars", {"traces": 0, "compiles": 0}, "reuses"),
        ("scalars", {"compiles": 1}, "retraces at times"),
        ("scalars", {"traces": 7, "compiles": 7}, "retraces at times"),
        ("scalars", {"traces": 8, "compiles": 0}, "retraces each time"),
        ("scalars", {"compiles": 9}, "retraces each time"),
    ],
    "side_effects": [
        ("print", {"times": 10}, "each call"),
        ("print", {"times": 2, "compiles": 2}, "while tracing"),
        ("append", {"times": 1}, "while tracing"),
        ("append", {"times": 0}, "never"),
        ("global", {"right": 10}, "each call"),
        ("global", {"right": 2}, "stale"),
        ("global", {"right": 9, "times": 10}, "stale"),
    ],
    "traced_shape": [
        ("zeros", {}, "interprets"),
        ("zeros", {"compiles": 0}, "one program"),
        ("zeros", {"compiles": 1, "graph_breaks": 0}, "recompiles"),
        ("zeros", {"compiles": 4}, "recompiles each time"),
        ("zeros", {"compiles": 4, "fallback_ops": 5}, "falls back"),
        ("zeros", {"compiles": 0, "graph_breaks": 1}, "breaks the graph"),
        ("zeros", {"compiles": 4, "right": 1}, "wrong"),
        ("zeros", {"compiles": 0, "skipped": 1}, "left to Python"),
        ("zeros", {"compiles": 0, "seconds": [0.03] * 4}, "recompiles each time"),
    ],
    "transfer": [
        ("to_device", {"seconds": [0.1], "shared": 1.0}, "aliases"),
        ("to_device", {"seconds": [0.1], "shared": 0.0, "bandwidth": 1e9}, "copies"),
        ("copy_in", {"shared": 0.0, "shared_aligned": 0.0}, "copies"),
        ("copy_in", {"shared": 0.0, "shared_aligned": 1.0}, "aliases if aligned"),
        ("copy_in", {"shared": 1.0, "shared_aligned": 1.0}, "aliases"),
        ("copy_out", {"shared": 1.0, "writable": 0.0}, "aliases, read-only"),
        ("copy_out", {"shared": 1.0, "writable": 1.0}, "aliases"),
        ("copy_out", {"shared": 0.0, "writable": 1.0}, "copies"),
        ("to_host_latency", {"seconds": [1e-6]}, "measured"),
    ],
    "value_branch": [
        ("python_if", {}, "interprets"),
        ("python_if", {"first_compiles": 0, "compiles": 0}, "interprets"),
        ("python_if", {"first_compiles": 1, "compiles": 0, "traces": 0}, "one program"),
        ("python_if", {"first_compiles": 1, "compiles": 1}, "a program per branch"),
        ("python_if", {"first_compiles": 2, "compiles": 1, "reads": 2, "fallback_ops": 0}, "waits for the value"),
        ("python_if", {"first_compiles": 2, "compiles": 1, "graph_breaks": 1}, "breaks the graph"),
        ("python_if", {"first_compiles": 0, "compiles": 0, "skipped": 1}, "left to Python"),
        ("python_if", {"first_compiles": 1, "compiles": 0, "graph_breaks": 0, "right": 1}, "wrong"),
    ],
}


@pytest.mark.parametrize("name", CLASSES)
def test_figures_have_their_class(name: str) -> None:
    spec = PROBES[name].spec
    for aspect, figures, class_ in CLASSES[name]:
        assert spec.classify(aspect, CALLED.get(name, {}) | figures) == class_, (aspect, figures)
        assert class_ in spec.CLASSES


def test_every_probe_is_asked_here() -> None:
    assert PROBES.keys() - CLASSES.keys() == {"numerics"}, "test_numerics.py makes its figures from results"


@pytest.mark.parametrize("probe", PROBES.values(), ids=lambda probe: probe.name)
def test_what_is_documented_is_an_answer_that_the_probe_can_give(probe: Workload) -> None:
    spec = probe.spec
    for aspect, stacks in (*spec.DOCUMENTED.items(), *spec.PRIMER.items()):
        assert aspect in spec.ASPECTS and stacks.keys() <= STACKS.keys()
        for class_, page in stacks.values():
            assert class_ in spec.CLASSES or class_.startswith("raises: ")
            assert page.startswith("https://")


WORDS = """
title = "What happens"
[sizes]
tiny = { n = 4 }
[aspects]
call = "a call"
[figures]
seconds = ["s", "a call"]
[classes]
measured = "see the figures"
[pages]
docs = "https://example.org"
[documented]
call.numpy = ["measured", "docs"]
"""


def test_a_probe_that_classifies_nothing_needs_no_spec(tmp_path: Path) -> None:
    (tmp_path / "probe.toml").write_text(WORDS, encoding="utf-8")
    probe = load(tmp_path)
    assert probe.is_probe and probe.dims("tiny", {}) == {"n": 4}
    assert probe.spec.classify("call", {}) == "measured"
    assert probe.spec.DOCUMENTED == {"call": {"numpy": ("measured", "https://example.org")}}


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('title = "What happens"', "", "lacks title"),
        ('docs = "https://example.org"', "", "lacks docs"),
        ('["s", "a call"]', '"s"', "can't be read"),
        ("[classes]", "[classes", r"can't be read: .*line \d+"),
    ],
)
def test_a_mistake_in_a_probe_s_words_is_one_sentence(old: str, new: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "probe.toml").write_text(WORDS.replace(old, new), encoding="utf-8")
    with pytest.raises(UserError, match=said):
        load(tmp_path)
