"""Reads StableHLO programs into graphs and HLO programs into counts, with XLA's own Python bindings, which the
environment `jax` has."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
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
LINE_AND_COLUMN = re.compile(r'^error: "-":(\d+):(\d+): ')  # the beginning of an error of MLIR's parser
REASON_MAX = 300  # characters that are kept of a refusal: XLA quotes whole lines of the program
# Operations of a program's entry that do no work.
FREE = frozenset({"parameter", "constant", "tuple", "get-tuple-element", "bitcast"})


class Unreadable(Exception):
    """A file or text can't be read as a program; the message says why."""


class Refused(Unreadable):
    """This XLA's own parsers refuse a program; those of another version may take it."""


def reason(refused: Exception, hint: str) -> str:
    """Returns why something can't be read. `hint` says who made it and who could read it; it is said only if XLA itself
    refuses, since no other version reads half a file."""
    return f"{hint} ({refused})" if hint and isinstance(refused, Refused) else str(refused)


def first_words(error: Exception) -> str:
    """Returns the beginning of an error of XLA's. A line that ends with a colon goes on in the next."""
    words = ""
    for line in map(str.strip, str(error).splitlines()):
        words = f"{words} {line}".strip()
        if not words.endswith(":"):
            break
    return words if len(words) <= REASON_MAX else f"{words[:REASON_MAX]}…"


def context() -> Any:
    known = ir.Context()
    registry = ir.DialectRegistry()
    _jax_mlir_ext.register_dialects(registry)
    known.append_dialect_registry(registry)
    known.load_all_available_dialects()
    stablehlo.register_dialect(known)
    chlo.register_dialect(known)
    mhlo.register_mhlo_dialect(known)
    return known


def module_of(hlo: bytes) -> Any:
    """Returns the StableHLO module of a serialized HloModuleProto, with the aliases that the framework requested.

    Raises Unreadable.
    """
    try:
        return ir.Module.parse(mlir.hlo_to_stablehlo(hlo), context())
    except (ir.MLIRError, ValueError, RuntimeError) as refused:
        raise Refused(f"{type(refused).__name__}: {first_words(refused)}") from None


def hlo_of(module: Any) -> bytes:
    """Returns the serialized HloModuleProto of a StableHLO module. Raises Unreadable."""
    try:
        computation = _jax.mlir.mlir_module_to_xla_computation(str(module), use_tuple_args=False, return_tuple=False)
    except (RuntimeError, ValueError) as refused:
        raise Refused(f"XLA doesn't accept the program: {first_words(refused)}") from None
    return bytes(computation.as_serialized_hlo_module_proto())


def parsed(text: str | bytes) -> Any:
    """Returns the module of a StableHLO program, given as text or bytecode. Raises Unreadable."""
    try:
        return ir.Module.parse(text, context())
    except (ir.MLIRError, ValueError) as refused:
        lines = str(refused).strip().splitlines()
        last = next(filter(LINE_AND_COLUMN.match, reversed(lines)), lines[-1])  # notes may follow the error
        raise Refused(LINE_AND_COLUMN.sub(r"line \1, column \2: ", last)) from None


def hlo_module_proto(dumped: bytes) -> bytes:
    """Returns the HloModuleProto inside the HloProto that XLA dumped. It is the first field: a tag, its length and its
    bytes. Raises Unreadable."""
    digits = next((n for n, byte in enumerate(dumped[1:11], 1) if byte < 128), 0)
    size = sum((byte & 127) << 7 * n for n, byte in enumerate(dumped[1 : 1 + digits]))
    begin = 1 + digits
    if dumped[:1] != b"\x0a" or not digits or len(dumped) < begin + size:
        raise Unreadable("this isn't a complete HloProto, as --xla_dump_hlo_as_proto writes it")
    return dumped[begin : begin + size]


class Reader:
    """Makes the graph of a module's main function, with every call inlined."""

    def __init__(self, module: Any) -> None:
        self.module = module
        self.functions = {ir.StringAttr(f.attributes["sym_name"]).value: f for f in module.body.operations}
        self.ops: list[Op] = []

    def graph(self) -> Graph:
        main = self.functions.get("main")
        if main is None:
            raise Unreadable("the module has no function `main`")
        block = main.regions[0].blocks[0]
        arguments = tuple(value(None, argument.type) for argument in block.arguments)
        results = self.body(block, arguments)
        return Graph(arguments, self.ops, results, aliases(self.module, main))

    def body(self, block: Any, arguments: tuple[Value, ...]) -> tuple[Value, ...]:
        """Adds the operations of a block that is called with these arguments. Returns the block's results."""
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
        """Adds one operation. For a loop or a condition, adds the operations in its bodies too, each once. Returns the
        results of the operation."""
        op = Op(name_of(operation), operands, attributes(operation))
        op.results = tuple(value(op, result.type) for result in operation.results)
        if op.name in ("while", "case", "if"):
            for region in operation.regions:
                inner = region.blocks[0]
                self.body(inner, tuple(value(op, argument.type) for argument in inner.arguments))
        self.ops.append(op)
        return op.results


def value(maker: Op | None, of_type: Any) -> Value:
    """Returns a new value of the type of a tensor or token. Raises Unreadable for a tensor of unknown size."""
    try:
        tensor = ir.RankedTensorType(of_type)
    except ValueError:
        return Value(maker, (), str(of_type))
    if not tensor.has_static_shape:
        raise Unreadable(f"{of_type} has a dimension that isn't known")
    return Value(maker, tuple(tensor.shape), str(tensor.element_type))


def name_of(operation: Any) -> str:
    """Returns an operation's name without the dialect. For a custom call or a composite, the name of what it calls
    follows."""
    name = str(operation.operation.name).partition(".")[2]
    attribute = {"custom_call": "call_target_name", "composite": "name"}.get(name)
    if attribute is None:
        return name
    target = str(ir.StringAttr(operation.attributes[attribute]).value)
    # XLA's bindings write operations that StableHLO lacks as calls: `mhlo.erf`.
    return target.partition(".")[2] if target.startswith(("mhlo.", "chlo.")) else f"{name} {target}"


def attributes(operation: Any) -> dict[str, Any]:
    name, known = operation.operation.name, operation.attributes
    if name == "stablehlo.dot_general":
        numbers = stablehlo.DotDimensionNumbers(known["dot_dimension_numbers"])
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
        return {"slice_sizes": tuple(int(size) for size in ir.DenseI64ArrayAttr(known["slice_sizes"]))}
    if name == "stablehlo.reduce":
        inner = [step.operation.name.partition(".")[2] for step in operation.regions[0].blocks[0].operations]
        dimensions = tuple(int(axis) for axis in ir.DenseI64ArrayAttr(known["dimensions"]))
        return {"dimensions": dimensions, "by": inner[0] if len(inner) == 2 else ", ".join(inner[:-1])}
    if name.startswith("stablehlo.batch_norm"):
        return {"feature_index": ir.IntegerAttr(known["feature_index"]).value}
    return {}


def aliases(module: Any, main: Any) -> dict[int, int]:
    """Returns {number of a result: number of the argument into whose memory it is written}.

    A module made from HLO has this in one attribute of the module; a module that JAX lowered has it in an attribute of
    each argument.
    """
    arguments: dict[int, int] = {}
    if "arg_attrs" in main.attributes:
        for number, of_argument in enumerate(main.attributes["arg_attrs"]):
            if "tf.aliasing_output" in of_argument:
                arguments[ir.IntegerAttr(of_argument["tf.aliasing_output"]).value] = number
    if "mhlo.input_output_alias" in module.operation.attributes:
        for alias in module.operation.attributes["mhlo.input_output_alias"]:
            output = tuple(ir.DenseI64ArrayAttr(alias["output_index"]))
            number = ir.IntegerAttr(alias["alias"]["parameter_number"]).value
            arguments[int(output[0]) if output else 0] = number
    return arguments


def aliases_of(program: str) -> dict[int, int]:
    """Returns {number of a result: number of the argument into whose memory it is written} of an optimized program.
    It is read from the program's header, because PyTorch/XLA only offers arguments, and XLA chooses among them."""
    return {int(match[1] or 0): int(match[2]) for match in ALIAS.finditer(program.partition("\n")[0])}


def optimized(text: Path, proto: Path) -> Any:
    """Returns an optimized program from its text or, if this XLA refuses the text, from its HloProto. The form of an
    HloProto stays as it is; texts get new syntax: since 2026 an operand like `%x#4`, which older versions can't read.
    Raises Unreadable."""
    try:
        return optimized_text(text.read_text(encoding="utf-8", errors="replace"))
    except Refused as refused:
        if not proto.exists():
            raise
        try:
            return hlo_module(hlo_module_proto(proto.read_bytes()))
        except Unreadable as also:
            raise type(also)(f"{refused}; nor can its HloProto: {also}") from None


def optimized_text(text: str) -> Any:
    return accepted(_hlo.hlo_module_from_text, text)


def compiled(module: Any) -> Compiled:
    *_, entry = module.computations()  # the entry comes last, as in the text of a module
    runs = Counter(map(opcode, entry.instructions()))
    inside = Counter(opcode(step) for computation in module.computations() for step in computation.instructions())
    targets = Counter(call[1] for step in entry.instructions() if (call := CUSTOM_CALL.search(step.to_string())))
    return Compiled(
        kernels=sum(count for name, count in runs.items() if name not in FREE),
        runs=dict(runs.most_common()),
        inside=dict(inside.most_common()),
        custom_calls=dict(targets.most_common()),
        cost=cost(module),
    )


def opcode(instruction: Any) -> str:
    """Returns an opcode as HLO writes it: `dynamic-slice` for kDynamicSlice."""
    return re.sub(r"(?<!^)([A-Z])", r"-\1", str(instruction.opcode).rpartition(".k")[2]).lower()


def hlo_module(hlo: bytes) -> Any:
    return accepted(_hlo.HloModule.from_serialized_hlo_module_proto, hlo)


def accepted(read: Callable[[Any], Any], program: str | bytes) -> Any:
    """Returns what one of XLA's parsers reads of a program. Raises Refused."""
    try:
        return read(program)
    except (RuntimeError, ValueError) as refused:
        raise Refused(first_words(refused)) from None


def cost(module: Any) -> Cost:
    analysis = _jax.hlo_module_cost_analysis(_jax.get_tfrt_cpu_client(), module)
    return Cost(flops=analysis.get("flops", 0.0), bytes=analysis.get("bytes accessed", 0.0))
