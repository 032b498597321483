"""PyTorch eager: the nn.Module as written, every operation dispatched to its kernel."""

from __future__ import annotations

from contextlib import nullcontext
from functools import partial

from suite import protocol
from suite.stacks import base, kernels
from suite.stacks.holders import Holder
from suite.stacks.knobs import Knob
from suite.stacks.torch import mkl_path, torch_memory, torch_modules, torch_profile, torch_steps, torch_tracker
from suite.workloads import trees


class Adapter(base.Adapter):
    """State: (model, optimizer or None), updated in place."""

    knobs = (
        Knob("channels_last", "convolutions run in their kernels' memory order", ("cpu", "cuda"), images=True),
        Knob("cudnn.benchmark", "cuDNN tries its convolutions out, as XLA does", ("cuda",), images=True),
        mkl_path.KNOB,
    )
    packages = ("torch", "numpy")
    family = "torch"

    def __init__(self, case, workload):
        super().__init__(case, workload)
        if mkl_path.KNOB.name in self.tuned:
            mkl_path.interpose()
        import torch

        self.torch = torch
        self.planned = {}  # bytes, from a step on shapes
        # A question's function runs as in its author's script: no input asks for gradients, but the function may.
        self.is_function = bool(case.implementation) and not workload.has_model
        self.no_gradients = nullcontext if self.is_function else torch.inference_mode
        # The first setting is for float32 products. The second is for convolutions, which else use TF32 on GPUs.
        torch.set_float32_matmul_precision("high" if case.precision == "tf32" else "highest")
        torch.backends.cudnn.allow_tf32 = case.precision == "tf32"
        torch.backends.cudnn.benchmark = "cudnn.benchmark" in self.tuned
        torch_modules.set_threads(torch, case.threads)

    @classmethod
    def of(cls, workload):
        return type(cls.__name__, (torch_steps.OwnStep, cls), {}) if workload.has_step else cls

    def device(self):
        self.home = self.torch.device(self.case.target)
        name = self.gpu_name() if self.case.target == "cuda" else "cpu"
        return {
            "device": name,
            "torch_threads": self.torch.get_num_threads(),
            "torch_interop_threads": self.torch.get_num_interop_threads(),
            "cpu_capability": self.torch.backends.cpu.get_cpu_capability(),
        }

    def gpu_name(self):
        try:
            self.torch.cuda.init()
        except (RuntimeError, AssertionError) as missing:  # an assertion in a build without CUDA
            raise self.no_device(missing) from missing
        self.require_tf32(self.torch.cuda.get_device_capability())
        return self.torch.cuda.get_device_name()

    def matmul(self, a, b):
        product = self.compile(self.in_precision(self.torch.matmul))
        with self.no_gradients():
            return self.host(product(self.put(a), self.put(b)))

    def in_precision(self, function):
        return torch_modules.in_precision(function, self.case.precision, self.autocast)

    def autocast(self):
        return self.torch.autocast(self.home.type, dtype=self.torch.bfloat16)

    def build(self, abstract=False):
        self.dialect = self.code()
        with self.torch.device("meta"):
            self.model = self.make_model(self.dialect).train(self.train)
        self.layouts = torch_modules.Layouts(self.torch, self.model)
        tensors = self.tensors
        torch_modules.check(self.torch, self.model, self.layouts, tensors.parameters, tensors.buffers)
        make = partial(self.make_model, self.dialect)
        self.constants = {} if abstract else torch_modules.constants(self.model, make, tensors.buffers)
        if self.no_gradients is self.torch.inference_mode and torch_modules.takes_derivatives(self.dialect):
            self.no_gradients = self.torch.no_grad  # inside which derivatives can be asked for again
        self.forward = self.compile(self.in_precision(self.model))
        if hasattr(self.dialect, "loop"):
            self.forward = self.looped(self.forward)
        self.loss = self.compile(self.in_precision(lambda **batch: self.dialect.loss(self.model, **batch)))
        self.call = self.train_step if self.train else self.forward_step

    def looped(self, call):
        """Returns the forward pass of a dialect whose loop is Python: only the calls in it are compiled."""

        def forward(**inputs):
            cache = self.model.start(**inputs)
            self.cut()
            return self.dialect.loop(call, cache, **inputs)

        return forward

    def compile(self, function):
        """Returns a function as this stack runs it: unchanged."""
        return function

    def make_optimizer(self, parameters, fused=True, adamw=None, **options):
        if own := getattr(self.dialect, "optimizer", None):
            return own(parameters)
        # Fused: a tensor's whole update is one kernel. PyTorch recommends it, and current trainers use it.
        if self.optimizer == "sgd":
            return self.torch.optim.SGD(parameters, lr=protocol.LEARNING_RATE, momentum=protocol.MOMENTUM, fused=fused)
        return (adamw or self.torch.optim.AdamW)(
            parameters,
            lr=protocol.LEARNING_RATE,
            betas=(protocol.BETA1, protocol.BETA2),
            eps=protocol.EPSILON,
            weight_decay=protocol.WEIGHT_DECAY,
            fused=fused,
            **options,
        )

    def put(self, value):
        return self.torch.tensor(value, device=self.home)

    def put_input(self, name, value):
        """Returns an input on the device, in its declared type and, if it is images, with channels first."""
        declared = self.tensors.batch[name]
        tensor = self.put(torch_modules.native(declared, value)).to(self.torch_type(declared))
        return tensor.to(memory_format=self.memory_format()) if declared.images else tensor

    def torch_type(self, tensor):
        """Returns PyTorch's type for a spec's tensor."""
        return getattr(self.torch, tensor.dtype)

    def memory_format(self):
        """Returns the memory format of images and of the weights of convolutions."""
        return self.torch.channels_last if "channels_last" in self.tuned else self.torch.contiguous_format

    def place(self, parameters, batch, moments=True):
        self.load(parameters)
        updates = self.train and self.optimizer and moments
        optimizer = self.make_optimizer(self.model.parameters()) if updates else None
        state, batch = (self.model, optimizer), {name: self.put_input(name, value) for name, value in batch}
        self.wait(state, None)
        return state, batch

    def load(self, parameters):
        """Copies parameters and buffers into the model."""
        torch, tied = self.torch, torch_modules.tied(self.model)
        self.model.to_empty(device=self.home).to(memory_format=self.memory_format())
        torch_modules.tie(self.model, tied)
        empty = dict(self.model.named_parameters()) | dict(self.model.named_buffers())
        with torch.no_grad():
            for name, value in parameters:
                # Straight from the host array: a copy of a model's largest tensor would be GBs.
                empty[name].copy_(torch.from_numpy(self.layouts.native(name, value)))
                empty.pop(name).grad = None
            for name, buffer in empty.items():
                buffer.copy_(self.constants[name]) if name in self.constants else buffer.zero_()

    def canonical(self, name, tensor):
        """Returns a tensor on the host, in canonical layout."""
        return self.layouts.canonical(name, self.host(tensor))

    def forward_step(self, state, batch):
        with self.no_gradients():
            return state, self.forward(**batch)

    def train_step(self, state, batch):
        model, optimizer = state
        model.zero_grad(set_to_none=True)
        loss = self.loss(**batch)
        loss.backward()
        if optimizer is None:
            return state, (loss.detach(), [p.grad for p in model.parameters()])
        optimizer.step()
        return state, loss.detach()

    def kernels_used(self, logs):
        if self.case.target != "cpu":
            return []  # a profile names a GPU's kernels
        aten = kernels.LibraryUse("ATen", self.torch.backends.cpu.get_cpu_capability())
        return [*kernels.libraries(logs, mkl_path.named(self.tuned)), aten]

    def compile_on_shapes(self, parameters, batch):
        """Runs two steps on fake tensors and counts their memory; nothing is compiled. Two, because the optimizer's
        moments appear in the first."""
        from torch._subclasses.fake_tensor import FakeTensorMode

        tensors = dict(self.model.named_parameters()) | dict(self.model.named_buffers())
        with FakeTensorMode(), torch_tracker.tracker(self.torch) as tracked:
            for name, value in tensors.items():
                empty = self.torch.empty(value.shape, dtype=value.dtype)
                if isinstance(value, self.torch.nn.Parameter):
                    self.model.load_state_dict({name: empty}, strict=False, assign=True)
                else:
                    torch_modules.set_buffer(self.model, name, empty)
            optimizer = self.make_optimizer(self.model.parameters()) if self.train and self.optimizer else None
            inputs = {name: self.empty_input(tensor, self.home) for name, tensor in batch.items()}
            for _ in range(2):
                _, outputs = self.call((self.model, optimizer), inputs)
                del outputs
        states = [value for state in (optimizer.state.values() if optimizer else ()) for value in state.values()]
        stays = torch_tracker.nbytes((*self.model.state_dict().values(), *states, *inputs.values()))
        self.planned = {"program_argument_bytes": stays, "program_temporary_bytes": tracked.peak - stays}
        return None, None

    def empty_input(self, tensor, device):
        """Returns a tensor without values for a spec's input, in the shape and type that `put_input` gives it."""
        return self.torch.empty(tensor.channels_first, device=device, dtype=self.torch_type(tensor))

    def planned_memory(self, caches):
        return self.planned

    def profile(self, steps, folder):
        return base.Trace("torch.profiler", torch_profile.spans(self.torch, steps, self.case.target))

    def step(self, state, batch):
        return self.call(state, batch)

    def wait(self, state, outputs):
        if self.home.type == "cuda":
            self.torch.cuda.synchronize()

    def fetch(self, array):
        array = self.torch.as_tensor(array).detach()
        if array.dtype == self.torch.bfloat16:
            array = array.float()
        return array.to("cpu", copy=True).resolve_conj().resolve_neg().numpy()

    def read(self, what, state, batch):
        model = state[0]
        if what == "parameters":
            tensors = dict(model.named_parameters()) | {n: b for n, b in model.named_buffers() if n in self.buffers}
            return {name: self.canonical(name, value.detach()) for name, value in tensors.items()}
        if what == "moments":
            # PyTorch makes a parameter's moments in its first update: a parameter without a gradient has no moments.
            return {
                f"{kind}/{name}": self.canonical(name, moments[key] if key in moments else self.torch.zeros(p.shape))
                for name, p in model.named_parameters()
                for moments in (state[1].state[p],)
                for kind, key in torch_modules.MOMENTS[self.optimizer].items()
            }
        if what == "output":
            inputs = {name: value for name, value in batch.items() if name != "target"}
            model.eval()
            with self.no_gradients():
                output = self.forward(**inputs)
            if self.case.implementation and not self.train:
                torch_modules.refuse_recording(output)
            output = trees.mapped(self.fetch, output)
            model.train(self.train)
            return {"output": output}
        model.zero_grad(set_to_none=True)  # the last step's gradients are still there
        before = {name: value.clone() for name, value in model.named_buffers()}
        loss = self.loss(**batch)
        loss.backward()
        for name, value in model.named_buffers():
            value.copy_(before[name])  # the loss has updated running statistics, which reading must not change
        self.cut()
        # A parameter that the loss doesn't depend on has no gradient; the gate finds that its name is missing. Of a
        # question's inputs that may well be so, and the other frameworks give zeros.
        grads = ((name, p, p.grad) for name, p in model.named_parameters())
        found = (
            (name, self.torch.zeros_like(p) if g is None and self.case.implementation else g) for name, p, g in grads
        )
        gradients = {name: self.canonical(name, gradient.detach()) for name, gradient in found if gradient is not None}
        model.zero_grad(set_to_none=True)
        return {"loss": self.host(loss.detach()), **gradients}

    def cut(self):
        """Does nothing: eager has no graph. PyTorch/XLA, a subclass, records operations until its graph is cut here."""

    def host(self, tensor):
        return (tensor.float() if tensor.dtype == self.torch.bfloat16 else tensor).cpu().resolve_conj().numpy()

    def update(self, parameters, gradients):
        updated = {name: self.torch.nn.Parameter(self.put(value)) for name, value in parameters.items()}
        optimizer = self.make_optimizer(list(updated.values()))
        for injected in gradients:
            for name, parameter in updated.items():
                parameter.grad = self.put(injected[name])
            optimizer.step()
        return {name: self.host(parameter.detach()) for name, parameter in updated.items()}

    def holders(self, logs, state, batch):
        model, optimizer = state
        known = {}

        def remember(category, named):
            for name, tensor in named:
                known[tensor.data_ptr()] = Holder(category, name, tensor.nbytes)

        remember("parameters", model.named_parameters())
        remember("parameters", model.named_buffers())
        remember("inputs", batch.items())
        for name, p in model.named_parameters():
            moments = optimizer.state[p] if optimizer else {}
            remember(
                "optimizer", ((f"{name} {key}", value) for key, value in moments.items() if self.torch.is_tensor(value))
            )

        def gradients():
            return {p.grad.data_ptr(): name for name, p in model.named_parameters() if p.grad is not None}

        return torch_memory.holders(self.torch, lambda: self.wait(*self.step(state, batch)), known, gradients)

    def memory(self):
        if self.case.target != "cuda":
            return super().memory()
        return {
            "device_peak_bytes": self.torch.cuda.max_memory_allocated(),
            "device_reserved_bytes": self.torch.cuda.max_memory_reserved(),
            "device_total_bytes": self.torch.cuda.get_device_properties().total_memory,
        }
