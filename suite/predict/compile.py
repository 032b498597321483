"""Compiles one program for an accelerator that this machine doesn't have.

Run it with the Python of the environment `predict`: `python -m suite.predict.compile FOLDER`. FOLDER has the request
and the program; the answer is written into it. A TPU's compiler is libtpu, a GPU's compiler is in JAX's CUDA plugin,
and JAX only provides the bindings. The compiled program isn't run.
"""

from __future__ import annotations

import dataclasses
import json
import math
import os
import re
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from suite.predict.answer import ANSWER, ASKED, PROGRAM, CompileAnswer, CompiledProgram, CompileRequest

MESSAGE_MAX, TRACEBACK_MAX = 4096, 16384  # characters of an exception that are kept
COLLECTIVES = ("all-reduce", "all-gather", "reduce-scatter", "all-to-all", "collective-permute")
SIZES = {"pred": 1, "s8": 1, "u8": 1, "bf16": 2, "f16": 2, "s16": 2, "u16": 2, "f32": 4, "s32": 4, "u32": 4, "f64": 8,
         "s64": 8, "u64": 8}  # fmt: skip
SHAPE = re.compile(r"\b([a-z]+[0-9]*)\[([0-9,]*)\]")


class Absent(Exception):
    """A part of the environment is missing; the message says which."""


def main() -> int:
    """Compiles the program and writes the answer. Returns the exit code, which is 0 even if the compilation failed."""
    folder = Path(sys.argv[1])
    request = CompileRequest(**json.loads((folder / ASKED).read_text(encoding="utf-8")))
    answer = answered(request, (folder / PROGRAM).read_bytes())
    (folder / ANSWER).write_text(json.dumps(dataclasses.asdict(answer)), encoding="utf-8")
    return 0


def answered(request: CompileRequest, program: bytes) -> CompileAnswer:
    os.environ.update(environment(request))
    from suite.ir import parse

    compiler, started = "", time.monotonic()
    try:
        module = compilable(parse.parsed(program), request)
        client, devices, compiler = compiler_for(request)
        started = time.monotonic()
        compiled = summary(compile_module(client, devices, module))
    except parse.Unreadable as refused:
        return CompileAnswer(unreadable=str(refused))
    except Absent as lacking:
        return CompileAnswer(absent=str(lacking))
    except Exception as error:  # any exception belongs into the row
        exception = {
            "type": f"{type(error).__module__}.{type(error).__qualname__}",
            "message": str(error)[:MESSAGE_MAX],
            "traceback": "".join(traceback.format_exception(error))[-TRACEBACK_MAX:],
        }
        return CompileAnswer(compiler=compiler, seconds=time.monotonic() - started, exception=exception)
    return CompileAnswer(compiler=compiler, seconds=time.monotonic() - started, compiled=compiled)


def compilable(module: Any, request: CompileRequest) -> Any:
    """Returns a module in the form that the compilers take.

    Attributes of the arguments say which results overwrite them. Copies, which StableHLO doesn't have, are replaced by
    the copied values. For several chips the batch is split. Raises Unreadable for a module without a main function, or
    without the batch that is to be split.
    """
    from jaxlib.mlir import ir

    from suite.ir import parse

    functions = (f for f in module.body.operations if "sym_name" in f.attributes)
    main = next((f for f in functions if ir.StringAttr(f.attributes["sym_name"]).value == "main"), None)
    if main is None:
        raise parse.Unreadable("the module has no function `main`")
    aliases = {argument: result for result, argument in parse.aliases(module, main).items()}
    # The compiler may reuse the memory of these arguments, but needn't: a result that overwrites an argument on a CPU
    # may have another layout than the argument on the device.
    offered = set() if aliases else set(parse.aliases_of(request.header).values())
    with module.context:
        copies = list(operations(module.operation, "mhlo.copy"))
        for copy in copies:
            copy.results[0].replace_all_uses_with(copy.operands[0])
        for copy in copies:
            copy.erase()
        if "mhlo.input_output_alias" in module.operation.attributes:
            del module.operation.attributes["mhlo.input_output_alias"]
        arguments = main.regions[0].blocks[0].arguments
        notes: list[dict[str, Any]] = [{} for _ in arguments]
        for place, result in aliases.items():
            notes[place]["tf.aliasing_output"] = ir.IntegerAttr.get(ir.IntegerType.get_signless(32), result)
        for place in offered:
            notes[place]["jax.buffer_donor"] = ir.BoolAttr.get(True)
        chips = math.prod(request.chips)
        if chips > 1 and request.batch:
            inputs = [place for place in range(len(notes)) if place not in aliases and place not in offered]
            split(module, main, notes, inputs, chips, request.batch)
        if any(notes):
            main.attributes["arg_attrs"] = ir.ArrayAttr.get(list(map(ir.DictAttr.get, notes)))
    return module


def split(module: Any, main: Any, notes: list[dict[str, Any]], inputs: list[int], chips: int, batch: int) -> None:
    """Splits the batch among the chips, and gives each chip the whole state (data parallelism). `notes` are the
    attributes of all arguments. `inputs` are the places of the arguments that no result overwrites: they may be a
    batch, unlike the state of a training step."""
    from jaxlib.mlir import ir

    from suite.ir import parse

    whole = ir.StringAttr.get("{replicated}")
    for note in notes:
        note["mhlo.sharding"] = whole
    arguments = main.regions[0].blocks[0].arguments
    shapes = {place: parse.value(None, arguments[place].type).shape for place in inputs}
    batched = {place: shape for place, shape in shapes.items() if shape[:1] == (batch,)}
    if not batched:
        raise parse.Unreadable(f"none of its arguments is a batch of {batch}, to be split among {chips} chips")
    for place, shape in batched.items():
        parts = ",".join(["1"] * (len(shape) - 1))
        notes[place]["mhlo.sharding"] = ir.StringAttr.get(f"{{devices=[{chips}{parts and ','}{parts}]<=[{chips}]}}")
    results = len(ir.FunctionType(ir.TypeAttr(main.attributes["function_type"]).value).results)
    main.attributes["res_attrs"] = ir.ArrayAttr.get([ir.DictAttr.get({"mhlo.sharding": whole})] * results)
    module.operation.attributes["mhlo.num_partitions"] = ir.IntegerAttr.get(ir.IntegerType.get_signless(32), chips)


def operations(around: Any, name: str) -> Iterator[Any]:
    for region in around.regions:
        for block in region.blocks:
            for operation in block.operations:
                if operation.operation.name == name:
                    yield operation.operation
                yield from operations(operation.operation, name)


def environment(request: CompileRequest) -> dict[str, str]:
    """Returns the environment variables that keep JAX from looking for devices, and libtpu from asking Google's cloud
    about a virtual machine that doesn't exist."""
    tpu = {
        "TPU_SKIP_MDS_QUERY": "1",
        "TPU_WORKER_HOSTNAMES": "localhost",
        "TPU_ACCELERATOR_TYPE": request.accelerator_type,
        "TPU_STDERR_LOG_LEVEL": "3",
        "ALLOW_MULTIPLE_LIBTPU_LOAD": "1",  # libtpu's lock guards a TPU from two processes; here is no TPU to guard
    }
    return {"JAX_PLATFORMS": "cpu"} | (tpu if request.target == "tpu" else {})


def compiler_for(request: CompileRequest) -> tuple[Any, list[Any], str]:
    """Returns (client of the compiler, devices for which it compiles, its name and version). Raises Absent if the
    environment lacks the compiler, and one of JAX's exceptions for a topology that the compiler doesn't know."""
    import importlib.metadata
    import importlib.util

    from jax.experimental import topologies

    package = {"tpu": "libtpu", "cuda": "jax_cuda13_plugin"}[request.target]
    parts = {"tpu": ("libtpu",), "cuda": ("jax_plugins.xla_cuda13", "jax_cuda13_plugin")}[request.target]
    for part in parts:
        if importlib.util.find_spec(part.partition(".")[0]) is None or importlib.util.find_spec(part) is None:
            raise Absent(f"the package {part.partition('.')[0]} isn't installed")
    if request.target == "tpu":
        topology = topologies.get_topology_desc(
            platform="tpu", topology_name=request.topology, chips_per_host_bounds=tuple(request.chips)
        )
    else:
        topology = topologies.get_topology_desc(
            platform="cuda", topology_name="", topology=request.topology, target_config=request.target_config
        )
    devices = list(topology.devices)
    return devices[0].client, devices, f"{package} {importlib.metadata.version(package)}"


def compile_module(client: Any, devices: list[Any], module: Any) -> Any:
    import numpy as np
    from jax._src import compiler
    from jaxlib import _jax

    assignment = np.arange(len(devices)).reshape(1, -1)
    options = compiler.get_compile_options(1, len(devices), device_assignment=assignment)
    return client.compile(module, executable_devices=_jax.DeviceList(tuple(devices)), compile_options=options)


def summary(executable: Any) -> CompiledProgram:
    memory, cost = executable.get_compiled_memory_stats(), cost_of(executable)
    text = executable.hlo_modules()[0].to_string()
    counts, targets, between = counted(text)
    return CompiledProgram(
        argument_bytes=memory.argument_size_in_bytes,
        output_bytes=memory.output_size_in_bytes,
        aliased_bytes=memory.alias_size_in_bytes,
        temporary_bytes=memory.temp_size_in_bytes,
        code_bytes=max(memory.generated_code_size_in_bytes, 0),
        peak_bytes=max(getattr(memory, "peak_memory_in_bytes", 0), 0),
        flops=cost.get("flops"),
        bytes_accessed=cost.get("bytes accessed"),
        operations=sum(counts.values()),
        fusions=counts["fusion"],
        custom_calls=dict(targets.most_common()),
        collectives=between,
    )


def cost_of(executable: Any) -> dict[str, float]:
    """Returns the compiler's own cost analysis. It is empty for a GPU's compiler, which has none without the GPU."""
    from jax.errors import JaxRuntimeError

    try:
        return dict(executable.cost_analysis())
    except JaxRuntimeError as refused:
        if "UNIMPLEMENTED" not in str(refused):
            raise
        return {}


OPERATION = re.compile(r"^\s+(?:ROOT )?%?[\w.-]+ = (.*?) ([a-z][a-z0-9-]*)\(")
TARGET = re.compile(r'custom_call_target="([^"]+)"')
NO_WORK = frozenset({"parameter", "constant", "tuple", "get-tuple-element", "bitcast"})


def counted(text: str) -> tuple[Counter[str], Counter[str], dict[str, tuple[int, int]]]:
    """Returns three counts from the text of an optimized program: the operations that its entry runs, by name; the
    custom calls among them, by target; and of the whole program {kind of collective: (how many, bytes of their
    results)}."""
    runs: Counter[str] = Counter()
    targets: Counter[str] = Counter()
    between: dict[str, tuple[int, int]] = {}
    in_entry = False
    for line in text.splitlines():
        if not line.startswith(" "):
            in_entry = line.startswith("ENTRY") or (in_entry and not line.startswith(("%", "}")))
            continue
        operation = OPERATION.match(line)
        if operation is None:
            continue
        shape, name = operation[1], operation[2]
        if in_entry and name not in NO_WORK:
            runs[name] += 1
            if name == "custom-call" and (target := TARGET.search(line)):
                targets[target[1]] += 1
        kind = name.removesuffix("-start")  # the -done of an operation has the same result once more and isn't counted
        if kind in COLLECTIVES:
            count, size = between.get(kind, (0, 0))
            between[kind] = (count + 1, size + shape_bytes(shape))
    return runs, targets, between


def shape_bytes(shape: str) -> int:
    """Returns the bytes of the tensors in an HLO shape, which may be a tuple. Types without a size count as 0 bytes."""
    return sum(
        SIZES.get(kind, 0) * math.prod(map(int, filter(None, dims.split(",")))) for kind, dims in SHAPE.findall(shape)
    )


if __name__ == "__main__":
    sys.exit(main())
