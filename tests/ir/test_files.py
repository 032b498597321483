"""What a process leaves of its programs, by the names of files."""

from __future__ import annotations

import os
from pathlib import Path

from suite.ir import files


def test_xla_s_dumps_are_found_by_their_names(tmp_path: Path) -> None:
    for name in (
        "0003.jit_step.before_optimizations.hlo.pb",
        "0003.jit_step.cpu_after_optimizations.txt",
        "0003.jit_step.cpu_after_optimizations-buffer-assignment.txt",
        "0003.jit_step.x.o",
        "0004.Sync.12.before_optimizations.hlo.pb",
        "0005.f.sm_90_gpu_after_optimizations.txt",
        "0005.f.before_optimizations.txt",
        "0005.f.sm_90_gpu_after_optimizations.hlo.pb",
        "0005.f.cpu_after_optimizations-buffer-assignment.pb",
    ):
        (tmp_path / f"module_{name}").touch()
    assert [name for name, _ in files.dumped(tmp_path)] == [
        "0003-jit_step.before.pb",
        "0003-jit_step.after.txt",
        "0004-Sync.12.before.pb",
        "0005-f.after.pb",
        "0005-f.after.txt",
    ]


def test_inductor_s_graphs_come_in_the_order_of_their_making(tmp_path: Path) -> None:
    for age, name in enumerate(("b", "a")):
        path = tmp_path / name / f"{name}.py"
        path.parent.mkdir()
        path.write_text("async_compile = AsyncCompile()", encoding="utf-8")
        os.utime(path, ns=(age, age))
    (tmp_path / "other.py").write_text("x = 1", encoding="utf-8")
    assert [name for name, _ in files.generated(tmp_path)] == ["0000-b.py", "0001-a.py"]


def test_programs_are_known_by_step_number_and_name(tmp_path: Path) -> None:
    for name in (
        "second-0010-f-g.before.pb",
        "first-0009-f.before.pb",
        "first-0009-f.after.txt",
        "first-0009-f.after.pb",
        "first-0011-x.py",
        "lowered.mlir",
    ):
        (tmp_path / name).touch()
    found = files.captured(tmp_path)
    assert [(each.step, each.name) for each in found] == [("first", "f"), ("second", "f-g"), ("first", "x")]
    assert [(each.after.exists(), each.after_proto.exists()) for each in found] == [(True, True), *[(False, False)] * 2]
