"""The accelerators' real compilers, on a machine without an accelerator: what fits, what doesn't, and bad input."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from suite.environments import venv
from suite.launch.local import Local
from suite.predict.answer import CompileAnswer
from suite.predict.devices import Device, find
from suite.protocol import Protocol
from suite.run.predictions import Compiler

pytestmark = pytest.mark.environments("predict")

PRODUCT = """module @product {{
  func.func public @main(%a: tensor<{n}x{n}xf32> {{tf.aliasing_output = 0 : i32}}) -> tensor<{n}x{n}xf32> {{
    %0 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0], precision = [HIGHEST, HIGHEST]
      : (tensor<{n}x{n}xf32>, tensor<{n}x{n}xf32>) -> tensor<{n}x{n}xf32>
    %1 = "mhlo.copy"(%0) : (tensor<{n}x{n}xf32>) -> tensor<{n}x{n}xf32>
    return %1 : tensor<{n}x{n}xf32>
  }}
}}"""
V6E, H100 = find("v6e-1"), find("h100")


@pytest.fixture(scope="module")
def compiler() -> Compiler:
    return Compiler(replace(Protocol(), timeout_seconds=300.0), [0, 1])


def asked(
    compiler: Compiler, device: Device, text: str | bytes, folder: Path, header: str = "", batch: int = 0
) -> CompileAnswer:
    program = text if isinstance(text, bytes) else text.encode()
    return compiler.compile(device, program, folder / "compile", header=header, batch=batch)[0]


def test_a_product_compiles_for_a_tpu_in_its_padded_layout(compiler: Compiler, tmp_path: Path) -> None:
    answer = asked(compiler, V6E, PRODUCT.format(n=300), tmp_path)
    assert answer.compiler.startswith("libtpu ") and answer.seconds > 0
    assert answer.compiled is not None, answer
    # Rows of 300 numbers are padded to 384, a multiple of a TPU's 128 lanes, and 300 rows to 304, of its 8 sublanes.
    assert answer.compiled.argument_bytes == answer.compiled.aliased_bytes == 304 * 384 * 4
    assert answer.compiled.flops == pytest.approx(2 * 300**3, rel=0.01)
    assert not (tmp_path / "compile" / "program.mlir").exists()


def test_a_product_compiles_for_a_gpu(compiler: Compiler, tmp_path: Path) -> None:
    answer = asked(compiler, H100, PRODUCT.format(n=300), tmp_path)
    assert answer.compiled is not None, answer
    assert answer.compiled.argument_bytes == answer.compiled.aliased_bytes == 300 * 300 * 4
    assert answer.compiled.flops is None, "without a GPU its compiler offers no cost analysis"


def test_a_tpu_s_compiler_refuses_what_does_not_fit(compiler: Compiler, tmp_path: Path) -> None:
    answer = asked(compiler, V6E, PRODUCT.format(n=100_000), tmp_path)
    assert answer.compiled is None and answer.exception is not None
    assert "RESOURCE_EXHAUSTED" in answer.exception["message"]
    assert "exceeds available HBM" in answer.exception["message"]


def test_an_offered_argument_is_overwritten_where_the_device_s_layouts_allow_it(
    compiler: Compiler, tmp_path: Path
) -> None:
    offered = PRODUCT.format(n=256).replace(" {tf.aliasing_output = 0 : i32}", "")
    header = "HloModule product, is_scheduled=true, input_output_alias={ {}: (0, {}, may-alias) }"
    kept, overwritten = (asked(compiler, V6E, offered, tmp_path, told).compiled for told in ("", header))
    assert kept is not None and kept.aliased_bytes == 0
    assert overwritten is not None and overwritten.aliased_bytes == overwritten.output_bytes > 0
    # As many numbers, but of another shape: on a CPU one fits the other's place, in a TPU's padded layouts it doesn't.
    unlike = """module { func.func @main(%a: tensor<768xf32>) -> tensor<1x1x768xf32> {
      %b = stablehlo.add %a, %a : tensor<768xf32>
      %c = stablehlo.reshape %b : (tensor<768xf32>) -> tensor<1x1x768xf32>
      return %c : tensor<1x1x768xf32> } }"""
    answer = asked(compiler, V6E, unlike, tmp_path, header)
    assert answer.compiled is not None, answer


STEP = """module @step {
  func.func public @main(%w: tensor<256x128xf32> {tf.aliasing_output = 0 : i32}, %x: tensor<64x256xf32>)
      -> tensor<256x128xf32> {
    %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
      : (tensor<64x256xf32>, tensor<256x128xf32>) -> tensor<64x128xf32>
    %g = stablehlo.dot_general %x, %y, contracting_dims = [0] x [0]
      : (tensor<64x256xf32>, tensor<64x128xf32>) -> tensor<256x128xf32>
    %v = stablehlo.subtract %w, %g : tensor<256x128xf32>
    return %v : tensor<256x128xf32>
  }
}"""


def test_several_chips_split_the_batch_and_reduce_the_gradient(compiler: Compiler, tmp_path: Path) -> None:
    one = asked(compiler, V6E, STEP, tmp_path, batch=64).compiled
    four = asked(compiler, find("v6e-4"), STEP, tmp_path, batch=64).compiled
    assert one is not None and four is not None
    assert one.collectives == {}
    # Each chip has all weights and its 16 of 64 rows; the gradient of the weights is summed over the chips.
    assert {kind: tuple(told) for kind, told in four.collectives.items()} == {"all-reduce": (1, 256 * 128 * 4)}
    assert one.argument_bytes == (256 * 128 + 64 * 256) * 4
    assert four.argument_bytes == four.aliased_bytes + 16 * 256 * 4 == (256 * 128 + 16 * 256) * 4
    assert four.flops is not None and one.flops is not None
    assert 3 < one.flops / four.flops < 5


def test_a_program_without_the_batch_cannot_be_split(compiler: Compiler, tmp_path: Path) -> None:
    answer = asked(compiler, find("v6e-4"), STEP, tmp_path, batch=48)
    assert answer.unreadable == "none of its arguments is a batch of 48, to be split among 4 chips"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (PRODUCT.format(n=8)[:-90], "line "),  # cut short
        (b"\x89PNG\r\n\x1a\n0000", ""),
        ("module { func.func @other() { return } }", "no function `main`"),
    ],
)
def test_what_is_no_program_is_said_to_be_unreadable(
    text: str | bytes, said: str, compiler: Compiler, tmp_path: Path
) -> None:
    answer = asked(compiler, V6E, text, tmp_path)
    assert answer.unreadable and said in answer.unreadable
    assert answer.compiled is None and answer.exception is None


def test_a_topology_that_the_compiler_does_not_know_is_its_own_error(compiler: Compiler, tmp_path: Path) -> None:
    answer = asked(compiler, replace(V6E, topology="v99:1x1"), PRODUCT.format(n=8), tmp_path)
    assert answer.exception is not None and "v99" in answer.exception["message"]


@pytest.mark.environments("jax")
@pytest.mark.parametrize(("device", "package"), [(V6E, "libtpu"), (H100, "jax_plugins")])
def test_an_environment_without_the_compiler_is_told(device: Device, package: str, tmp_path: Path) -> None:
    lacking = Compiler(replace(Protocol(), timeout_seconds=300.0), [0, 1])
    lacking.engine = Local(venv.ensure("jax").python)
    answer = asked(lacking, device, PRODUCT.format(n=8), tmp_path)
    assert answer.absent == f"the package {package} isn't installed"
