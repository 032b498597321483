"""Counts the FLOPs of a step in its StableHLO program, to check the count that the workload's spec gives.

Run it with the Python of the `jax` environment: `python -m tools.flops WORKLOAD_FOLDER SIZE PASS`.

It counts every dot and convolution of the `jax_jit` step. The step is lowered on shapes alone: nothing is allocated or
compiled. A step with a loop is refused, because the program doesn't say how often the loop runs. XLA's own cost
analysis can't be used: it counts a loop's body once, whatever the number of rounds, and it counts a convolution's
products with padding.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

from suite.case import Case
from suite.stacks.jax.jax_jit_adapter import Adapter
from suite.workloads import catalog
from suite.workloads.tensors import Tensor


def lowered(workload: catalog.Workload, size: str, pass_: str) -> Any:
    dims = workload.dims(size, {})
    case = Case(
        workload=workload.name,
        size=size,
        dims=dims,
        pass_=pass_,
        precision="f32",
        track="default",
        stack="jax_jit",
        variant="",
        target="cpu",
        device="cpu",
        cache="cold",
        threads=1,
        limit_memory_bytes=None,
    )
    adapter = Adapter(case, workload)
    adapter.build(abstract=True)
    inputs = adapter.tensors.batch
    weights = adapter.tensors.parameters | adapter.tensors.buffers
    state, batch = jax.eval_shape(
        lambda weights, batch: adapter.place(weights.items(), batch.items()), shapes(weights), shapes(inputs)
    )
    return jax.jit(adapter.step).lower(state, batch).compiler_ir("stablehlo")


def shapes(tensors: dict[str, Tensor]) -> dict[str, jax.ShapeDtypeStruct]:
    return {name: jax.ShapeDtypeStruct(t.shape, t.dtype) for name, t in tensors.items()}


def count(module: Any) -> Counter[str]:
    """Returns the FLOPs by operation; a function's FLOPs count once for each call. Raises SystemExit if the step has a
    loop."""
    functions = {ir.StringAttr(f.attributes["sym_name"]).value: f for f in module.body.operations}
    counted: Counter[str] = Counter()

    def walk(operation: Any) -> None:
        for inner in operations(operation):
            name = inner.operation.name
            if name == "func.call":
                walk(functions[ir.FlatSymbolRefAttr(inner.attributes["callee"]).value])
            elif name == "stablehlo.while":
                raise SystemExit("The step has a loop, and its program doesn't say how often the loop runs.")
            elif name in FLOPS:
                counted[name] += FLOPS[name](inner)

    walk(functions["main"])
    return counted


def operations(operation: Any) -> Iterator[Any]:
    for region in operation.regions:
        for block in region:
            for inner in block.operations:
                yield inner
                yield from operations(inner)


def shape(value: Any) -> list[int]:
    return list(ir.RankedTensorType(value.type).shape)


def dot(operation: Any) -> int:
    """Returns a dot's FLOPs: two for each element of the result and each element that is summed over."""
    numbers = stablehlo.DotDimensionNumbers(operation.attributes["dot_dimension_numbers"])
    operand = shape(operation.operands[0])
    summed = math.prod(operand[axis] for axis in numbers.lhs_contracting_dimensions)
    return 2 * math.prod(shape(operation.results[0])) * summed


def convolution(operation: Any) -> int:
    """Returns a convolution's FLOPs: two for each product, without products with padding or with a dilation's zeros."""
    numbers = stablehlo.ConvDimensionNumbers(operation.attributes["dimension_numbers"])
    image, kernel = (shape(operand) for operand in operation.operands)
    result = shape(operation.results[0])
    sides = list(numbers.input_spatial_dimensions)
    strides, spread, spacing = (
        settings(operation, name, len(sides)) for name in ("window_strides", "lhs_dilation", "rhs_dilation")
    )
    padding = settings(operation, "padding", 2 * len(sides), default=0)
    taps = 1
    for n, side in enumerate(sides):
        size, window = image[side], kernel[numbers.kernel_spatial_dimensions[n]]
        places = range(result[numbers.output_spatial_dimensions[n]])
        read = (place * strides[n] + tap * spacing[n] - padding[2 * n] for place in places for tap in range(window))
        taps *= sum(at % spread[n] == 0 and 0 <= at // spread[n] < size for at in read)
    groups = ir.IntegerAttr(operation.attributes["batch_group_count"]).value
    batch = image[numbers.input_batch_dimension] // groups
    features = kernel[numbers.kernel_input_feature_dimension] * kernel[numbers.kernel_output_feature_dimension]
    return 2 * batch * taps * features


def settings(operation: Any, name: str, length: int, default: int = 1) -> list[int]:
    """Returns a convolution's attribute as a list of this length; all `default` if the attribute is left out."""
    if name not in operation.attributes:
        return [default] * length
    return [int(value) for value in operation.attributes[name]]


FLOPS = {"stablehlo.dot_general": dot, "stablehlo.convolution": convolution}


def main() -> None:
    folder, size, pass_ = sys.argv[1:]
    workload = catalog.load(Path(folder))
    counted = count(lowered(workload, size, pass_))
    analytic = workload.spec.flops(workload.dims(size, {}), pass_)
    print(
        f"{workload.name} {size} {pass_}: counted {sum(counted.values())} FLOPs {dict(counted)}, "
        f"the spec says {analytic}: {sum(counted.values()) / analytic:.5f}"
    )


if __name__ == "__main__":
    main()
