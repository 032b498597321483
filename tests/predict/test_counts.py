"""What an optimized program's text says: operations that run, calls, and what goes between devices."""

from __future__ import annotations

from suite.predict.compile import counted, shape_bytes
from tests.predict.answers import compiled

TEXT = """\
HloModule jit_f, is_scheduled=true

%fused (p: f32[8,128]) -> f32[8,128] {
  %p = f32[8,128]{1,0} parameter(0)
  ROOT %t = f32[8,128]{1,0} tanh(%p)
}

%body (p: f32[8,128]) -> f32[8,128] {
  %q = f32[8,128]{1,0} parameter(0)
  ROOT %g = f32[16,128]{1,0} all-gather(%q), dimensions={0}
}

ENTRY %main (a: f32[8,128], b: bf16[4]) -> (f32[8,128], f32[8,128]) {
  %a = f32[8,128]{1,0:T(8,128)} parameter(0)
  %b = bf16[4]{0} parameter(1)
  %fusion = f32[8,128]{1,0:T(8,128)} fusion(%a), kind=kLoop, calls=%fused
  %call = (f32[8,128]{1,0}, s8[64]{0}) custom-call(%fusion), custom_call_target="__cublas$gemm"
  %start = f32[8,128]{1,0} all-reduce-start(%fusion), to_apply=%add
  %done = f32[8,128]{1,0} all-reduce-done(%start)
  ROOT %tuple = (f32[8,128]{1,0}, f32[8,128]{1,0}) tuple(%fusion, %done)
}
"""


def test_operations_of_the_entry_are_counted_and_collectives_anywhere() -> None:
    runs, targets, between = counted(TEXT)
    assert runs == {"fusion": 1, "custom-call": 1, "all-reduce-start": 1, "all-reduce-done": 1}
    assert targets == {"__cublas$gemm": 1}
    assert between == {"all-gather": (1, 16 * 128 * 4), "all-reduce": (1, 8 * 128 * 4)}


def test_a_shape_has_the_bytes_of_all_its_tensors() -> None:
    assert shape_bytes("f32[8,128]{1,0:T(8,128)}") == 4096
    assert shape_bytes("(bf16[3], f32[], token[])") == 6 + 4


def test_a_gpu_keeps_all_temporaries_at_once_and_a_tpu_its_peak() -> None:
    program = compiled(argument=100, output=90, aliased=80, temporary=30, peak=120)
    assert program.needed_bytes("cuda") == 100 + 90 - 80 + 30
    assert program.needed_bytes("tpu") == 120
