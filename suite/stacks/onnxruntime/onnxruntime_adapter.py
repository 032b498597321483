"""ONNX Runtime: the nn.Module's forward pass, exported by torch.onnx and run by the provider for CPUs.

Weights are inputs of the program, as on all other stacks. In the tuned track they are its constants, as in a program
that is deployed: ONNX Runtime then packs them for its kernels, and computes beforehand what depends on them alone.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from suite.stacks import base, kernels
from suite.stacks.knobs import FROZEN
from suite.stacks.onnxruntime import onnxruntime_profile
from suite.stacks.torch.torch_exported_adapter import ExportedAdapter, State, refuse_complex_results


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


class Adapter(ExportedAdapter):
    """A program is exported, and optimized for the machine, in the first step: as a compiler's is."""

    knobs = (FROZEN,)
    lacks = ("complex",)
    packages = ("torch", "onnx", "onnxscript", "onnxruntime", "numpy")

    def __init__(self, case, workload):
        super().__init__(case, workload)
        import onnxruntime
        import onnxscript  # noqa: F401  # else torch.onnx would import it in the first step

        self.onnxruntime = onnxruntime

    def has_frozen_weights(self):
        return FROZEN.name in self.tuned

    def value(self, tensor):
        """Returns a tensor as ONNX Runtime's own, without a copy unless its memory is in another order."""
        return self.onnxruntime.OrtValue.from_dlpack(tensor.contiguous())

    def tensor(self, value):
        return self.torch.from_dlpack(value)

    def prepared(self, function, weights, batch):
        """Returns `function(weights, batch)` as an ONNX program whose inputs have the names of the tensors."""
        module, fakes = self.on_shapes(function, weights, batch)
        try:
            return self.torch.onnx.export(
                module, kwargs=fakes, input_names=[*weights, *batch], dynamo=True, verbose=False
            )
        except self.torch.onnx.OnnxExporterError as refused:
            raise refused.__cause__ or refused  # noqa: B904  # its own causes say what the exporter lacks

    def program(self, exported, weights, record=False):
        """Returns an exported program, ready to be called with a batch; frozen weights become its constants. If asked
        to `record`, it writes a profile."""
        from torch.utils import _pytree

        traced = exported.exported_program
        refuse_complex_results(traced, self.title)
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

    def kernels_used(self, logs):
        return [kernels.LibraryUse("MLAS")]  # it says nothing of its instruction set

    def listen(self, state, batch):
        """Returns the state with a program of its own, which records the times of its operators."""
        listening = State(state.weights)
        self.recorded = self.made(listening, batch, record=True)
        return listening, batch

    def profile(self, steps, folder):
        steps()
        recorded = Path(self.recorded.session.end_profiling())
        return base.Trace("ONNX Runtime", list(onnxruntime_profile.spans(recorded.read_text(encoding="utf-8"))))


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
