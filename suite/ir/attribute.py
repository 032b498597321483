"""Attributes the time in a profiler's trace to categories such as matrix products or norms.

Run it with the Python of an environment that has JAX: `python -m suite.ir.attribute FOLDER [HINT]`. FOLDER has the
trace (`*.xplane.pb`), asked.json (which profiler recorded it, over how many steps and seconds) and, if there are any,
XLA's optimized programs. It writes profile.json. If these files can't be read, it prints the reason and exits 1. The
reason begins with HINT where XLA itself refuses to read.
"""

from __future__ import annotations

import dataclasses
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jax.profiler import ProfileData

from suite.ir import files
from suite.ir.parse import Unreadable, aliases_of, opcode, optimized, reason
from suite.ir.timeline import Category, Span, by_rules, in_flight, profile

TF_MOVES = (
    r"(^|:)_?(Mkl)?(Transpose|Reshape|Concat\w*|Split\w*|StridedSlice\w*|Slice\w*|Pack|Unpack|Tile|BroadcastTo|"
    r"Pad\w*|Identity|ExpandDims|Squeeze|ToTf|Cast|Fill|ZerosLike|ReadVariableOp)$"
)
# Categories of TensorFlow's operations, which are named `node:Type` or by the type alone.
TF_RULES = (
    (r"Apply(Adam|Momentum)|Assign(Sub|Add)?VariableOp$", Category.OPTIMIZER),
    (r"BatchMatMul|(?<!Entropy)Softmax$", Category.ATTENTION),
    (r"Conv2D", Category.CONVOLUTIONS),
    (r"MatMul|Einsum", Category.PRODUCTS),
    (r"BatchNorm|LayerNorm|moments|batchnorm|SquaredDifference|Rsqrt", Category.NORMS),
    (TF_MOVES, Category.COPIES),
)
NODE = re.compile(r"^[\w./>-]+:(\w+)$")
MOVES = frozenset({
    "parameter", "constant", "copy", "transpose", "bitcast", "reshape", "broadcast", "slice", "pad", "concatenate",
    "dynamic-slice", "dynamic-update-slice", "convert", "tuple", "get-tuple-element", "reverse", "iota",
    "bitcast-convert", "copy-start", "copy-done",
})  # fmt: skip
ENDED = "end: "
LOOPS = frozenset({"while", "conditional"})
CALLED = re.compile(r"(?:calls|to_apply)=%?([\w.-]+)")
BATCHED = re.compile(r"lhs_batch_dims=\{\d")
SOFTMAX = re.compile(r"(?<!log_)softmax(?!_?cross)|attention", re.IGNORECASE)
NORM = re.compile(r"(layer|batch|group|rms)_?norm|moments", re.IGNORECASE)


def main() -> int:
    """Attributes the time of the folder's trace. Returns the exit code: 0, or 1 after printing the reason on standard
    error."""
    folder = Path(sys.argv[1])
    request = json.loads((folder / files.ASKED).read_text(encoding="utf-8"))
    try:
        known = programs(folder)
    except Unreadable as refused:
        print(reason(refused, "".join(sys.argv[2:])), file=sys.stderr)
        return 1
    traces = sorted(folder.rglob("*.xplane.pb"))
    if not traces:
        print("the profiler left no trace", file=sys.stderr)
        return 1
    attributed = profile(
        request["recorded_by"], spans(traces[-1], known), request["steps"], request["seconds"], request["plain_seconds"]
    )
    (folder / files.ATTRIBUTED).write_text(json.dumps(dataclasses.asdict(attributed)), encoding="utf-8")
    return 0


def spans(trace: Path, known: dict[tuple[str, str], str]) -> Iterator[Span]:
    """Yields every operation of a trace. XLA's operations get their category from `known` ({(program, operation):
    category}), TensorFlow's from their type; all others have no category."""
    begun: list[Span] = []
    ended: list[tuple[float, str]] = []
    planes = list(ProfileData.from_file(str(trace)).planes)
    devices = [plane for plane in planes if plane.name.startswith("/device:GPU")]
    for plane in devices or planes:  # beside a GPU, the host's operations only launch the device's
        for line in plane.lines:
            for event in line.events:
                stats = dict(event.stats)
                name, category, begin = event.name, "", event.start_ns / 1e9
                if "hlo_op" in stats:
                    # On a GPU an event has its kernel's name, and the operation's is beside it.
                    program, operation = str(stats.get("hlo_module")), str(stats["hlo_op"])
                    category = known.get((program, name)) or known.get((program, operation), Category.UNATTRIBUTED)
                elif devices and "tf_op" in stats:
                    name = str(stats["tf_op"])
                    category = by_rules(name, TF_RULES, Category.ELEMENTWISE)
                elif "eager_op" in stats and str(stats.get("is_func")) == "0":
                    name = str(stats["eager_op"])
                    category = by_rules(name, TF_RULES, Category.ELEMENTWISE)
                elif NODE.match(name) and not name.startswith("__inference"):
                    category = by_rules(name, TF_RULES, Category.ELEMENTWISE)
                elif name.startswith(ENDED):
                    ended.append((begin, name.removeprefix(ENDED)))
                span = Span(f"{plane.name} {line.name}", name, begin, begin + event.duration_ns / 1e9, category)
                if "hlo_op" in stats:
                    begun.append(span)
                yield span
    yield from in_flight(begun, ended)


def programs(folder: Path) -> dict[tuple[str, str], str]:
    """Returns {(program, operation): category} of every optimized program in a folder."""
    categories: dict[tuple[str, str], str] = {}
    for path in sorted(folder.rglob(files.PROGRAMS)):
        module = optimized(path, path.with_name(f"{path.name.removesuffix('.txt')}.hlo.pb"))
        categories |= {(module.name, name): category for name, category in operations(module).items()}
    return categories


def operations(module: Any) -> dict[str, str]:
    """Returns {operation: category} of one program. A loop has no category, because the operations inside have their
    own. On a CPU a call counts as one operation, whose parts several threads run."""
    computations = {computation.name: computation for computation in module.computations()}
    *_, entry = computations.values()
    in_place = updates(module, entry)
    return {
        step.name: "" if opcode(step) in LOOPS else of_operation(step, computations, step.name in in_place)
        for computation in computations.values()
        for step in computation.instructions()
    }


def updates(module: Any, entry: Any) -> set[str]:
    """Returns the names of the operations whose results are written into an argument's memory. In a training step
    these are the optimizer's."""
    aliases = aliases_of(module.to_string())
    root = entry.instructions()[-1]
    pending = [operand for number, operand in enumerate(root.operands()) if number in aliases]
    names = set()
    while pending:
        operation = pending.pop()
        names.add(operation.name)
        if opcode(operation) in ("get-tuple-element", "bitcast", "copy"):
            pending.append(operation.operands()[0])
    return names


def of_operation(operation: Any, computations: dict[str, Any], in_place: bool) -> str:
    """Returns the category of an operation, which may be a fusion or call of several, by the operations inside."""
    parts = list(within(operation, computations))
    words = " ".join(part.to_string() for part in parts)
    return category(set(map(opcode, parts)) - {"fusion", "call"}, words, in_place)


def within(operation: Any, computations: dict[str, Any]) -> Iterator[Any]:
    """Yields an operation and, if it is a fusion or a call, all operations inside it."""
    yield operation
    called = CALLED.search(operation.to_string())
    if called and called[1] in computations:
        for part in computations[called[1]].instructions():
            yield from within(part, computations)


def category(opcodes: set[str], words: str, in_place: bool) -> str:
    """Returns the category of operations that run as one. `words` is their text in the program; `in_place` says whether
    the result is written into an argument's memory."""
    product = "dot" in opcodes or "matmul" in words or "__cublas" in words
    if "convolution" in opcodes or "__onednn$conv" in words or "__cudnn$conv" in words:
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
