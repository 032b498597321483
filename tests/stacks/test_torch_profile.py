"""A GPU's kernels by the operations that launched them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from suite.ir.timeline import Category, profile
from suite.stacks.torch.torch_profile import of_gpu


def event(name: str, on: str, begin: int, end: int, own: int = 0, launcher: int = 0, note: bool = False) -> Any:
    """An event of Kineto's, with the methods that are read."""
    return SimpleNamespace(
        name=lambda: name,
        device_type=lambda: SimpleNamespace(name=on),
        device_index=lambda: 0,
        device_resource_id=lambda: 7,
        is_user_annotation=lambda: note,
        correlation_id=lambda: own,
        linked_correlation_id=lambda: launcher,
        start_ns=lambda: begin,
        duration_ns=lambda: end - begin,
    )


EVENTS = [
    event("aten::addmm", "CPU", 0, 900, own=1),
    event("aten::_fused_adamw_", "CPU", 900, 1000, own=2),
    event("cudaLaunchKernel", "CPU", 910, 920, own=1, launcher=2),  # its number is CUDA's, not an operation's
    event("## Call CompiledFxGraph ##", "CUDA", 90, 1060, note=True),
    event("sm90_xmma_gemm_f32f32", "CUDA", 100, 400, own=1, launcher=1),
    event("triton_per_fused_native_layer_norm_0", "CUDA", 400, 500),
    event("Memcpy DtoD (Device -> Device)", "CUDA", 500, 520),
    event("multi_tensor_apply_kernel", "CUDA", 950, 1050, launcher=2),
    event("somebody_s_kernel", "CUDA", 1050, 1060),
]


def test_the_device_s_time_counts_and_what_it_waits_for_is_the_host_s() -> None:
    found = profile("torch.profiler", of_gpu(EVENTS), 1, 1.1e-6, 1e-6)
    nanoseconds = {category: round(1e9 * seconds) for category, seconds in found.categories.items()}
    assert nanoseconds == {
        Category.PRODUCTS: 300,
        Category.NORMS: 100,
        Category.COPIES: 20,
        Category.OPTIMIZER: 100,
        Category.UNATTRIBUTED: 10,
        Category.HOST: 570,
    }
