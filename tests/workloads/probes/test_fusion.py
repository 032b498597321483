"""fusion: how it counts the kernels of XLA's programs."""

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


def test_every_aspect_has_its_operations():
    assert SPEC.ASPECTS.keys() == SPEC.OPERATIONS.keys()
