"""Generated code, read as Python."""

from __future__ import annotations

import pytest

from suite.ir.inductor import calls

CODE = '''
from torch._inductor.select_algorithm import extern_kernels
async_compile = AsyncCompile()
# extern_kernels.mm(in a comment)
cpp_fused_add_0 = async_compile.cpp_pybinding(["float*"], """ extern_kernels.mm( cpp_fused_x( """)
class Runner:
    def call(self, args):
        arg0_1, = args
        buf0 = empty_strided_cpu((8, 8), (8, 1), torch.float32)
        extern_kernels.mm(arg0_1, arg0_1, out=buf0)
        cpp_fused_add_0(buf0)
        cpp_fused_mul_1(
            buf0)
        buf2 = torch.ops.mkldnn._linear_pointwise.default(buf0, "extern_kernels.mm(")
        return (buf0, )
def benchmark_compiled_module():
    extern_kernels.mm(1, 2)
'''


def test_kernels_are_those_that_the_graph_calls() -> None:
    assert calls(CODE) == {"extern_kernels.mm": 1, "cpp_fused": 2, "torch.ops.mkldnn._linear_pointwise.default": 1}


def test_what_is_no_python_is_refused() -> None:
    with pytest.raises(SyntaxError):
        calls("class Runner:\n    def call(self, args)\n")
