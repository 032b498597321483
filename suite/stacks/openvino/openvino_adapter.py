"""OpenVINO: the nn.Module's forward pass, exported by torch.export, converted, and compiled by the plugin for CPUs.

Weights are inputs of the program, as on all other stacks. In the tuned track they are its constants, as in a program
that is deployed: OpenVINO then packs them for its kernels, and computes beforehand what depends on them alone.
"""

from __future__ import annotations

from collections import Counter

from suite.stacks import kernels
from suite.stacks.knobs import FROZEN
from suite.stacks.torch.torch_exported_adapter import ExportedAdapter, refuse_complex_results


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
        shapes = [[*self.tensor(value).shape] for values in (weights, batch) for value in values.values()]
        model.reshape(dict(enumerate(shapes)))  # it knows only their ranks
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
        compiled = self.compiled = self.core.compile_model(model, "CPU", settings)
        if (found := compiled.get_property(hints.inference_precision)) != wanted:
            raise RuntimeError(f"OpenVINO was asked for float32 and says that it infers in {found}")
        self.programs_made += 1
        request, inputs = compiled.create_infer_request(), {name: place for place, name in enumerate(names)}
        for name, value in weights.items():  # bound once: nothing is copied
            request.set_input_tensor(inputs[name], value)

        def run(batch):
            for name, value in batch.items():
                request.set_input_tensor(inputs[name], value)
            outputs = [self.openvino.Tensor(each.element_type, each.shape) for each in compiled.outputs]
            for place, output in enumerate(outputs):
                request.set_output_tensor(place, output)  # anew, or the call would overwrite those of the call before
            request.infer(share_outputs=True)
            return _pytree.tree_unflatten(outputs, tree)

        return run

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
        """Returns the instruction sets of the compiled model's operations, by their kernels: `brgemm_avx512_f32`."""
        names = [node.get_rt_info()["primitiveType"].value for node in self.compiled.get_runtime_model().get_ops()]
        used = Counter(kernels.instructions(name, None) for name in names if not name.startswith("unknown"))
        return [kernels.LibraryUse("OpenVINO", isa, calls) for isa, calls in used.most_common()]
