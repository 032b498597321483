"""Deliberately wrong stacks: adapters, optimizers, buffers and precisions with a line of the suite's source changed.

`MUTANTS` are run by benchmarks/mutants.py through the real worker, from a changed copy of the suite.
"""

from __future__ import annotations

from dataclasses import dataclass

from tests.mutations import Replacement


@dataclass(frozen=True, slots=True)
class AdapterMutant:
    """What is wrong with a stack: replaced texts by file in `suite/stacks`, and the case that shows it."""

    kind: str  # optimizer, buffer, precision or stack
    what: str
    stack: str
    workload: str
    changes: dict[str, tuple[Replacement, ...]]
    sizes: tuple[str, ...] = ("tiny",)
    precision: str = "f32"
    pass_: str = "train"
    dims: tuple[tuple[str, int], ...] = ()  # other dims than the size's, for which there is no reference


# Changes of the NumPy adapter's source, which tests run in their own process.
NUMPY_OPTIMIZERS: dict[str, tuple[Replacement, ...]] = {
    "eps x 10": (("+= protocol.EPSILON", "+= 10 * protocol.EPSILON"),),
    "eps inside the root": (("np.sqrt(v)", "np.sqrt(v + protocol.EPSILON**2)"), ("+= protocol.EPSILON", "+= 0.0")),
    "eps before the bias correction": (
        ("    denominator *= 1.0 / correction2**0.5\n        denominator += protocol.EPSILON\n",
         "    denominator += protocol.EPSILON\n        denominator *= 1.0 / correction2**0.5\n"),
    ),
    "coupled decay": (
        (
            "p, g = state[\"parameters\"][name], gradients[name]",
            "p = state[\"parameters\"][name]; g = gradients[name] + np.float32(protocol.WEIGHT_DECAY) * p",
        ),
        ("p *= 1.0 - protocol.LEARNING_RATE * protocol.WEIGHT_DECAY", "pass"),
    ),
    "no decay": (("p *= 1.0 - protocol.LEARNING_RATE * protocol.WEIGHT_DECAY", "pass"),),
    "no bias correction": (
        ("1.0 - protocol.BETA1 ** state[\"count\"]", "1.0"), ("1.0 - protocol.BETA2 ** state[\"count\"]", "1.0"),
    ),
    "second moment uncorrected": (("1.0 - protocol.BETA2 ** state[\"count\"]", "1.0"),),
    "beta1 of 0.8": (("protocol.BETA1", "0.8"),),
    "beta2 of 0.99": (("protocol.BETA2", "0.99"),),
    "count never advances": (('state["count"] += 1', 'state["count"] = 1'),),
    "learning rate x 1.01": (
        ("denominator *= protocol.LEARNING_RATE", "denominator *= 1.01 * protocol.LEARNING_RATE"),
    ),
}  # fmt: skip

TORCH, MODULES = "torch/torch_eager_adapter.py", "torch/torch_modules.py"
JAX, RUNTIME = "jax/jax_eager_adapter.py", "jax/jax_runtime.py"
# Of the stacks that run an exported program: what they share, and each one's own.
EXPORTED = "torch/torch_exported_adapter.py"
EXPORTED_CALL = "call(self.model, weights, kwargs=batch)"
EXPORTED_PROGRAM = "self.program(self.artefact, state.weights, **options)"
ONNX, OPENVINO = "onnxruntime/onnxruntime_adapter.py", "openvino/openvino_adapter.py"
AOT, IREE = "torch/torch_aot_adapter.py", "iree/iree_adapter.py"
BOUND_INPUTS = "        for name, value in batch.items():\n"
ONNX_TEXT = "            proto.SerializeToString(), options"
IREE_LEAVES, IREE_MOMENT = "adapter.jax.tree.flatten(arguments)", "self.put(np.asarray(moment))"
TF, RULES = "tensorflow/tf_eager_adapter.py", "tensorflow/tf_optimizers.py"

OPTAX = """optax.adamw(
        protocol.LEARNING_RATE,
        b1=protocol.BETA1,
        b2=protocol.BETA2,
        eps=protocol.EPSILON,
        weight_decay=protocol.WEIGHT_DECAY,
    )"""
COUPLED = """optax.chain(
        optax.add_decayed_weights(protocol.WEIGHT_DECAY),
        optax.adam(protocol.LEARNING_RATE, b1=protocol.BETA1, b2=protocol.BETA2, eps=protocol.EPSILON),
    )"""
KERAS = "keras/keras_adapter.py"
KERAS_NAMED = "        self.variables = self.named"
KERAS_COUPLED = """        class Coupled(optimizers.Adam):
            def update_step(self, gradient, variable, learning_rate):
                super().update_step(gradient + protocol.WEIGHT_DECAY * variable, variable, learning_rate)

        return Coupled("""
TORCH_SETUP = "optimizer = self.make_optimizer(self.model.parameters()) if updates else None\n"
TORCH_BACKWARD = "        loss.backward()\n        if optimizer is None:"
TORCH_READ = "        for name, value in model.named_buffers():\n            value.copy_(before[name])  # the loss has"
TORCH_UPDATE = "        optimizer.step()\n        return state, loss.detach()"
JAX_APPLY = "        parameters, moments = self.apply(parameters, moments, gradients)\n        return (parameters,"
COUNTED = "        self.places = getattr(self, 'places', 0) + 1\n"  # the gate places twice more after the timed steps
TORCH_LOSS = "self.in_precision(lambda **batch: self.dialect.loss(self.model, **batch))"
NO_DECAY = "optimizer.param_groups[0]['weight_decay'] = 0.0\n"
NO_DECAY_IN_STEP = f"{TORCH_SETUP}        if optimizer is not None:\n            {NO_DECAY}"
VECTORS = (
    "        groups = [{'params': [p for p in self.model.parameters() if p.ndim > 1]},\n"
    "                  {'params': [p for p in self.model.parameters() if p.ndim == 1], 'weight_decay': 0.0}]\n"
    "        optimizer = self.make_optimizer(groups) if updates else None\n"
)
MIXED = 'if self.case.precision == "bf16"'
COARSE = "optax.adamw(1e-3, eps=1e-7, weight_decay=0.01)"
OPTIMIZER = "make_optimizer(optax, self.optimizer) if optax else None"
COARSE_IN_MIXED = f"self.transform: Any = {COARSE} if optax and case.precision == 'bf16' else {OPTIMIZER}"
COUNT_CALLS = "            self.calls = getattr(self, 'calls', 0) + 1\n"
LATE_TORCH = COUNT_CALLS + "            return state, self.forward(**batch) * (1.0001 if self.calls > 5 else 1.0)"
NUMPY_FORWARD = '            return state, self.dialect.forward(self.dims, state["parameters"], **batch)'
LATE_NUMPY = COUNT_CALLS + NUMPY_FORWARD + " * np.float32(1.0001 if self.calls > 5 else 1.0)"


ROUNDED_JAX = """        exact, jax = self.jax.value_and_grad(self.loss, has_aux=True), self.jax

        def rounded(*arguments):
            answer, gradients = exact(*arguments)
            return answer, jax.tree.map(lambda g: jax.lax.reduce_precision(g, 8, 7), gradients)

        self.loss_and_gradients = rounded
"""

# Steps since the state was placed: what a stack that stops computing would count by.
SINCE = "        self.since = getattr(self, 'since', 0) + 1\n"
TORCH_PLACED = (TORCH_SETUP, f"{TORCH_SETUP}        self.since = 0\n")
TORCH_BEGIN = (
    "        model.zero_grad(set_to_none=True)\n        loss = self.loss(**batch)\n"
    "        loss.backward()\n        if opt"
)
TORCH_END = "        return state, loss.detach()"
JAX_STEP = "    def step(self, state, batch):\n        return self.call(state, batch)"
JAX_PLACED = ("        put = self.put_named\n", "        put, self.since = self.put_named, 0\n")
KEEPS = """        if self.since > 3:
            return state, self.kept
        state, self.kept = {call}
        return state, self.kept"""
LAZY = """        kept = [(p, p.detach().clone()) for p in model.parameters()]
        optimizer.step()
        with self.torch.no_grad():
            for p, old in kept:
                p.copy_(self.torch.where(p.grad == 0, old, p))
        return state, loss.detach()"""
TF_STEP = "        return state, self.call(batch) if self.train else self.forward(batch)"
TF_KEEPS = SINCE + KEEPS.format(call=TF_STEP.strip().removeprefix("return ")).replace("self.kept", "self.last")
TF_PLACED = (
    "        variables = self.variables | self.kept\n",
    "        variables, self.since = self.variables | self.kept, 0\n",
)
NUMPY_STEP = "        if not self.train:\n            return state, self.dialect.forward(self.dims"
NUMPY_PLACED = ('        state = {"parameters": {', '        self.since = 0\n        state = {"parameters": {')
NUMPY_KEEPS = """        if self.since > 3:
            return state, self.kept
        state, self.kept = self.computed(state, batch)
        return state, self.kept

    def computed(self, state, batch):
"""


def keras_step(what: str, old: str, new: str, workload: str = "ffn", kind: str = "stack") -> AdapterMutant:
    """Keras's step made otherwise, on JAX."""
    return AdapterMutant(kind, what, "keras_jax", workload, {KERAS: ((old, new),)})


def stops(what: str, stack: str, workload: str, *changes: Replacement, pass_: str = "train") -> AdapterMutant:
    """A stack that computes only the first steps after its state was placed."""
    file = {"torch_eager": TORCH, "jax_jit": JAX, "tf_graph": TF, "numpy": "numpy/numpy_adapter.py"}[stack]
    return AdapterMutant("late", what, stack, workload, {file: changes}, pass_=pass_)


def rounded_moment(key: str, precision: str) -> AdapterMutant:
    """PyTorch's AdamW with a moment that is rounded to bfloat16 after each step."""
    rounding = (
        "        optimizer.step()\n        for kept in optimizer.state.values():\n"
        f"            kept['{key}'].copy_(kept['{key}'].bfloat16())\n        return state, loss.detach()"
    )
    changes = {TORCH: ((TORCH_UPDATE, rounding),)}
    return AdapterMutant("late", f"{key} is kept in bfloat16", "torch_eager", "gpt2", changes, precision=precision)


def rounded_gradients(workload: str, sizes: tuple[str, ...], in_step_alone: bool = False) -> AdapterMutant:
    """PyTorch's gradients rounded to bfloat16, where they are read as well or in the step alone."""
    rounding = "        for p in model.parameters():\n            p.grad.copy_(p.grad.bfloat16())\n"
    changes = [(TORCH_UPDATE, rounding + TORCH_UPDATE)]
    if not in_step_alone:
        changes.append((TORCH_READ, rounding + TORCH_READ))
    what = "gradients are rounded to bfloat16" + (", in the step alone" if in_step_alone else "")
    return AdapterMutant("precision", what, "torch_eager", workload, {TORCH: (*changes,)}, sizes)


def exported(
    what: str, *changes: Replacement, stack: str = "onnxruntime", workload: str = "gpt2", file: str = ""
) -> AdapterMutant:
    """An exported program made or called otherwise."""
    own = {"onnxruntime": ONNX, "openvino": OPENVINO, "torch_aot": AOT, "iree": IREE}[stack]
    return AdapterMutant("stack", what, stack, workload, {file or own: changes}, pass_="forward")


def of_every_runtime() -> dict[str, AdapterMutant]:
    """What can go wrong alike wherever an exported program runs."""
    return {
        f"{stack}: {name}": mutant
        for stack in ("onnxruntime", "openvino", "torch_aot")
        for name, mutant in {
            "keeps its weights": exported(
                "the first weights are those of every later state",
                (EXPORTED_PROGRAM, f"self.kept = getattr(self, 'kept', None) or {EXPORTED_PROGRAM}"),
                stack=stack, file=EXPORTED),
            "dropped bias": exported(
                "the exporter loses a bias",
                (EXPORTED_CALL, EXPORTED_CALL.replace(
                    "weights,", "weights | {'down.bias': 0 * weights['down.bias']},")),
                stack=stack, file=EXPORTED, workload="ffn"),
        }.items()
    }  # fmt: skip


def jax_optimizer(what: str, old: str, new: str, workload: str = "ffn") -> AdapterMutant:
    """optax's optimizer made otherwise."""
    return AdapterMutant("optimizer", what, "jax_jit", workload, {RUNTIME: ((old, new),)})


def torch_step(
    what: str, old: str, new: str, workload: str = "gpt2", sizes: tuple[str, ...] = ("tiny", "small"),
    kind: str = "stack", precision: str = "f32",
) -> AdapterMutant:  # fmt: skip
    """PyTorch's step made otherwise, `update` being right."""
    return AdapterMutant(kind, what, "torch_eager", workload, {TORCH: ((old, new),)}, sizes, precision)


MUTANTS: dict[str, AdapterMutant] = {
    # --- optimizers, by their own arguments: the check with injected gradients sees the smallest ---
    "optax: no decay": jax_optimizer("no weight decay", "weight_decay=protocol.WEIGHT_DECAY", "weight_decay=0.0"),
    "optax: coupled decay": AdapterMutant("optimizer", "Adam with L2 regularisation", "jax_jit", "ffn", {
        RUNTIME: ((OPTAX, COUPLED), ("state[0].mu", "state[1][0].mu"), ("state[0].nu", "state[1][0].nu"))}),
    "optax: eps x 10": jax_optimizer("ten times epsilon", "eps=protocol.EPSILON", "eps=10 * protocol.EPSILON"),
    "optax: beta1": jax_optimizer("beta1 of 0.8", "b1=protocol.BETA1", "b1=0.8"),
    "optax: beta2": jax_optimizer("beta2 of 0.99", "b2=protocol.BETA2", "b2=0.99"),
    "optax: lr": jax_optimizer("a learning rate 1 % larger", "LEARNING_RATE,", "LEARNING_RATE * 1.01,"),
    "optax: momentum": jax_optimizer("momentum of 0.8", "momentum=protocol.MOMENTUM", "momentum=0.8", "resnet50"),
    "optax: Nesterov": jax_optimizer("Nesterov's momentum", "momentum=protocol.MOMENTUM)",
                                     "momentum=protocol.MOMENTUM, nesterov=True)", "resnet50"),
    "torch: Adam": torch_step("Adam with L2 regularisation", "optim.AdamW)(", "optim.Adam)(", "ffn", ("tiny",),
                              "optimizer"),
    "torch: eps x 10": torch_step("ten times epsilon", "eps=protocol.EPSILON", "eps=1e-7", "ffn", ("tiny",),
                                  "optimizer"),
    "torch: dampening": torch_step("dampened momentum", "momentum=protocol.MOMENTUM,",
                                   "momentum=protocol.MOMENTUM, dampening=0.1,", "resnet50", ("tiny",), "optimizer"),
    "tf: Keras's epsilon": AdapterMutant("optimizer", "epsilon before the bias correction", "tf_graph", "ffn", {
        RULES: (("protocol.EPSILON * tf.sqrt(1.0 - power2)", "protocol.EPSILON"),)}),
    "tf: no decay": AdapterMutant("optimizer", "no weight decay", "tf_graph", "ffn", {
        RULES: (("p.assign(p * (1.0 - protocol.LEARNING_RATE * protocol.WEIGHT_DECAY))", "pass"),)}),
    "tf: count stands": AdapterMutant("optimizer", "the count stays 1", "tf_graph", "ffn", {
        RULES: (("self.count.assign_add(1.0)", "self.count.assign(1.0)"),)}),
    "tf: count kept": AdapterMutant("optimizer", "a fresh state goes on counting", "tf_graph", "ffn", {
        RULES: (("        super().reset()\n        self.count.assign(0.0)\n", "        super().reset()\n"),)}),
    "tf: momentum": AdapterMutant("optimizer", "momentum of 0.8", "tf_graph", "resnet50", {
        RULES: (("momentum=protocol.MOMENTUM,", "momentum=0.8,"),)}),
    "keras: the paper's epsilon": keras_step(
        "judged by the paper's formula", 'OWN = {"adamw": "keras_adamw"}', "OWN = {}", kind="optimizer"),
    "keras: eps x 10": keras_step("ten times epsilon", "epsilon=protocol.EPSILON", "epsilon=1e-7", kind="optimizer"),
    "keras: no decay": keras_step("no weight decay", "weight_decay=protocol.WEIGHT_DECAY", "weight_decay=0.0",
                                  kind="optimizer"),
    "keras: coupled decay": AdapterMutant("optimizer", "Adam with L2 regularisation", "keras_jax", "ffn", {
        KERAS: (("        return optimizers.AdamW(", KERAS_COUPLED),
                ("            weight_decay=protocol.WEIGHT_DECAY,\n", ""))}),
    "keras: mean loss": keras_step("the epoch's mean loss in place of a step's",
                                   '            vars(self.model)["_loss_tracker"] = last_loss(self.keras)',
                                   "            pass"),
    "keras: statistics stand": keras_step(
        "batch norms are frozen", KERAS_NAMED,
        f"        for layer in self.model.layers:\n            layer.momentum = 1.0\n{KERAS_NAMED}",
        "resnet50", "buffer"),
    **{f"numpy: {name}": AdapterMutant("optimizer", name, "numpy", "ffn", {"numpy/numpy_adapter.py": changes})
       for name, changes in NUMPY_OPTIMIZERS.items()},
    # --- steps that do something else than the optimizer alone would ---
    "torch: no backward": torch_step("the backward pass is skipped", TORCH_BACKWARD, "        if optimizer is None:"),
    "torch: no backward, ResNet": torch_step("the backward pass is skipped", TORCH_BACKWARD,
                                             "        if optimizer is None:", "resnet50"),
    "torch: no update": torch_step("the optimizer is skipped", TORCH_UPDATE, "        return state, loss.detach()"),
    "torch: gradients add up": torch_step("gradients aren't cleared", "        model.zero_grad(set_to_none=True)\n"
                                          "        loss = self.loss(**batch)\n        loss.backward()\n        if opt",
                                          "        loss = self.loss(**batch)\n        loss.backward()\n        if opt"),
    "torch: step without decay": torch_step("the step's optimizer decays nothing", TORCH_SETUP, NO_DECAY_IN_STEP,
                                            kind="optimizer"),
    "torch: vectors without decay": torch_step("biases and norms aren't decayed", "        " + TORCH_SETUP, VECTORS,
                                               kind="optimizer"),
    "torch: a part is trained": torch_step("the first parameter isn't updated", TORCH_SETUP, TORCH_SETUP.replace(
        "self.model.parameters()", "list(self.model.parameters())[1:]")),
    "jax: moments forgotten": AdapterMutant("stack", "each step begins with fresh moments", "jax_jit", "gpt2", {
        JAX: ((JAX_APPLY, JAX_APPLY.replace("parameters, moments =", "parameters, _ =")),)}, ("tiny", "small")),
    "jax: no update": AdapterMutant("stack", "the optimizer is skipped", "jax_jit", "gpt2", {
        JAX: ((JAX_APPLY, "        return (parameters,"),)}),
    "tf: no update": AdapterMutant("stack", "the optimizer is skipped", "tf_graph", "gpt2", {
        TF: (("        self.updater.apply(gradients)\n        return loss", "        return loss"),)},
        ("tiny", "small")),
    "torch: late output": AdapterMutant("stack", "after five calls the output is off by 1e-4", "torch_eager", "ffn", {
        TORCH: (("            return state, self.forward(**batch)", LATE_TORCH),)},
        pass_="forward"),
    "numpy: late output": AdapterMutant("stack", "after five calls the output is off by 1e-4", "numpy", "ffn", {
        "numpy/numpy_adapter.py": ((NUMPY_FORWARD, LATE_NUMPY),)}, pass_="forward"),
    # --- what only the timed steps do wrong: their replay is right ---
    "torch: timed without decay": torch_step(
        "the timed steps decay nothing, their replay does", TORCH_SETUP,
        TORCH_SETUP + COUNTED + "        if optimizer is not None and self.places == 1:\n"
        "            optimizer.param_groups[0]['weight_decay'] = 0.0\n", kind="optimizer"),
    "torch: timed with frozen statistics": torch_step(
        "the timed steps leave running statistics alone, their replay doesn't", TORCH_SETUP,
        TORCH_SETUP + COUNTED + "        for norm in self.model.modules():\n"
        "            if isinstance(norm, self.torch.nn.BatchNorm2d):\n"
        "                norm.momentum = 0.0 if self.places == 1 else 0.1\n", "resnet50", kind="buffer"),
    # --- late: right in the first steps, wrong in those that are timed ---
    "torch: stops computing": stops(
        "the fourth step and all later ones return the third's loss", "torch_eager", "ffn", TORCH_PLACED,
        (TORCH_BEGIN, f"{SINCE}        if self.since > 3:\n            return state, self.kept\n{TORCH_BEGIN}"),
        (TORCH_END, "        self.kept = loss.detach()\n        return state, self.kept")),
    "torch: stops updating": stops(
        "from the ninth step on the loss is computed and nothing else", "torch_eager", "gpt2", TORCH_PLACED,
        (TORCH_BEGIN, (f"{SINCE}        if self.since > 8:\n            return state, self.loss(**batch).detach()\n"
                      f"{TORCH_BEGIN}"))),
    "torch: stops learning": stops(
        "from the ninth step on the gradients are those of the step before", "torch_eager", "gpt2", TORCH_PLACED,
        (TORCH_BEGIN, TORCH_BEGIN.replace(
            "        loss.backward()\n", f"        loss.backward()\n{SINCE}"
            "        for p in model.parameters():\n"
            "            p.grad = p.grad if self.since < 9 else self.stale[p]\n"
            "        self.stale = {p: p.grad for p in model.parameters()}\n"))),
    "torch: frozen layer": stops(
        "from the ninth step on the first parameter isn't updated", "torch_eager", "gpt2", TORCH_PLACED,
        (TORCH_UPDATE, f"{SINCE}        if self.since > 8:\n            next(model.parameters()).grad = None\n"
                       + TORCH_UPDATE)),
    "torch: late bf16": stops(
        "from the ninth step on the loss is computed under autocast", "torch_eager", "gpt2", TORCH_PLACED,
        (TORCH_BEGIN, (f"{SINCE}        if self.since > 8:\n            with self.autocast():\n"
                      "                loss = self.loss(**batch).float()\n            loss.backward()\n"
                      f"            optimizer.step()\n            return state, loss.detach()\n{TORCH_BEGIN}"))),
    "torch: momentum stops": stops(
        "from the ninth step on momentum is forgotten", "torch_eager", "resnet50", TORCH_PLACED,
        (TORCH_UPDATE, f"{SINCE}        if self.since > 8:\n            optimizer.param_groups[0]['momentum'] = 0.5\n"
                       + TORCH_UPDATE)),
    "torch: late without decay": stops(
        "from the ninth step on nothing decays", "torch_eager", "gpt2", TORCH_PLACED,
        (TORCH_UPDATE, f"{SINCE}        if self.since > 8:\n            {NO_DECAY}{TORCH_UPDATE}")),
    "torch: moments in bf16": rounded_moment("exp_avg", "f32"),
    "bf16, torch: first moment in bf16": rounded_moment("exp_avg", "bf16"),
    "bf16, torch: second moment in bf16": rounded_moment("exp_avg_sq", "bf16"),
    "torch: lazy decay": stops(
        "elements without a gradient aren't decayed", "torch_eager", "llama", (TORCH_UPDATE, LAZY)),
    "torch: step without decay, other dims": AdapterMutant(
        "late", "the step's optimizer decays nothing, where there is no reference", "torch_eager", "llama",
        {TORCH: ((TORCH_SETUP, NO_DECAY_IN_STEP),)}, dims=(("seq", 10),)),
    "jax: stops computing": stops(
        "the fourth step and all later ones return the third's loss", "jax_jit", "ffn", JAX_PLACED,
        (JAX_STEP, JAX_STEP.replace("        return", SINCE + KEEPS.format(call="self.call(state, batch)") + "\n#"))),
    "tf: stops computing": stops(
        "the fourth step and all later ones return the third's loss", "tf_graph", "ffn", TF_PLACED,
        (TF_STEP, TF_KEEPS)),
    "numpy: stops computing": stops(
        "the fourth step and all later ones return the third's loss", "numpy", "ffn", NUMPY_PLACED,
        (NUMPY_STEP, SINCE + NUMPY_KEEPS + NUMPY_STEP)),
    "torch: keeps its output": stops(
        "the fourth call and all later ones return the third's output", "torch_eager", "ffn", TORCH_PLACED,
        ("        return self.call(state, batch)", SINCE + KEEPS.format(call="self.call(state, batch)")),
        pass_="forward"),
    "jax: keeps its output": stops(
        "the fourth call and all later ones return the third's output", "jax_jit", "gpt2", JAX_PLACED,
        (JAX_STEP, JAX_STEP.replace("        return", SINCE + KEEPS.format(call="self.call(state, batch)") + "\n#")),
        pass_="forward"),
    "tf: keeps its output": stops(
        "one output for every call of the process", "tf_graph", "ffn",
        (TF_STEP, TF_KEEPS),
        pass_="forward"),
    "numpy: keeps its output": stops(
        "the fourth call and all later ones return the third's output", "numpy", "mha", NUMPY_PLACED,
        (NUMPY_STEP, SINCE + NUMPY_KEEPS + NUMPY_STEP), pass_="forward"),
    "numpy: keeps its gradients": stops(
        "the fourth call and all later ones return the third's loss and gradient", "numpy", "selu", NUMPY_PLACED,
        (NUMPY_STEP, SINCE + NUMPY_KEEPS + NUMPY_STEP)),
    # --- an exported program ---
    "onnxruntime: keeps its inputs": exported(
        "the first batch is bound for all later ones",
        (BOUND_INPUTS, "        self.kept = batch = getattr(self, 'kept', None) or batch\n" + BOUND_INPUTS)),
    "onnxruntime: a constant input": exported(
        "the first batch of all is a constant of the program",
        (BOUND_INPUTS, "        if 'tokens' in batch:\n"
         "            Program.kept = batch = getattr(Program, 'kept', batch)\n" + BOUND_INPUTS),
        ("self.weights | batch", "self.weights | Program.kept")),
    "onnxruntime: larger epsilon": exported(
        "the exporter writes ten times the epsilon of every norm", (ONNX_TEXT,
        "                [each.__setattr__('f', 10 * each.f) for node in proto.graph.node\n"
        "                 for each in node.attribute if each.name == 'epsilon'] and False or " + ONNX_TEXT.strip())),
    **of_every_runtime(),
    **{f"{stack}: a constant input": exported(
        "the first batch of all is a constant of the program",
        (inputs, inputs.replace(
            "batch", "(vars(self.torch).setdefault('kept', batch) if 'tokens' in batch else batch)")),
        stack=stack) for stack, inputs in (("openvino", "value in batch.items()"), ("torch_aot", "*batch.values()]"))},
    "openvino: its default precision": exported(
        "nothing forces or checks float32: bfloat16 on CPUs that have its arithmetic",
        ("            hints.inference_precision: wanted,\n", ""), ("!= wanted:", "is None:"), stack="openvino",
        workload="ffn"),
    "openvino: weights in half": exported(
        "weights are rounded to float16, as in a saved model",
        ("(tensor.contiguous().numpy()",
         "((tensor.half().float() if tensor.is_floating_point() else tensor).contiguous().numpy()"), stack="openvino"),
    "torch_aot: bf16 as f32": AdapterMutant("precision", "computes f32 under autocast", "torch_aot", "ffn", {
        MODULES: (('if precision != "bf16":', 'if precision == "tf32":'),)}, pass_="forward"),
    "iree: keeps its inputs": exported(
        "the first call's arguments are those of every later call",
        (IREE_LEAVES, f"self.__dict__.setdefault('kept', {IREE_LEAVES})"), stack="iree"),
    "iree: another constant": exported(
        "the compiler is handed another program: GELU's half is 0.499",
        ("lowered.as_text(),", "lowered.as_text().replace('5.000000e-01', '4.990000e-01'),"), stack="iree",
        workload="ffn"),
    "iree: moments begin at one": AdapterMutant(
        "optimizer", "AdamW's moments don't begin at zero", "iree", "ffn", {IREE: ((
            IREE_MOMENT, IREE_MOMENT.replace("(moment)", "(moment) + np.asarray(moment).dtype.type(1)")),)}),
    "iree: a buffer donated twice": AdapterMutant(
        "optimizer", "both moments begin in one buffer", "iree", "ffn", {IREE: ((
            IREE_MOMENT, "moment"),)}),
    "iree: state isn't returned": AdapterMutant(
        "stack", "a training step's results are those of its first call", "iree", "gpt2", {IREE: ((
            "unflatten(results_tree, arrays)",
            "unflatten(results_tree, self.__dict__.setdefault(str(tree), arrays))"),)}),
    # --- buffers ---
    "torch: inference": torch_step("training runs in inference mode", ".train(self.train)", ".train(False)", "resnet50",
                                   kind="buffer"),
    "jax: buffers forgotten": AdapterMutant("buffer", "new running statistics are dropped", "jax_jit", "resnet50", {
        JAX: (("        (loss, buffers), gradients = self", "        (loss, _), gradients = self"),)},
        ("tiny", "small")),
    "torchax: its own batch norm": AdapterMutant(
        "buffer", "torchax's norm, whose statistics stand", "torchax_jit", "resnet50", {
        "torchax/torchax_jit_adapter.py": (("        if training:\n", "        if False:\n"),)}),
    "torch_xla: its own batch norm": AdapterMutant(
        "buffer", "its norm, whose variance is biased", "torch_xla", "resnet50", {
        "torch_xla/torch_xla_adapter.py": (("if isinstance(module, self.batch_norms)", "if False"),)}),
    # --- precision ---
    "jax: bf16 as f32": AdapterMutant("precision", "computes f32 in bfloat16", "jax_jit", "ffn", {
        JAX: (('if self.case.precision != "bf16":', 'if self.case.precision == "tf32":'),
              ('if self.case.precision == "bf16" else tree', 'if self.case.precision != "tf32" else tree'))}),
    "jax: bf16 in the loss": AdapterMutant("precision", "the loss alone in bfloat16, where no probe looks", "jax_jit",
                                           "gpt2", {JAX: (('if self.case.precision == "bf16" else tree',
                                                           'if self.case.precision != "tf32" else tree'),)}),
    "torch: bf16 as f32": AdapterMutant("precision", "computes f32 under autocast", "torch_eager", "ffn", {
        MODULES: (('if precision != "bf16":', 'if precision == "tf32":'),)}),
    "torch: bf16 in the loss": torch_step(
        "the loss alone under autocast, where no probe looks", TORCH_LOSS, "torch_modules.in_precision("
        "lambda **batch: self.dialect.loss(self.model, **batch), 'bf16', self.autocast)", sizes=("tiny",),
        kind="precision"),
    "tf: bf16 as f32": AdapterMutant("precision", "computes f32 in bfloat16", "tf_graph", "ffn", {
        TF: (('self.mix(case.precision == "bf16")', "self.mix(True)"),)}),
    "torch: gradients in bf16, ResNet": rounded_gradients("resnet50", ("tiny", "small")),
    "torch: gradients in bf16, GPT-2": rounded_gradients("gpt2", ("tiny", "small")),
    "torch: step's gradients in bf16, ResNet": rounded_gradients("resnet50", ("tiny",), in_step_alone=True),
    "torch: step's gradients in bf16, GPT-2": rounded_gradients("gpt2", ("tiny", "small"), in_step_alone=True),
    "jax: gradients in bf16, ResNet": AdapterMutant(
        "precision", "gradients are rounded to bfloat16", "jax_jit", "resnet50", {JAX: ((
            "        self.loss_and_gradients = self.jax.value_and_grad(self.loss, has_aux=True)\n", ROUNDED_JAX),)},
        ("tiny", "small")),
    "jax: f32 as bf16": AdapterMutant("precision", "computes bf16 in float32", "jax_jit", "ffn", {
        JAX: (('if self.case.precision != "bf16":', "if True:"), ('if self.case.precision == "bf16" else tree',
                                                                  "if False else tree"))}, precision="bf16"),
    "torch: f32 as bf16": AdapterMutant("precision", "computes bf16 in float32", "torch_eager", "ffn", {
        MODULES: (('if precision != "bf16":', "if precision:"),)}, precision="bf16"),
    "tf: f32 as bf16": AdapterMutant("precision", "computes bf16 in float32", "tf_graph", "ffn", {
        TF: (('self.mix(case.precision == "bf16")', "self.mix(False)"),)}, precision="bf16"),
    # --- in bf16, in the step that both precisions share ---
    "bf16, torch: no backward": torch_step("the backward pass is skipped", TORCH_BACKWARD,
                                           "        if optimizer is None:", "resnet50", ("tiny",), precision="bf16"),
    "bf16, torch: step without decay": torch_step("the step's optimizer decays nothing", TORCH_SETUP, NO_DECAY_IN_STEP,
                                                  sizes=("tiny",), kind="optimizer", precision="bf16"),
    "bf16, torch: inference": torch_step("training runs in inference mode", ".train(self.train)", ".train(False)",
                                         "resnet50", ("tiny",), "buffer", "bf16"),
    # --- in bf16 alone: float32 is right ---
    "bf16 alone, torch: no backward": torch_step(
        "the backward pass is skipped, in bf16", TORCH_BACKWARD,
        "        if self.case.precision != 'bf16':\n            loss.backward()\n        if optimizer is None:",
        "resnet50", ("tiny",), precision="bf16"),
    "bf16 alone, torch: no update": torch_step(
        "the optimizer is skipped, in bf16", TORCH_UPDATE,
        "        if self.case.precision != 'bf16':\n            optimizer.step()\n        return state, loss.detach()",
        sizes=("tiny",), precision="bf16"),
    "bf16 alone, torch: frozen statistics": torch_step(
        "running statistics stand, in bf16", TORCH_SETUP,
        TORCH_SETUP + f"        {MIXED}:\n            for norm in self.model.modules():\n"
        "                norm.momentum = 0.0\n", "resnet50", ("tiny",), "buffer", "bf16"),
    "bf16 alone, torch: reversed gradient": torch_step(
        "the first weight goes uphill, in bf16", TORCH_UPDATE,
        f"        {MIXED}:\n            next(model.parameters()).grad.neg_()\n" + TORCH_UPDATE, sizes=("tiny",),
        precision="bf16"),
    "bf16 alone, torch: step without decay": torch_step(
        "the step's optimizer decays nothing, in bf16", TORCH_SETUP,
        TORCH_SETUP + f"        {MIXED} and optimizer is not None:\n"
        "            optimizer.param_groups[0]['weight_decay'] = 0.0\n", sizes=("tiny",), kind="optimizer",
        precision="bf16"),
    "bf16 alone, jax: a coarser epsilon": AdapterMutant(
        "optimizer", "ten times epsilon, in bf16", "jax_jit", "ffn",
        {RUNTIME: ((f"self.transform: Any = {OPTIMIZER}", COARSE_IN_MIXED),)}, precision="bf16"),
}  # fmt: skip

# {mutant that the gate can't see in bf16: why}. Anything else that is missed is a defect of the gate.
MISSED: dict[str, str] = {}
