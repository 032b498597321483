"""Makes a golden file, with the Python of the environment `oracle`: `python -m tools.oracle WORKLOAD_FOLDER
SIZE FILE OPTIMIZER`. With another optimizer than the spec's, the file has digests, and no stressed weights.

The oracle, another implementation of the same architecture, gets the same canonical weights. In float64 it computes
what every stack must compute: output, loss, gradients, the movement of parameters and buffers in three optimizer steps,
and the results with stressed weights.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import nn

from suite import protocol
from suite.reference.digests import digest
from suite.reference.expected import ReferenceAnswer, Steps, named, save
from suite.workloads import catalog, trees
from suite.workloads.tensors import Tensor, generate_all, stressed

SEED = 0
WHOLE_SIZES = ("tiny", "odd")  # golden files of these sizes hold whole tensors, those of other sizes digests
NUMBER = re.compile(r"(?<=\.)\d+(?=\.)")  # of a block, in a name like `blocks.3.norm.weight`
# The axes of a module's weight in the canonical order: dense weights (inputs, outputs), convolutions HWIO.
AXES: dict[type, tuple[int, ...]] = {nn.Linear: (1, 0), nn.Conv2d: (2, 3, 1, 0)}


class Oracle:
    """Another implementation of a workload's model, with certain dims. Its tensors are read and written by the suite's
    canonical names and in the suite's canonical layout, whatever names and layout the implementation uses."""

    def __init__(self, workload: catalog.Workload, dims: Mapping[str, int], dtype: torch.dtype = torch.float64) -> None:
        module = catalog.load_module(workload.folder / "oracle.py")
        self.spec, self.dims, self.logits = workload.spec, dims, module.logits
        self.model = module.build(dims).to(dtype)
        self.dtype = dtype
        of_step = workload.tensors(dims, "train")
        self.buffers, self.tensors = of_step.buffers, of_step.parameters | of_step.buffers
        tensors = dict(self.model.named_parameters(remove_duplicate=False)) | dict(self.model.named_buffers())
        names = renamed(self.tensors, module.NAMES)
        self.model_tensors = {name: tensors[theirs] for name, theirs in names.items()}
        self.axes = {name: self.canonical_axes(theirs, tensors[theirs].ndim) for name, theirs in names.items()}

    def start(self) -> Iterator[tuple[str, NDArray[Any]]]:
        """Yields (name, canonical value) of every parameter and buffer before the first step."""
        return generate_all(self.tensors, "parameter", SEED)

    def place(self, changed: Mapping[str, Tensor] = MappingProxyType({})) -> None:
        """Copies the canonical weights into the model. `changed` replaces some of them, also in later calls of other
        methods."""
        self.tensors = self.tensors | changed
        with torch.no_grad():
            for name, value in self.start():
                self.model_tensors[name].permute(self.axes[name]).copy_(torch.from_numpy(value))

    def batch(self) -> dict[str, Any]:
        """Returns inputs and target. Integer ids have 64 bits, as PyTorch wants them."""
        tensors = dict(self.spec.inputs(self.dims)) | {"target": self.spec.target(self.dims)}
        arrays = ((name, torch.from_numpy(value)) for name, value in generate_all(tensors, "batch", SEED))
        return {name: value.to(self.dtype if value.is_floating_point() else torch.int64) for name, value in arrays}

    def outputs(self) -> dict[str, NDArray[Any]]:
        """Returns the results of a forward pass by name."""
        batch = self.batch()
        del batch["target"]
        self.model.eval()
        with torch.no_grad():
            return named(trees.mapped(torch.Tensor.numpy, self.logits(self.model, **batch)))

    def loss(self) -> Any:
        """Returns the loss, which is the mean cross-entropy. The model keeps its mode, training or inference."""
        batch = self.batch()
        target = batch.pop("target")
        return F.cross_entropy(self.logits(self.model, **batch).flatten(0, -2), target.flatten())

    def tensor(self, name: str) -> NDArray[Any]:
        """Returns a parameter or buffer as it is now, in canonical layout."""
        return self.canonical(name, self.model_tensors[name])

    def canonical(self, name: str, tensor: Any) -> NDArray[Any]:
        turned: NDArray[Any] = tensor.detach().permute(self.axes[name]).contiguous().numpy()
        return turned

    def canonical_axes(self, theirs: str, count: int) -> tuple[int, ...]:
        """The axes of one of the model's tensors, which has `count`, in the canonical order."""
        module, _, leaf = theirs.rpartition(".")
        of_weight = AXES.get(type(self.model.get_submodule(module))) if leaf == "weight" else None
        return of_weight or tuple(range(count))

    def gradients(self) -> Iterator[tuple[str, NDArray[Any]]]:
        for name in self.spec.parameters(self.dims):
            yield name, self.canonical(name, self.model_tensors[name].grad)


def renamed(ours: Iterable[str], names: Mapping[str, str]) -> dict[str, str]:
    """{our tensor: the oracle's} by its `NAMES`, which have our tensors or the modules that own them, with a star for
    each number. Raises SystemExit where these names and the tensors don't fit."""
    found, used = {}, set()
    for name in ours:
        pattern, numbers = NUMBER.sub("*", name), NUMBER.findall(name)
        owners = [pattern[:end] for end, letter in enumerate(f"{pattern}.") if letter == "."]
        owner = next((owner for owner in reversed(owners) if owner in names), None)
        if owner is None:
            raise SystemExit(f"oracle.py doesn't name {name}, which spec.py has")
        found[name] = (names[owner] + pattern.removeprefix(owner)).replace("*", "{}").format(*numbers)
        used.add(owner)
    if unused := sorted(set(names) - used):
        raise SystemExit(f"oracle.py names {', '.join(unused)}, which spec.py doesn't have")
    return found


def make(workload: catalog.Workload, size: str, optimizer_name: str) -> ReferenceAnswer:
    """Returns the answer with the optimizer's steps."""
    own = optimizer_name == workload.spec.OPTIMIZER
    whole = size in WHOLE_SIZES and own
    dims = workload.dims(size, {})
    oracle = Oracle(workload, dims)
    oracle.place()
    outputs = oracle.outputs().items()
    expected = ReferenceAnswer({name: output if whole else digest(output, name) for name, output in outputs})
    if "train" in workload.spec.PASSES:
        add_steps(expected, oracle, optimizer_name, whole)
    expected.stressed = under_stress(oracle, whole) if own else {}
    return expected


def add_steps(expected: ReferenceAnswer, oracle: Oracle, optimizer_name: str, whole: bool) -> None:
    """Adds what three training steps with an optimizer give."""
    oracle.model.train()
    optimizer, steps = make_optimizer(optimizer_name, oracle.model), Steps(whole)
    for step in range(protocol.GATE_STEPS):
        optimizer.zero_grad()
        loss = oracle.loss()
        loss.backward()
        steps.add(loss.item(), oracle.gradients())
        if step == 0:
            for name, gradient in oracle.gradients():
                expected.gradients[name] = np.array(gradient) if whole else digest(gradient, f"gradient/{name}")
        if optimizer_name == "keras_adamw":
            # Keras adds epsilon before v is corrected for its bias: that is PyTorch's AdamW with an epsilon as much
            # larger as v's root is.
            optimizer.param_groups[0]["eps"] = protocol.EPSILON / math.sqrt(1.0 - protocol.BETA2 ** (step + 1))
        optimizer.step()
    expected.losses = steps.losses
    expected.noise = steps.noise() if optimizer_name in protocol.ADAMW else {}
    expected.add_movement(oracle.start(), oracle.tensor, whole)


def under_stress(oracle: Oracle, whole: bool) -> dict[str, Any]:
    """Returns the oracle's results with the stressed weights of the spec's `STRESSED`; empty if the spec has none. The
    oracle keeps these weights."""
    weights = stressed(oracle.spec, oracle.dims)
    if not weights:
        return {}
    oracle.place(weights)
    answers = oracle.outputs()
    oracle.model.train()
    if "train" in oracle.spec.PASSES:
        with torch.no_grad():
            answers["loss"] = np.asarray(oracle.loss())
    for name, before in generate_all(oracle.buffers, "parameter", SEED):
        answers[f"buffer/{name}"] = oracle.tensor(name) - before
    return answers if whole else {name: digest(value, f"stressed/{name}") for name, value in answers.items()}


def make_optimizer(name: str, model: Any) -> Any:
    if name == "sgd":
        return torch.optim.SGD(model.parameters(), lr=protocol.LEARNING_RATE, momentum=protocol.MOMENTUM)
    return torch.optim.AdamW(
        model.parameters(),
        lr=protocol.LEARNING_RATE,
        betas=(protocol.BETA1, protocol.BETA2),
        eps=protocol.EPSILON,
        weight_decay=protocol.WEIGHT_DECAY,
    )


def main() -> None:
    folder, size, file, optimizer = sys.argv[1:]
    save(Path(file), make(catalog.load(Path(folder)), size, optimizer))


if __name__ == "__main__":
    main()
