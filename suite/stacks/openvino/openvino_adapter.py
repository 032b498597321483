"""OpenVINO: the nn.Module's forward pass, exported by torch.export, converted, and compiled by the plugin for CPUs.

Weights are inputs of the program, as on all other stacks. In the tuned track they are its constants, as in a program
that is deployed: OpenVINO then packs them for its kernels, and computes beforehand what depends on them alone.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from suite.stacks import kernels
from suite.stacks.knobs import FROZEN
from suite.stacks.torch.torch_exported_adapter import ExportedAdapter, refuse_complex_results


class Program:
    """A request of a compiled model, with the weights that it runs with."""

    def __init__(self, compiled: Any, weights: dict[str, Any], names: list[str], new: Any, tree: Any) -> None:
        self.compiled, self.weights, self.new, self.tree = compiled, weights, new, tree
        self.names = names  # of the inputs, in their order
        self.request = self.with_weights()

    def with_weights(self) -> Any:
        """Returns a new request, to which the weights are bound once: nothing is copied."""
        request = self.compiled.create_infer_request()
        for name, value in self.weights.items():
            request.set_input_tensor(self.names.index(name), value)
        return request

    def __call__(self, batch: dict[str, Any]) -> Any:
        """Returns the tree of outputs in memory of their own. The call returns when they are computed."""
        return self.run(self.request, batch)

    def read(self, batch: dict[str, Any]) -> Any:
        """Returns the same as a call, whose request may be wrong: here all inputs are bound anew."""
        return self.run(self.with_weights(), batch)

    def run(self, request: Any, batch: dict[str, Any]) -> Any:
        for name, value in batch.items():
            request.set_input_tensor(self.names.index(name), value)
        outputs = [self.new(output) for output in self.compiled.outputs]
        for place, output in enumerate(outputs):
            request.set_output_tensor(place, output)  # anew, or the call would overwrite those of the call before
        request.infer(share_outputs=True)
        return self.tree(outputs)


class Adapter(ExportedAdapter):
    """Its precision is forced to float32, which isn't the default on CPUs with bfloat16 arithmetic, and checked."""

    knobs = (FROZEN,)
    lacks = ("complex", "float64", "bfloat16")  # the plugin computes float64 in float32
    packages = ("torch", "openvino", "numpy")

    def __init__(self, case, workload):
        super().__init__(case, workload)
        import openvino

        self.openvino, self.core = openvino, openvino.Core()

    def has_frozen_weights(self):
        return FROZEN.name in self.tuned

    def value(self, tensor):
        """Returns a tensor as OpenVINO's own, without a copy unless its memory is in another order."""
        return self.openvino.Tensor(tensor.contiguous().numpy(), shared_memory=True)

    def tensor(self, value):
        return self.torch.from_numpy(value.data)

    def prepared(self, function, weights, batch):
        """Returns `function(weights, batch)` as OpenVINO's model, the names of its inputs, and its results' tree."""
        exported = self.exported(function, weights, batch)
        refuse_complex_results(exported, self.title)
        model, names = self.openvino.convert_model(exported), [*weights, *batch]
        shapes = {each: self.tensor({**weights, **batch}[name]).shape for each, name in enumerate(names)}
        model.reshape({place: [*shape] for place, shape in shapes.items()})
        return model, names, exported.call_spec.out_spec

    def program(self, prepared, weights):
        """Returns a converted program, ready to be called with a batch; frozen weights become its constants."""
        from torch.utils import _pytree

        model, names, tree = prepared
        if self.has_frozen_weights():
            model, names, weights = *self.frozen(model, names, weights), {}
        hints, wanted = self.openvino.properties.hint, self.openvino.Type.f32
        settings = {
            hints.inference_precision: wanted,
            hints.performance_mode: hints.PerformanceMode.LATENCY,
            hints.enable_cpu_pinning: False,  # the process is pinned
            hints.enable_hyper_threading: True,  # or two cores of one physical core would get one thread
            self.openvino.properties.inference_num_threads: self.case.threads,
            self.openvino.properties.num_streams: 1,
        }
        self.compiled = self.core.compile_model(model, "CPU", settings)
        if (found := self.compiled.get_property(hints.inference_precision)) != wanted:
            raise RuntimeError(f"OpenVINO was asked for float32 and says that it infers in {found}")
        self.programs_made += 1
        return Program(self.compiled, weights, names, self.empty, lambda leaves: _pytree.tree_unflatten(leaves, tree))

    def empty(self, output):
        return self.openvino.Tensor(output.element_type, output.shape)

    def frozen(self, model, names, weights):
        """Returns a model with its weights as constants, and the names of the inputs that are left."""
        model, rest = model.clone(), [name for name in names if name not in weights]
        for parameter, name in zip(model.get_parameters(), names, strict=True):
            if name in weights:
                constant = self.openvino.op.Constant(weights[name], shared_memory=True)
                parameter.output(0).replace(constant.output(0))
                model.remove_parameter(parameter)
        return model, rest

    def kernels_used(self, logs):
        """Returns the instruction sets of the compiled model's operations, by the names of their kernels."""
        names = [str(node.get_rt_info()["primitiveType"]) for node in self.compiled.get_runtime_model().get_ops()]
        used = Counter(kernels.instructions(name, None) for name in names)
        return [kernels.LibraryUse("OpenVINO", isa, calls) for isa, calls in used.most_common()]
