"""What an operation of an optimized program counts as: by all that runs together in it."""

from __future__ import annotations

import json
import subprocess

import pytest

from suite.environments import ROOT, venv
from suite.ir.timeline import Category

pytestmark = [pytest.mark.stacks, pytest.mark.newest]

PROGRAMS = {
    # A call on a CPU is what is shared out among threads: one operation, by what it calls and what that is fused of.
    "calls": """
HloModule calls
%scaled (a: f32[4,4], b: f32[4]) -> f32[4,4] {
  %a = f32[4,4] parameter(0)
  %b = f32[4] parameter(1)
  %root = f32[4] rsqrt(%b)
  %wide = f32[4,4] broadcast(%root), dimensions={0}
  ROOT %normed = f32[4,4] multiply(%a, %wide)
}
%shared (a.1: f32[4,4], b.1: f32[4]) -> f32[4,4] {
  %a.1 = f32[4,4] parameter(0)
  %b.1 = f32[4] parameter(1)
  ROOT %inner = f32[4,4] fusion(%a.1, %b.1), kind=kLoop, calls=%scaled
}
ENTRY %main (x: f32[4,4], y: f32[4]) -> f32[4,4] {
  %x = f32[4,4] parameter(0)
  %y = f32[4] parameter(1)
  %parallel = f32[4,4] call(%x, %y), to_apply=%shared
  %turned = f32[4,4] transpose(%parallel), dimensions={1,0}
  ROOT %sum = f32[4,4] add(%turned, %x)
}""",
    # A loop has no category: what it runs has.
    "a loop": """
HloModule loop
%body (state: (s32[], f32[4,4])) -> (s32[], f32[4,4]) {
  %state = (s32[], f32[4,4]) parameter(0)
  %i = s32[] get-tuple-element(%state), index=0
  %one = s32[] constant(1)
  %next = s32[] add(%i, %one)
  %m = f32[4,4] get-tuple-element(%state), index=1
  %product = f32[4,4] dot(%m, %m), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT %both = (s32[], f32[4,4]) tuple(%next, %product)
}
%more (state.1: (s32[], f32[4,4])) -> pred[] {
  %state.1 = (s32[], f32[4,4]) parameter(0)
  %i.1 = s32[] get-tuple-element(%state.1), index=0
  %end = s32[] constant(8)
  ROOT %less = pred[] compare(%i.1, %end), direction=LT
}
ENTRY %main (start: (s32[], f32[4,4])) -> (s32[], f32[4,4]) {
  %start = (s32[], f32[4,4]) parameter(0)
  ROOT %loop = (s32[], f32[4,4]) while(%start), condition=%more, body=%body
}""",
    # What takes an argument's place is the optimizer's, through copies too; a product stays one wherever it goes.
    "an update": """
HloModule update, input_output_alias={ {0}: (0, {}, may-alias), {1}: (1, {}, may-alias) }
ENTRY %main (p: f32[4,4], q: f32[4,4], g: f32[2,4,4]) -> (f32[4,4], f32[4,4], f32[4,4]) {
  %p = f32[4,4] parameter(0)
  %q = f32[4,4] parameter(1)
  %g = f32[2,4,4] parameter(2)
  %batched = f32[2,4,4] dot(%g, %g), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2},
      rhs_contracting_dims={1}
  %first = f32[1,4,4] slice(%batched), slice={[0:1], [0:4], [0:4]}
  %flat = f32[4,4] bitcast(%first)
  %moved = f32[4,4] subtract(%p, %flat)
  %placed = f32[4,4] copy(%moved)
  %plain = f32[4,4] dot(%q, %q), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  %shown = f32[4,4] subtract(%p, %flat)
  ROOT %all = (f32[4,4], f32[4,4], f32[4,4]) tuple(%placed, %plain, %shown)
}""",
}


@pytest.fixture(scope="module")
def found() -> dict[str, dict[str, str]]:
    """Each operation's category, by program."""
    python = venv.ensure("jax", "cpu").python
    done = subprocess.run(
        [python, "-m", "tests.ir.read_operations"],
        cwd=ROOT,
        input=json.dumps(PROGRAMS),
        text=True,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout.splitlines()[-1]))


@pytest.mark.parametrize(
    ("program", "operation", "category"),
    [
        ("calls", "parallel", Category.NORMS),
        ("calls", "turned", Category.COPIES),
        ("calls", "sum", Category.ELEMENTWISE),
        ("a loop", "loop", ""),
        ("a loop", "product", Category.PRODUCTS),
        ("an update", "batched", Category.ATTENTION),
        ("an update", "moved", Category.OPTIMIZER),
        ("an update", "placed", Category.OPTIMIZER),
        ("an update", "plain", Category.PRODUCTS),
        ("an update", "shown", Category.ELEMENTWISE),
    ],
)
def test_an_operation_is_what_runs_in_it(
    found: dict[str, dict[str, str]], program: str, operation: str, category: str
) -> None:
    assert found[program][operation] == category
