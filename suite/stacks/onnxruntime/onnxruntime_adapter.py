"""ONNX Runtime: the nn.Module's forward pass, exported by torch.onnx and run by the provider for CPUs.

Weights are inputs of the program, as on all other stacks. In the tuned track they are its constants, as in a program
that is deployed: ONNX Runtime then packs them for its kernels, and computes beforehand what depends on them alone.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from suite.stacks import base, kernels
from suite.stacks.base import Unsupported
from suite.stacks.knobs import FROZEN
from suite.stacks.onnxruntime import onnxruntime_profile
from suite.stacks.torch import torch_eager_adapter as torch_eager


@dataclass
class State:
    """Weights by their names in the model, and the program that runs with them: from their first step on."""

    weights: dict[str, Any]
    program: Program | None = None


class Program:
    """A session of ONNX Runtime with the weights that it runs with."""

    def __init__(self, session: Any, weights: dict[str, Any], tree: Any) -> None:
        self.session, self.weights, self.tree = session, weights, tree
        self.outputs = [output.name for output in session.get_outputs()]
        self.binding = session.io_binding()  # nothing is copied, and weights are bound once
        for name, value in weights.items():
            self.binding.bind_ortvalue_input(name, value)

    def __call__(self, batch: dict[str, Any]) -> Any:
        """Returns the tree of outputs in memory of their own. The call returns when they are computed."""
        for name, value in batch.items():
            self.binding.bind_ortvalue_input(name, value)
        for name in self.outputs:
            self.binding.bind_output(name)  # anew, or the call would overwrite the outputs of the call before
        self.session.run_with_iobinding(self.binding)
        return self.tree(self.binding.get_outputs())

    def read(self, batch: dict[str, Any]) -> Any:
        """Returns the same as a call, whose binding may be wrong: here all inputs are passed anew."""
        return self.tree(self.session.run_with_ort_values(self.outputs, self.weights | batch))


class Adapter(torch_eager.Adapter):
    """A program is exported, and optimized for the machine, in the first step: as a compiler's is."""

    knobs = (FROZEN,)
    untraceable = ("GuardOnDataDependentSymNode", "DynamicOutputShapeException", "DataDependentOutputException")
    packages = ("torch", "onnx", "onnxscript", "onnxruntime", "numpy")

    def __init__(self, case, workload):
        super().__init__(case, workload)
        import onnxruntime
        import onnxscript  # noqa: F401  # else torch.onnx would import it in the first step

        self.onnxruntime = onnxruntime
        self.exported, self.programs_made = None, 0

    def has_frozen_weights(self):
        return FROZEN.name in self.tuned

    def matmul(self, a, b):
        operands = {"input": self.value(self.put(a)), "other": self.value(self.put(b))}
        exported = self.export(lambda weights, batch: self.torch.matmul(**batch), {}, operands)
        return self.fetch(self.program(exported, {})(operands))

    def build(self, abstract=False):
        if lacking := sorted({dtype for dtype in self.types.values() if dtype.startswith("complex")}):
            raise Unsupported(f"ONNX Runtime has no {lacking[0]} tensors")
        super().build(abstract)

    def place(self, parameters, batch, moments=True):
        weights = {name: self.value(self.put(self.layouts.native(name, value))) for name, value in parameters}
        for name, buffer in self.model.named_buffers():
            if name not in weights:
                empty = self.torch.zeros(buffer.shape, dtype=buffer.dtype)
                weights[name] = self.value(self.constants.get(name, empty))
        return State(weights), {name: self.value(self.put_input(name, value)) for name, value in batch}

    def value(self, tensor):
        """Returns a tensor as ONNX Runtime's own, without a copy unless its memory is in another order."""
        return self.onnxruntime.OrtValue.from_dlpack(tensor.contiguous())

    def tensor(self, value):
        return self.torch.from_dlpack(value)

    def step(self, state, batch):
        return state, self.made(state, batch)(batch)

    def made(self, state, batch, record=False):
        """Returns the program of a state, which is made at the first call."""
        if state.program is None:
            if self.exported is None:
                self.exported = self.export(self.call_model, state.weights, batch)
            state.program = self.program(self.exported, state.weights, record)
        return state.program

    def call_model(self, weights, batch):
        return self.torch.func.functional_call(self.model, weights, kwargs=batch)

    def export(self, function, weights, batch):
        """Returns `function(weights, batch)` as an ONNX program whose inputs have the names of the tensors. The
        exporter sees shapes and types alone: no value can become part of the program."""
        from torch._subclasses.fake_tensor import FakeTensorMode

        class Exported(self.torch.nn.Module):
            def forward(self, weights, batch):
                return function(weights, batch)

        with FakeTensorMode():
            fakes = {
                group: {
                    name: self.torch.empty(tensor.shape, dtype=tensor.dtype)
                    for name, tensor in ((name, self.tensor(value)) for name, value in values.items())
                }
                for group, values in {"weights": weights, "batch": batch}.items()
            }
        try:
            return self.torch.onnx.export(
                Exported().eval(), kwargs=fakes, input_names=[*weights, *batch], dynamo=True, verbose=False
            )
        except self.torch.onnx.OnnxExporterError as refused:
            raise refused.__cause__ or refused  # noqa: B904  # its own causes say what the exporter lacks

    def program(self, exported, weights, record=False):
        """Returns an exported program, ready to be called with a batch; frozen weights become its constants. If asked
        to `record`, it writes a profile."""
        from torch.utils import _pytree

        traced = exported.exported_program
        if any(node.meta["val"].is_complex() for node in traced.graph.output_node().args[0]):
            raise Unsupported("ONNX Runtime has no complex tensors, and a result is one")
        proto, options = exported.model_proto, self.onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = self.case.threads, 1
        if record:
            options.enable_profiling, options.profile_file_prefix = True, f"{tempfile.gettempdir()}/onnxruntime"
        if self.has_frozen_weights():
            weights = freeze(proto, weights)
            options.add_external_initializers([*weights], [*weights.values()])
            weights = {}
        session = self.onnxruntime.InferenceSession(
            proto.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
        self.programs_made += 1
        return Program(session, weights, lambda leaves: _pytree.tree_unflatten(leaves, traced.call_spec.out_spec))

    def fetch(self, array):
        return super().fetch(self.tensor(array))

    def type_of(self, array):
        return super().type_of(self.tensor(array))

    def read(self, what, state, batch):
        if what == "parameters":
            return {
                name: self.canonical(name, self.tensor(value))
                for name, value in state.weights.items()
                if name in self.tensors.parameters or name in self.buffers
            }
        if what == "output":
            return {"output": self.results(self.made(state, batch).read(batch))}
        raise Unsupported("ONNX Runtime takes no gradients")

    def update(self, parameters, gradients):
        raise Unsupported("ONNX Runtime has no optimizers")

    def counters(self):
        return super().counters() | {"compiles": self.programs_made}  # sessions: one for each program

    def kernels_used(self, logs):
        return [kernels.LibraryUse("MLAS")]  # it says nothing of its instruction set

    def holders(self, logs, state, batch):
        return None

    def listen(self, state, batch):
        """Returns the state with a program of its own, which records the times of its operators."""
        listening = State(state.weights)
        self.recorded = self.made(listening, batch, record=True)
        return listening, batch

    def profile(self, steps, folder):
        steps()
        recorded = Path(self.recorded.session.end_profiling())
        return base.Trace("ONNX Runtime", list(onnxruntime_profile.spans(recorded.read_text(encoding="utf-8"))))

    def compile_on_shapes(self, parameters, batch):
        return base.Adapter.compile_on_shapes(self, parameters, batch)


def freeze(proto, weights):
    """Turns those inputs of a program that are weights into its constants, whose values a session is given apart.
    Returns the weights that the program uses."""
    graph = proto.graph
    used = {name for node in graph.node for name in node.input}
    for value in [value for value in graph.input if value.name in weights]:
        graph.input.remove(value)
        if value.name in used:
            kind = value.type.tensor_type
            dims = [length.dim_value for length in kind.shape.dim]
            constant = graph.initializer.add(name=value.name, data_type=kind.elem_type, dims=dims)
            constant.data_location = constant.EXTERNAL
            constant.external_data.add(key="location", value="weights")
    return {name: value for name, value in weights.items() if name in used}
