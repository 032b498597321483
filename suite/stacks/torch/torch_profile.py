"""Reads PyTorch's operations from torch.profiler as spans with categories. The framework comes in as an argument."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from suite.ir.timeline import Category, Span, by_rules

MOVES = (
    r"aten::(_?to(_copy)?|copy_|clone|contiguous|cat|stack|t|transpose|permute|(_unsafe_)?view|reshape|expand|"
    r"slice|split\w*|chunk|narrow|as_strided|select|unsqueeze|squeeze|empty\w*|zeros\w*|zero_|fill_|detach_?|"
    r"alias|unbind|resolve_\w+|set_|resize_|ones\w*|full\w*|lift\w*|item|_local_scalar_dense)$"
)
# (pattern, category): the first pattern found in a name decides. Inductor names kernels after the operations in them.
RULES = (
    (r"^Optimizer\.step|_fused_adamw|_fused_sgd|_foreach_", Category.OPTIMIZER),
    (r"scaled_dot_product|(flash|efficient|cudnn)_attention|fmha|(?<!log)_softmax|aten::softmax", Category.ATTENTION),
    (r"convolution|aten::_?conv", Category.CONVOLUTIONS),
    (r"(layer|batch|group|rms)_norm", Category.NORMS),
    (
        r"aten::(addmm|b?mm|baddbmm|linear|matmul|einsum|addmv|mv|dot)|mkl\w*::.*linear|onednn::.*linear",
        Category.PRODUCTS,
    ),
    (MOVES, Category.COPIES),
    (r"^aten::|cpp_fused|^triton_", Category.ELEMENTWISE),
    (r"^(?!autograd::|profiler::)\w+::", Category.UNATTRIBUTED),  # an operation that no rule above knows
)
GPU_RULES = ((r"^Mem(cpy|set)", Category.COPIES), *(rule for rule in RULES if rule[1] is not Category.UNATTRIBUTED))


def spans(torch: Any, steps: Callable[[], None], target: str) -> list[Span]:
    kinds = torch.profiler.ProfilerActivity
    with torch.profiler.profile(activities=[kinds.CPU, *([kinds.CUDA] if target == "cuda" else [])]) as profile:
        steps()
    events = profile.profiler.kineto_results.events()
    return list(of_gpu(events) if target == "cuda" else of_events(events))


def of_events(events: Any) -> Iterator[Span]:
    """Yields the spans of Kineto's events; an event that only wraps others has no category."""
    for event in events:
        begin = event.start_ns() / 1e9
        yield Span(
            str(event.start_thread_id()),
            event.name(),
            begin,
            begin + event.duration_ns() / 1e9,
            by_rules(event.name(), RULES),
        )


def of_gpu(events: Any) -> Iterator[Span]:
    """Yields the spans of a GPU's kernels and copies. A kernel has the category of the operation that launched it; one
    that Inductor generated, which no operation launches, that of its own name.

    A GPU's events include the annotations around its kernels. Those of a host include CUDA's own calls, whose numbers
    are of another kind; these are linked to an operation, which itself is linked to none (torch/autograd/profiler.py).
    """
    events = list(events)
    on_device = [each for each in events if each.device_type().name == "CUDA" and not each.is_user_annotation()]
    operations = [each for each in events if each.device_type().name == "CPU" and not each.linked_correlation_id()]
    launchers = {each.correlation_id(): each.name() for each in operations}
    for event in on_device:
        begin, name = event.start_ns() / 1e9, event.name()
        launcher = launchers.get(event.linked_correlation_id(), "")
        category = by_rules(name, GPU_RULES) or by_rules(launcher, RULES) or Category.UNATTRIBUTED
        thread = f"GPU {event.device_index()} stream {event.device_resource_id()}"
        yield Span(thread, name, begin, begin + event.duration_ns() / 1e9, category)
