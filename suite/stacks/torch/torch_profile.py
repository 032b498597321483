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
    (r"scaled_dot_product|(?<!log)_softmax|aten::softmax", Category.ATTENTION),
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


def spans(torch: Any, steps: Callable[[], None]) -> list[Span]:
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        steps()
    return list(of_events(profile.profiler.kineto_results.events()))


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
