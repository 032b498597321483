"""`python -m suite.ir.attribute FOLDER`, in the environment `jax`: reads a trace in XLA's format.

FOLDER has the trace (`*.xplane.pb`), asked.json (which stack, how many steps and seconds) and XLA's optimized programs
as text, where there are some. Writes profile.json. Exits 1 with a sentence where the trace can't be read.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jax.profiler import ProfileData

from suite.ir import files
from suite.ir.parse import Unreadable, aliases_in, opcode, optimized
from suite.ir.timeline import Category, Span, by_rules, in_flight, profile

TF_MOVES = (
    r"(^|:)_?(Mkl)?(Transpose|Reshape|Concat\w*|Split\w*|StridedSlice\w*|Slice\w*|Pack|Unpack|Tile|BroadcastTo|"
    r"Pad\w*|Identity|ExpandDims|Squeeze|ToTf|Cast|Fill|ZerosLike|ReadVariableOp)$"
)
# Of TensorFlow's operations, by `node:Type` or by the type alone.
TF_RULES = (
    (r"Apply(Adam|Momentum)|Assign(Sub|Add)?VariableOp$", Category.OPTIMIZER),
    (r"BatchMatMul|(?<!Entropy)Softmax$", Category.ATTENTION),
    (r"Conv2D", Category.CONVOLUTIONS),
    (r"MatMul|Einsum", Category.PRODUCTS),
    (r"BatchNorm|LayerNorm|moments|batchnorm|SquaredDifference|Rsqrt", Category.NORMS),
    (TF_MOVES, Category.COPIES),
)
NODE = re.compile(r"^[\w./>-]+:(\w+)$")
MOVES = frozenset(
    {
        "parameter",
        "constant",
        "copy",
        "transpose",
        "bitcast",
        "reshape",
        "broadcast",
        "slice",
        "pad",
        "concatenate",
        "dynamic-slice",
        "dynamic-update-slice",
        "convert",
        "tuple",
        "get-tuple-element",
        "reverse",
        "iota",
        "bitcast-convert",
        "copy-start",
        "copy-done",
    }
)
ENDED = "end: "
LOOPS = frozenset({"while", "conditional"})
CALLED = re.compile(r"(?:calls|to_apply)=%?([\w.-]+)")
BATCHED = re.compile(r"lhs_batch_dims=\{\d")
SOFTMAX = re.compile(r"(?<!log_)softmax(?!_?cross)|attention", re.IGNORECASE)
NORM = re.compile(r"(layer|batch|group|rms)_?norm|moments", re.IGNORECASE)


def main() -> int:
    """0, or 1 after a sentence on standard error."""
    folder = Path(sys.argv[1])
    asked = json.loads((folder / files.ASKED).read_text(encoding="utf-8"))
    try:
        known = programs(folder)
    except Unreadable as refused:
        print(refused, file=sys.stderr)
        return 1
    traces = sorted(folder.rglob("*.xplane.pb"))
    if not traces:
        print("the profiler left no trace", file=sys.stderr)
        return 1
    found = profile(
        asked["told_by"], spans(traces[-1], known), asked["steps"], asked["seconds"], asked["plain_seconds"]
    )
    (folder / files.ATTRIBUTED).write_text(json.dumps(found.to_json()), encoding="utf-8")
    return 0


def spans(trace: Path, known: dict[tuple[str, str], str]) -> Iterator[Span]:
    """Every operation of a trace: XLA's by the program that it is of, TensorFlow's by their types."""
    begun: list[Span] = []
    ended: list[tuple[float, str]] = []
    for plane in ProfileData.from_file(str(trace)).planes:
        for line in plane.lines:
            for event in line.events:
                told = dict(event.stats)
                name, category, begin = event.name, "", event.start_ns / 1e9
                if "hlo_op" in told:
                    category = known.get((str(told.get("hlo_module")), name), Category.UNATTRIBUTED)
                elif "eager_op" in told and str(told.get("is_func")) == "0":
                    name = str(told["eager_op"])
                    category = by_rules(name, TF_RULES, Category.ELEMENTWISE)
                elif NODE.match(name) and not name.startswith("__inference"):
                    category = by_rules(name, TF_RULES, Category.ELEMENTWISE)
                elif name.startswith(ENDED):
                    ended.append((begin, name.removeprefix(ENDED)))
                span = Span(f"{plane.name} {line.name}", name, begin, begin + event.duration_ns / 1e9, category)
                if "hlo_op" in told:
                    begun.append(span)
                yield span
    yield from in_flight(begun, ended)


def programs(folder: Path) -> dict[tuple[str, str], str]:
    """{(program, operation): category}, of every optimized program in a folder."""
    found: dict[tuple[str, str], str] = {}
    for path in sorted(folder.rglob(files.PROGRAMS)):
        module = optimized(path.read_text(encoding="utf-8", errors="replace"))
        found |= {(module.name, name): category for name, category in operations(module).items()}
    return found


def operations(module: Any) -> dict[str, str]:
    """{operation: category} of one program. A loop has none: what it runs has. A call on a CPU is one operation, shared
    out among threads."""
    computations = {computation.name: computation for computation in module.computations()}
    *_, entry = computations.values()
    in_place = updates(module, entry)
    return {
        each.name: "" if opcode(each) in LOOPS else of_operation(each, computations, each.name in in_place)
        for computation in computations.values()
        for each in computation.instructions()
    }


def updates(module: Any, entry: Any) -> set[str]:
    """The names of what makes results that take an argument's place: the optimizer's."""
    places = aliases_in(module)
    root = entry.instructions()[-1]
    left = [operand for number, operand in enumerate(root.operands()) if number in places]
    found = set()
    while left:
        made = left.pop()
        found.add(made.name)
        if opcode(made) in ("get-tuple-element", "bitcast", "copy"):
            left.append(made.operands()[0])
    return found


def of_operation(operation: Any, computations: dict[str, Any], in_place: bool) -> str:
    """One operation's category, by what is in it."""
    parts = list(within(operation, computations))
    words = " ".join(each.to_string() for each in parts)
    return category(set(map(opcode, parts)) - {"fusion", "call"}, words, in_place)


def within(operation: Any, computations: dict[str, Any]) -> Iterator[Any]:
    """An operation and all that it is made of."""
    yield operation
    called = CALLED.search(operation.to_string())
    if called and called[1] in computations:
        for each in computations[called[1]].instructions():
            yield from within(each, computations)


def category(opcodes: set[str], words: str, in_place: bool) -> str:
    """By the operations that run together as one, and by all that is said of them."""
    product = "dot" in opcodes or "matmul" in words
    if "convolution" in opcodes or "__onednn$conv" in words:
        return Category.CONVOLUTIONS
    if product:
        return Category.ATTENTION if BATCHED.search(words) else Category.PRODUCTS
    if in_place:
        return Category.OPTIMIZER
    if opcodes <= MOVES:
        return Category.COPIES
    if "rsqrt" in opcodes or NORM.search(words) or any(name.startswith("batch-norm") for name in opcodes):
        return Category.NORMS
    return Category.ATTENTION if SOFTMAX.search(words) else Category.ELEMENTWISE


if __name__ == "__main__":
    sys.exit(main())
