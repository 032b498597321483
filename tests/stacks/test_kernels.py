"""Logs and programs as libraries really wrote them (PyTorch 2.13, TensorFlow 2.21, JAX 0.10.2), read again."""

from __future__ import annotations

from pathlib import Path

import pytest

from suite.stacks.kernels import LibraryLogs, libraries
from suite.stacks.xla import compiler

MKL = """\
MKL_VERBOSE oneMKL 2024.0 Update 2 Product build 20240605 for Intel(R) 64 architecture {path}, Lnx 2.60GHz \
lp64 gnu_thread
MKL_VERBOSE SGEMM(N,N,512,512,512,0x7ffe7787e910,0x7f4758d28040,512,0x7f4758d28040,512,0x7ffe7787e930,0x7f4758b26040,\
512) 52.59ms CNR:OFF Dyn:0 FastMM:1 TID:0  NThr:2
MKL_VERBOSE SGEMM(T,N,128,32,512,0x7ffe7787dad0,0x7f4758d28040,512,0x7f4758d28040,512,0x7ffe7787daf0,0x55c80c175e00,\
128) 110.79us CNR:OFF Dyn:0 FastMM:1 TID:0  NThr:2
"""
ONEDNN = """\
onednn_verbose,v1,info,oneDNN v3.12.0 (commit 80afa71049cd69a3df32adcccb623b12cd7baa22)
onednn_verbose,v1,info,cpu,isa:Intel AVX-512 with Intel DL Boost and bfloat16 support
onednn_verbose,v1,primitive,info,template:operation,engine,primitive,implementation,prop_kind,memory_descriptors,\
attributes,auxiliary,problem_desc,exec_time
onednn_verbose,v1,primitive,exec,cpu,reorder,jit:uni,undef,src:f32::blocked:abcd::f0 dst:f32:p:blocked:Acdb16a::f0,\
attr-scratchpad:user,,8x3x3x3,0.00512695
onednn_verbose,v1,primitive,exec,cpu,convolution,jit:avx512_core,forward_training,src:f32:a:blocked:abcd::f0 \
wei:f32:ap:blocked:Acdb16a::f0 bia:f32:a:blocked:a::f0 dst:f32:ap:blocked:aBcd16b::f0,attr-scratchpad:user,\
alg:convolution_direct,mb2_ic3oc8_ih32oh30kh3sh1dh0ph0_iw32ow30kw3sw1dw0pw0,26.157
onednn_verbose,v1,primitive,exec,cpu,matmul,brg_matmul:avx512_core_bf16,undef,src:bf16::blocked:ab::f0 \
wei:bf16::blocked:ab::f0 dst:bf16::blocked:ab::f0,attr-scratchpad:user,,512x512:512x512,30.6309
onednn_verbose,v1,primitive,exec,cpu,gemm_api,,undef,src_f32::blocked:ab:f0 wei_f32::blocked:ab:f0 \
dst_f32::blocked:ab:f0,,,512x512:512x512,7.0249
onednn_verbose,v1,primitive,exec,cpu,convolution,ref:any,undef,src:f32,,,8x8,1e-05
"""
ANNOUNCED = "AVX-512 with DL Boost and bfloat16 support"


def logs(step: str, before: str = "", folder: Path = Path("/nowhere")) -> LibraryLogs:
    return LibraryLogs(before=before, step=step, folder=folder)


@pytest.mark.parametrize(
    ("path", "isa"),
    [
        ("Intel(R) Architecture processors", "default path"),  # what it says on AMD's
        ("Intel(R) Advanced Vector Extensions 2 (Intel(R) AVX2) enabled processors", "AVX2"),
        (
            "Intel(R) Advanced Vector Extensions 512 (Intel(R) AVX-512) with support of INT8 enabled processors",
            "AVX-512",
        ),
        (
            "Intel(R) Advanced Vector Extensions 512 (Intel(R) AVX-512) with support for INT8 instructions",
            "AVX-512",
        ),  # AMX
    ],
)
def test_mkl_names_its_path_for_this_processor(path: str, isa: str) -> None:
    [used] = libraries(logs(MKL.format(path=path)))
    assert (used.library, used.isa, used.calls) == ("MKL", isa, 2)
    assert used.seconds == pytest.approx(0.05259 + 0.00011079)


def test_one_dnn_names_an_implementation_for_each_call() -> None:
    found = libraries(logs(ONEDNN))
    assert [(used.library, used.isa, used.calls) for used in found] == [
        ("oneDNN", "avx512_core_bf16", 1),
        ("oneDNN", "avx512_core", 1),
        ("oneDNN", ANNOUNCED, 2),
        ("oneDNN", "ref:any", 1),
    ]
    assert found[0].seconds == pytest.approx(0.0306309)


ARM = """\
onednn_verbose,v1,info,cpu,isa:AArch64 SVE (256 bits)
onednn_verbose,v1,primitive,exec,cpu,matmul,gemm:acl,undef,src:f32::blocked:ab::f0,,,512x512:512x512,9.5
onednn_verbose,v1,primitive,exec:external,NEMeanStdDevNormalizationKernel,2.1
onednn_verbose,v1,primitive,exec,cpu,matmul,brg_matmul:sve_256,undef,src:bf16::blocked:ab::f0,,,512x512:512x512,4.5
onednn_verbose,v1,primitive,exec,cpu,reorder,jit:uni,undef,src:f32::blocked:ab::f0,,,257x768,0.0368652
"""


def test_one_dnn_s_implementations_on_arm_are_named() -> None:
    found = libraries(logs(ARM))
    assert [(used.isa, used.calls) for used in found] == [("acl", 1), ("sve_256", 1), ("AArch64 SVE (256 bits)", 1)]


def test_only_the_step_counts_but_what_was_announced_before_it_holds() -> None:
    [used] = libraries(logs(ONEDNN.splitlines()[-2] + "\n", before=ONEDNN + MKL))
    assert (used.isa, used.calls) == (ANNOUNCED, 1)


@pytest.mark.parametrize("text", ["", "MKL_VERBOSE\n", "onednn_verbose,v1,primitive,exec,cpu\n", "loss 0.3\n"])
def test_what_is_not_told_is_not_guessed(text: str) -> None:
    assert libraries(logs(text)) == []


PROGRAM = """\
HloModule jit_f, is_scheduled=true

%fused_computation.5 (param_0.9: f32[512,512]) -> f32[512,512] {
  %param_0.9 = f32[512,512]{1,0} parameter(0)
  ROOT %dot_general.3 = f32[512,512]{1,0} dot(%param_0.9, %param_0.9), lhs_contracting_dims={1}
}

%fused_computation.7 (param_0.2: f32[512,512]) -> f32[512,512] {
  ROOT %select = f32[512,512]{1,0} select(%a, %b, %c)
}

%fused_computation.1 (param_0.3: f32[512,512]) -> f32[] {
  ROOT %reduce = f32[] reduce(%param_0.3, %zero), dimensions={0,1}
}

ENTRY %main.1 (a.1: f32[512,512]) -> f32[] {
  %a.1 = f32[512,512]{1,0} parameter(0)
  %ynn_fusion.5 = f32[512,512]{1,0} fusion(%a.1), kind=kCustom, calls=%fused_computation.5, \
backend_config={"outer_dimension_partitions":[],"fusion_config":{"kind":"__ynn_fusion"}}
  %multiply_select_fusion = f32[512,512]{1,0} fusion(%ynn_fusion.5), kind=kLoop, calls=%fused_computation.7
  %conv = f32[2,30,30,8]{3,2,1,0} convolution(%b, %c), window={size=3x3}, dim_labels=b01f_01io->b01f
  %call = f32[8]{0} custom-call(%conv), custom_call_target="__onednn$matmul"
  ROOT %ynn_fusion.1 = f32[] fusion(%conv), kind=kCustom, calls=%fused_computation.1, \
backend_config={"fusion_config":{"kind":"__ynn_fusion"}}
}
"""


def test_a_program_of_xla_s_tells_whose_kernels_it_calls(tmp_path: Path) -> None:
    folder = tmp_path / compiler.DUMP
    folder.mkdir()
    (folder / "module_0004.jit_f.cpu_after_optimizations.txt").write_text(PROGRAM)
    (folder / "module_0001.jit_g.cpu_after_optimizations.txt").write_text("ENTRY %main (a: f32[]) -> f32[] {\n}\n")
    (folder / "module_0004.jit_f.x.ir-with-opt.ll").write_text('attributes #0 = { "prefer-vector-width"="256" }')
    found = compiler.kernels_used(logs("", folder=tmp_path))
    assert {(used.library, used.isa, used.calls) for used in found} == {
        ("YNNPACK", None, 2),
        ("XLA", "256-bit vectors", 1),
        ("XLA runtime", None, 1),
        ("oneDNN", None, 1),
    }
    assert {used.library for used in found[:2]} == {"YNNPACK", "XLA runtime"}, "who has products comes first"
    assert all(used.seconds is None for used in found)


def test_op_by_op_every_program_counts(tmp_path: Path) -> None:
    folder = tmp_path / compiler.DUMP
    folder.mkdir()
    for number in range(3):
        (folder / f"module_000{number}.jit_f.cpu_after_optimizations.txt").write_text(PROGRAM)
    used = compiler.kernels_used(logs("", folder=tmp_path), one_program=False)
    assert {each.library: each.calls for each in used} == {"YNNPACK": 6, "XLA": 3, "XLA runtime": 3, "oneDNN": 3}


def test_xla_keeps_the_flags_that_it_has() -> None:
    flags = compiler.dumping({"XLA_FLAGS": "--xla_x=1", "A": "b"}, "/caches", "text")
    assert flags["A"] == "b"
    assert flags["XLA_FLAGS"].split()[:2] == ["--xla_x=1", '--xla_dump_to="/caches/xla"']
