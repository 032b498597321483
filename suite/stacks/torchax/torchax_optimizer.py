"""An optimizer of PyTorch's as optax has it: torchax trains with optax. The gate holds its steps against PyTorch's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from suite.stacks.base import Unsupported

# What changes the equations; all other options, like `fused`, say how they are computed.
UNLIKE = ("amsgrad", "maximize", "dampening", "centered")


def of_torch(torch: Any, optax: Any, optimizer: Any, model: Any) -> Any:
    """Returns the optax transformation that does what `optimizer(parameters)` of PyTorch does, for named parameters."""
    with torch.device("cpu"):
        names = {id(value): name for name, value in model.named_parameters()}
        made = optimizer(model.parameters())
    groups = [(group, [names[id(value)] for value in group["params"]]) for group in made.param_groups]
    transforms = {str(place): of_group(torch, optax, type(made), group) for place, (group, _) in enumerate(groups)}
    if len(groups) == 1:
        return transforms["0"]
    frozen = dict.fromkeys(names.values(), "frozen")
    labels = frozen | {name: str(place) for place, (_, of) in enumerate(groups) for name in of}
    return optax.partition(transforms | {"frozen": optax.set_to_zero()}, labels)


def of_group(torch: Any, optax: Any, kind: Any, group: Mapping[str, Any]) -> Any:
    """Returns the transformation of one group of parameters, which has its own options."""
    rate, decay = group["lr"], group["weight_decay"]
    if option := next((name for name in UNLIKE if group.get(name)), None):
        raise Unsupported(f"torchax trains with optax, which has no {kind.__name__} with {option}")
    before = optax.add_decayed_weights(decay) if decay else optax.identity()
    if kind is torch.optim.SGD:
        return optax.chain(before, optax.sgd(rate, group["momentum"] or None, group["nesterov"]))
    if kind not in (torch.optim.Adam, torch.optim.AdamW):
        raise Unsupported(
            f"torchax trains with optax; the suite knows its counterparts of SGD, Adam, AdamW, not of {kind.__name__}"
        )
    (b1, b2), eps = group["betas"], group["eps"]
    if kind is torch.optim.AdamW:
        return optax.adamw(rate, b1, b2, eps, weight_decay=decay)
    return optax.chain(before, optax.adam(rate, b1, b2, eps))
