"""StableHLO and HLO by XLA's own bindings, in the environment `jax`: programs become graphs, compiled ones figures."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from jax.extend import mlir
from jaxlib import _hlo, _jax
from jaxlib.mlir import ir
from jaxlib.mlir._mlir_libs import _jax_mlir_ext
from jaxlib.mlir.dialects import chlo, mhlo, stablehlo

from suite.ir.graph import Graph, Op, Value
from suite.ir.summary import Compiled, Cost

CALLS = frozenset({"func.call", "call"})
ENDS = frozenset({"func.return", "stablehlo.return"})
CUSTOM_CALL = re.compile(r'custom_call_target="([^"]+)"')
ALIAS = re.compile(r"\{(\d*)\}: \((\d+), \{\}, \w+-alias\)")  # {result}: (argument, ...)
PLACE = re.compile(r'^error: "-":(\d+):(\d+): ')  # in what MLIR's parser says of a text
FREE = frozenset({"parameter", "constant", "tuple", "get-tuple-element", "bitcast"})  # of a program's entry: no work


class Unreadable(Exception):
    """These bytes are no program that the bindings read; the text says why."""


def context() -> Any:
    """One that knows every dialect that a program may be in."""
    made = ir.Context()
    registry = ir.DialectRegistry()
    _jax_mlir_ext.register_dialects(registry)
    made.append_dialect_registry(registry)
    made.load_all_available_dialects()
    stablehlo.register_dialect(made)
    chlo.register_dialect(made)
    mhlo.register_mhlo_dialect(made)
    return made


def module_of(hlo: bytes) -> Any:
    """The StableHLO module of a serialized HloModuleProto, with the aliases that its framework asked for.

    Raises Unreadable.
    """
    try:
        return ir.Module.parse(mlir.hlo_to_stablehlo(hlo), context())
    except (ir.MLIRError, ValueError, RuntimeError) as refused:
        raise Unreadable(f"{type(refused).__name__}: {str(refused).splitlines()[0]}") from None


def hlo_of(module: Any) -> bytes:
    """The serialized HloModuleProto of a StableHLO module. Raises Unreadable."""
    try:
        computation = _jax.mlir.mlir_module_to_xla_computation(str(module), use_tuple_args=False, return_tuple=False)
    except (RuntimeError, ValueError) as refused:
        raise Unreadable(f"XLA doesn't take it: {str(refused).splitlines()[0]}") from None
    return bytes(computation.as_serialized_hlo_module_proto())


def parsed(text: str | bytes) -> Any:
    """The module of StableHLO as text or bytecode. Raises Unreadable."""
    try:
        return ir.Module.parse(text, context())
    except (ir.MLIRError, ValueError) as refused:
        raise Unreadable(PLACE.sub(r"line \1, column \2: ", str(refused).strip().splitlines()[-1])) from None


def hlo_module_proto(dumped: bytes) -> bytes:
    """The first field of a dump's HloProto, as protocol buffers are written: tag, length, bytes. Raises Unreadable."""
    digits = next((n for n, byte in enumerate(dumped[1:11], 1) if byte < 128), 0)
    size = sum((byte & 127) << 7 * n for n, byte in enumerate(dumped[1 : 1 + digits]))
    begin = 1 + digits
    if dumped[:1] != b"\x0a" or not digits or len(dumped) < begin + size:
        raise Unreadable("this is no whole HloProto, as --xla_dump_hlo_as_proto writes it")
    return dumped[begin : begin + size]


class Reader:
    """Makes a graph of a module: of its main function, with every call written out."""

    def __init__(self, module: Any) -> None:
        self.module = module
        self.functions = {ir.StringAttr(f.attributes["sym_name"]).value: f for f in module.body.operations}
        self.ops: list[Op] = []

    def graph(self) -> Graph:
        """Raises Unreadable where there is no main function."""
        main = self.functions.get("main")
        if main is None:
            raise Unreadable("the module has no function `main`")
        block = main.regions[0].blocks[0]
        arguments = tuple(value(None, argument.type) for argument in block.arguments)
        results = self.body(block, arguments)
        return Graph(arguments, self.ops, results, aliases(self.module, main))

    def body(self, block: Any, arguments: tuple[Value, ...]) -> tuple[Value, ...]:
        """The operations of a block whose arguments these are; what it returns."""
        known: dict[Any, Value] = dict(zip(block.arguments, arguments, strict=True))
        for operation in block.operations:
            name = operation.operation.name
            operands = tuple(known[operand] for operand in operation.operands)
            if name in ENDS:
                return operands
            if name in CALLS:
                callee = self.functions[ir.FlatSymbolRefAttr(operation.attributes["callee"]).value]
                if not callee.regions[0].blocks:
                    raise Unreadable(f"function {callee.attributes['sym_name']} has no body")
                results = self.body(callee.regions[0].blocks[0], operands)
            else:
                results = self.operation(operation, operands)
            known.update(zip(operation.results, results, strict=True))
        return ()

    def operation(self, operation: Any, operands: tuple[Value, ...]) -> tuple[Value, ...]:
        """One operation; those in its body (a loop's, not a reduction's) are taken in as well, once."""
        op = Op(name_of(operation), operands, attributes(operation))
        op.results = tuple(value(op, result.type) for result in operation.results)
        if op.name in ("while", "case", "if"):
            for region in operation.regions:
                inner = region.blocks[0]
                self.body(inner, tuple(value(op, argument.type) for argument in inner.arguments))
        self.ops.append(op)
        return op.results


def value(maker: Op | None, of_type: Any) -> Value:
    """Of a tensor's type, or of a token's. Raises Unreadable for one whose size isn't known."""
    try:
        tensor = ir.RankedTensorType(of_type)
    except ValueError:
        return Value(maker, (), str(of_type))
    if not tensor.has_static_shape:
        raise Unreadable(f"{of_type} has a dimension that isn't known")
    return Value(maker, tuple(tensor.shape), str(tensor.element_type))


def name_of(operation: Any) -> str:
    """Without the dialect; what is called or composed gives an operation its name."""
    name = str(operation.operation.name).partition(".")[2]
    told = {"custom_call": "call_target_name", "composite": "name"}.get(name)
    if told is None:
        return name
    target = str(ir.StringAttr(operation.attributes[told]).value)
    # XLA's bindings write operations that StableHLO hasn't got as calls: `mhlo.erf`.
    return target.partition(".")[2] if target.startswith(("mhlo.", "chlo.")) else f"{name} {target}"


def attributes(operation: Any) -> dict[str, Any]:
    """What the recognisers ask of an operation."""
    name, found = operation.operation.name, operation.attributes
    if name == "stablehlo.dot_general":
        numbers = stablehlo.DotDimensionNumbers(found["dot_dimension_numbers"])
        return {
            side: tuple(getattr(numbers, side))
            for side in (
                "lhs_batching_dimensions",
                "rhs_batching_dimensions",
                "lhs_contracting_dimensions",
                "rhs_contracting_dimensions",
            )
        }
    if name == "stablehlo.gather":
        return {"slice_sizes": tuple(int(size) for size in ir.DenseI64ArrayAttr(found["slice_sizes"]))}
    if name == "stablehlo.reduce":
        inner = [each.operation.name.partition(".")[2] for each in operation.regions[0].blocks[0].operations]
        dimensions = tuple(int(axis) for axis in ir.DenseI64ArrayAttr(found["dimensions"]))
        return {"dimensions": dimensions, "by": inner[0] if len(inner) == 2 else ", ".join(inner[:-1])}
    if name.startswith("stablehlo.batch_norm"):
        return {"feature_index": ir.IntegerAttr(found["feature_index"]).value}
    return {}


def aliases(module: Any, main: Any) -> dict[int, int]:
    """{result: argument whose place it takes}: as HLO says it, for the module, or as JAX does, for each argument."""
    found: dict[int, int] = {}
    if "arg_attrs" in main.attributes:
        for number, of_argument in enumerate(main.attributes["arg_attrs"]):
            if "tf.aliasing_output" in of_argument:
                found[ir.IntegerAttr(of_argument["tf.aliasing_output"]).value] = number
    if "mhlo.input_output_alias" in module.operation.attributes:
        for each in module.operation.attributes["mhlo.input_output_alias"]:
            output = tuple(ir.DenseI64ArrayAttr(each["output_index"]))
            number = ir.IntegerAttr(each["alias"]["parameter_number"]).value
            found[int(output[0]) if output else 0] = number
    return found


def aliases_in(module: Any) -> dict[int, int]:
    """The same of an optimized program, by its header: PyTorch/XLA offers arguments, and XLA chooses what takes their
    place."""
    header = module.to_string().partition("\n")[0]
    return {int(found[1] or 0): int(found[2]) for found in ALIAS.finditer(header)}


def optimized(text: str) -> Any:
    """XLA's program from its text. Raises Unreadable."""
    try:
        return _hlo.hlo_module_from_text(text)
    except (RuntimeError, ValueError) as refused:
        raise Unreadable(str(refused).splitlines()[0]) from None


def compiled(module: Any) -> Compiled:
    """Of an optimized program, by what its entry runs."""
    *_, entry = module.computations()  # the entry comes last, as in the text of a module
    runs = Counter(opcode(each) for each in entry.instructions())
    inside = Counter(opcode(each) for computation in module.computations() for each in computation.instructions())
    targets = Counter(target[1] for each in entry.instructions() if (target := CUSTOM_CALL.search(each.to_string())))
    return Compiled(
        kernels=sum(count for name, count in runs.items() if name not in FREE),
        runs=dict(runs.most_common()),
        inside=dict(inside.most_common()),
        custom_calls=dict(targets.most_common()),
        cost=cost(module),
    )


def opcode(instruction: Any) -> str:
    """As HLO writes it: of kDynamicSlice, `dynamic-slice`."""
    return re.sub(r"(?<!^)([A-Z])", r"-\1", str(instruction.opcode).rpartition(".k")[2]).lower()


def hlo_module(hlo: bytes) -> Any:
    """Of a serialized HloModuleProto. Raises Unreadable."""
    try:
        return _hlo.HloModule.from_serialized_hlo_module_proto(hlo)
    except (RuntimeError, ValueError) as refused:
        raise Unreadable(str(refused).splitlines()[0]) from None


def cost(module: Any) -> Cost:
    """FLOPs and bytes by XLA's own analysis."""
    found = _jax.hlo_module_cost_analysis(_jax.get_tfrt_cpu_client(), module)
    return Cost(flops=found.get("flops", 0.0), bytes=found.get("bytes accessed", 0.0))
