"""fusion's classifier, and how it counts the kernels of XLA's programs."""

from suite.workloads.catalog import HOME, load

SPEC = load(HOME / "probes" / "fusion").spec

PROGRAM = """HloModule jit_selu, is_scheduled=true

%fused_computation (p: f32[3,3]) -> f32[3,3] {
  %p = f32[3,3]{1,0} parameter(0)
  %expm1 = f32[3,3]{1,0} exponential-minus-one(%p)
  ROOT %multiply = f32[3,3]{1,0} multiply(%expm1, %p)
}

ENTRY %main.1 (x: f32[3,3]) -> (f32[3,3], f32[9]) {
  %x = f32[3,3]{1,0} parameter(0), metadata={op_name="x"}
  %one = f32[] constant(1)
  %fusion = f32[3,3]{1,0} fusion(%x), kind=kLoop, calls=%fused_computation
  flat.2 = f32[9]{0} bitcast(%fusion)
  ROOT %tuple = (f32[3,3]{1,0}, f32[9]{0}) tuple(%fusion, flat.2)
}
"""


def test_kernels_are_instructions_of_the_entry_that_do_something():
    assert SPEC.launched(PROGRAM) == 1
    twice = "  %more = (f32[3,3]{1,0}, s32[]) call(%fusion), to_apply=%parallel\n  flat.2"
    assert SPEC.launched(PROGRAM.replace("  flat.2", twice, 1)) == 2


def test_kernels_tell_where_they_are_known():
    assert SPEC.classify("selu", {"kernels": 1, "seconds": [9.0], "copy_seconds": [0.1]}) == "fused"
    assert SPEC.classify("selu", {"kernels": 5}) == "op by op"
    assert SPEC.classify("chain", {"kernels": 2}) == "fused"
    assert SPEC.classify("chain", {"kernels": 20, "seconds": [0.1], "copy_seconds": [0.1]}) == "op by op"


def test_else_a_chain_s_time_does_and_selu_s_does_not():
    assert SPEC.classify("chain", {"seconds": [0.012, 0.1], "short_seconds": [0.01] * 2}) == "fused"
    assert SPEC.classify("chain", {"seconds": [0.1] * 2, "short_seconds": [0.01, 0.02]}) == "op by op"
    assert SPEC.classify("selu", {"seconds": [0.2] * 2, "short_seconds": [0.01] * 2}) == "measured"
    assert SPEC.classify("chain", {"seconds": [0.2]}) == "measured"


def test_every_aspect_has_its_operations():
    assert SPEC.ASPECTS.keys() == SPEC.OPERATIONS.keys()
