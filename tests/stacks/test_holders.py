"""Holders at a peak: from changes in order, from a buffer assignment's text, from TensorFlow's log."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suite.stacks.holders import LARGEST, Holder, Holders, MemoryEvent, at_peak
from suite.stacks.tensorflow import tf_memory
from suite.stacks.torch import torch_memory
from suite.stacks.xla import buffers

# As XLA of jaxlib 0.10 writes it; names shortened.
PLAN = """BufferAssignment:
allocation 0: size 800, parameter 1, shape |f32[200]| at ShapeIndex {}, maybe-live-out:
 value: <7 state_0___w__.1 @0> (size=800,offset=0): f32[200]{0}
 value: <9 multiply_fusion @0> (size=800,offset=0): f32[200]{0}
allocation 1: size 400, parameter 2, shape |f32[100]| at ShapeIndex {}:
 value: <8 p2.3 @0> (size=400,offset=0): f32[100]{0}
allocation 2: size 4, output shape is |f32[]|, maybe-live-out:
 value: <10 loss @0> (size=4,offset=0): f32[]
allocation 3: size 16, constant:
 value: <11 constant.1 @0> (size=16,offset=0): f32[4]{0}
allocation 4: size 600, preallocated-temp:
 value: <12 dot.1 @0> (size=400,offset=0): f32[100]{0}
 value: <13 dot.2 @0> (size=300,offset=200): f32[75]{0}
 value: <14 copy.1 @0> (size=200,offset=400): f32[50]{0}
 value: <15 copy.2 @0> (size=100,offset=0): f32[25]{0}

Total bytes used: 1820
"""
PROGRAM = r"""
ENTRY %main (p: f32[200]) -> f32[200] {
  %state_0___w__.1 = f32[200]{0} parameter(1), metadata={op_name="state[0][\'w\']"}
  ROOT %dot.1 = f32[100]{0} dot(%a, %b), metadata={op_type="dot" op_name="jit(step)/dot_general" source_line=3}
}
"""
LOG = """I0000 00:00:1 2 log_memory.cc:34] __LOG_MEMORY__ MemoryLogTensorAllocation { goo.gle/debugstr  step_id: 5 \
kernel_name: "MatMul" tensor { dtype: DT_FLOAT shape { dim { size: 256 } } allocation_description { requested_bytes: 1 \
allocated_bytes: 1024 allocator_name: "mklcpu" allocation_id: 50 has_single_reference: true ptr: 9 } } }
something else on the same stream
I0000 00:00:1 2 log_memory.cc:34] __LOG_MEMORY__ MemoryLogTensorAllocation { goo.gle/debugstr  step_id: 5 \
kernel_name: "gradient_tape/MatMul" tensor { dtype: DT_FLOAT allocation_description { requested_bytes: 8 \
allocated_bytes: 512 allocator_name: "mklcpu" allocation_id: 51 ptr: 8 } } }
I0000 00:00:1 2 log_memory.cc:34] __LOG_MEMORY__ MemoryLogTensorDeallocation { goo.gle/debugstr  allocation_id: 50 \
allocator_name: "mklcpu" }
I0000 00:00:1 2 log_memory.cc:34] __LOG_MEMORY__ MemoryLogTensorOutput { goo.gle/debugstr  step_id: 5 \
kernel_name: "MatMul" tensor { allocation_description { allocated_bytes: 4096 allocation_id: 60 } } }
"""


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 100) | st.none()), max_size=40))
def test_the_peak_is_the_most_that_was_ever_held(story: list[tuple[int, int | None]]) -> None:
    events = [MemoryEvent(key, None if size is None else Holder("x", str(key), size)) for key, size in story]
    live: dict[int, int] = {9: 7}
    most = 7
    for key, size in story:
        live.pop(key, None)
        if size is not None:
            live[key] = size
        most = max(most, sum(live.values()))
    found = at_peak({9: Holder("before", "kept", 7)}, events)
    assert sum(holder.nbytes for holder in found) == most
    assert Holder("before", "kept", 7) in found


def test_only_the_largest_are_told_one_by_one_and_all_by_category() -> None:
    many = tuple(Holder("a" if k % 2 else "b", f"t{k}", k) for k in range(30))
    told = Holders("somebody", many).to_json()
    assert [each["bytes"] for each in told["largest"]] == [*range(29, 29 - LARGEST, -1)]
    assert told["categories"] == {"a": sum(range(1, 30, 2)), "b": sum(range(0, 30, 2))}


@pytest.mark.parametrize("page", ["", "page 0, "])  # the latter since jaxlib 0.12
def test_a_buffer_assignment_is_taken_apart(tmp_path: Path, page: str) -> None:
    plan = re.sub(r"^(allocation .*: size \d+, )", rf"\1{page}", PLAN, flags=re.MULTILINE)
    (tmp_path / "m.cpu_after_optimizations-buffer-assignment.txt").write_text(plan)
    (tmp_path / "m.cpu_after_optimizations.txt").write_text(PROGRAM)
    (tmp_path / "small.cpu_after_optimizations-buffer-assignment.txt").write_text("BufferAssignment:\n")
    found = buffers.holders(tmp_path)
    assert found is not None and found.recorded_by == "XLA's buffer assignment"
    assert found.all == (
        Holder("parameters", "state[0]['w']", 800),
        Holder("arguments", "argument 2, f32[100]", 400),
        Holder("outputs", "loss", 4),
        Holder("constants", "constant.1", 16),
        Holder("temporaries", "jit(step)/dot_general", 400),
        Holder("temporaries", "copy.1", 200),
    ), "temporaries that lie side by side; what shares their place isn't counted twice"
    assert buffers.planned(tmp_path) == {
        "program_argument_bytes": 1200,
        "program_output_bytes": 804,
        "program_temporary_bytes": 600,
        "program_aliased_bytes": 800,
    }


@pytest.mark.parametrize(
    ("names", "third"), [(["args[0]['w']", "args[2]['x']"], "inputs"), (["args[2].mu", "args[3]['x']"], "optimizer")]
)
def test_torchax_s_third_argument_is_the_optimizer_s_only_before_a_fourth(names: list[str], third: str) -> None:
    called = {f"p{place}": name for place, name in enumerate(names)}
    plan = "".join(
        f"allocation {place}: size 8, parameter {place}, shape |f32[2]| at ShapeIndex {{}}:\n"
        f" value: <{place} p{place} @0> (size=8,offset=0): f32[2]{{0}}\n"
        for place in range(len(names))
    )
    found = {holder.name[:7]: holder.category for holder in buffers.allocations(plan, called)}
    assert found["args[2]"] == third


def test_a_forward_program_of_jax_has_parameters_and_inputs() -> None:
    assert {buffers.KINDS[name] for name in ("parameters", "buffers")} == {"parameters"}
    assert buffers.KINDS["inputs"] == "inputs"


def test_without_a_dump_nobody_tells(tmp_path: Path) -> None:
    assert buffers.holders(tmp_path) is None and buffers.planned(tmp_path) == {}


def test_tensorflow_s_log_is_allocations_and_releases() -> None:
    first, second, third = tf_memory.memory_events(LOG)
    assert first == MemoryEvent(50, Holder("activations", "MatMul", 1024))
    assert second == MemoryEvent(51, Holder("gradients and backward pass", "gradient_tape/MatMul", 512))
    assert third == MemoryEvent(50, None)


def event(name: str, parent: Any = None, **extra: Any) -> SimpleNamespace:
    """An event of PyTorch's profiler."""
    return SimpleNamespace(name=name, parent=parent, typed=(None, SimpleNamespace(**extra)))


@pytest.mark.parametrize(
    ("chain", "asked"),
    [
        (["nn.Module: Linear_3", "aten::linear", "aten::addmm"], ("aten::linear", "Linear_3", False)),
        (
            ["backward", "autograd::engine::evaluate_function: MmBackward0", "MmBackward0", "aten::mm"],
            ("MmBackward0", "", True),
        ),
        (["step", "aten::_fused_adamw_"], ("aten::_fused_adamw_", "", False)),
        ([], ("", "", False)),
    ],
)
def test_who_asked_for_an_allocation_is_its_module_and_outermost_operation(
    chain: list[str], asked: tuple[str, str, bool]
) -> None:
    node: Any = None
    for name in chain:
        node = event(name, node)
    assert torch_memory.origin(event("[memory]", node)) == asked


def test_a_gradient_that_stays_is_told_from_what_passes() -> None:
    backward = event("autograd::engine::evaluate_function: MmBackward0")
    make: Callable[..., SimpleNamespace] = event
    stays = torch_memory.memory_event(make("[memory]", backward, ptr=1, alloc_size=8), {1: "w"})
    passes = torch_memory.memory_event(make("[memory]", backward, ptr=2, alloc_size=8), {1: "w"})
    released = torch_memory.memory_event(make("[memory]", backward, ptr=2, alloc_size=-8), {1: "w"})
    assert (stays.holder, passes.holder) == (Holder("gradients", "w", 8), Holder("backward pass", "MmBackward0", 8))
    assert released == MemoryEvent(2, None)
