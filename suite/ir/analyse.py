"""Reads the programs that a process left in a folder, and summarises them.

Run it with the Python of an environment that has JAX: `python -m suite.ir.analyse FOLDER [HINT]`. It writes
summary.json and, for each distinct program, two compressed texts: StableHLO and XLA's optimized HLO. If a program can't
be read, it prints the reason and exits 1; if only what the compiler made of it can't, the summary has the reason. A
reason begins with HINT where XLA itself refuses to read.
"""

from __future__ import annotations

import gzip
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from suite.ir import files, inductor, parse
from suite.ir.summary import Program, contents, written


def main() -> int:
    """Analyses the folder. Returns the exit code: 0, or 1 after printing the reason on standard error."""
    folder, hint = Path(sys.argv[1]), "".join(sys.argv[2:])
    try:
        programs = analyse(folder, hint)
    except parse.Unreadable as refused:
        print(parse.reason(refused, hint), file=sys.stderr)
        return 1
    (folder / files.SUMMARY).write_text(written(programs), encoding="utf-8")
    return 0


def analyse(folder: Path, hint: str = "") -> list[Program]:
    """Returns the distinct programs of a captured folder, each with the steps that compiled it. Raises Unreadable."""
    if (folder / files.GIVEN).exists():
        return [read_given((folder / files.GIVEN).read_bytes())]
    captured = files.captured(folder)
    largest = max(captured, key=lambda program: program.before.stat().st_size, default=None)
    distinct: dict[str, Program] = {}
    for compiled in captured:
        lowered = folder / files.LOWERED if compiled is largest else None
        generated = compiled.before.suffix == files.GENERATED
        texts, program = read_generated(compiled) if generated else read(compiled, lowered, hint)
        source = next(iter(texts.values()))
        if source in distinct:
            distinct[source] = replace(distinct[source], steps=(*distinct[source].steps, compiled.step))
            continue
        distinct[source] = program
        for ending, text in texts.items():
            keep(folder / f"{program.name}{ending}.gz", text)
    for path in folder.glob(files.JAXPR):
        keep(path.with_name(f"{path.name}.gz"), path.read_text(encoding="utf-8"))
    return [*distinct.values()]


def read_generated(captured: files.Captured) -> tuple[dict[str, str], Program]:
    """Returns ({ending of its file: code}, program) of a graph that Inductor compiled. Raises Unreadable."""
    code = captured.before.read_text(encoding="utf-8")
    try:
        kernels = inductor.calls(code)
    except SyntaxError as refused:
        raise parse.Unreadable(f"{captured.before.name}: {refused}") from None
    program = Program(
        name=captured.before.stem,
        steps=(captured.step,),
        told_by="Inductor's generated code",
        kernels=dict(kernels.most_common()),
    )
    return {files.GENERATED: code}, program


def read(captured: files.Captured, lowered: Path | None, hint: str) -> tuple[dict[str, str], Program]:
    """Returns ({ending of its file: text}, program) of a program that XLA compiled. The first text is the program as
    the compiler got it; if the file `lowered` exists, it is the framework's own StableHLO. Raises Unreadable, but not
    for what the compiler made of it."""
    hlo = parse.hlo_module_proto(captured.before.read_bytes())
    source, module = handed_over(hlo, lowered)
    graph, texts = parse.Reader(module).graph(), {files.STABLEHLO: str(module)}
    compiled, unread = None, ""
    if captured.after.exists():
        texts[files.OPTIMIZED] = captured.after.read_text(encoding="utf-8")
        graph.aliases = parse.aliases_of(texts[files.OPTIMIZED])
        try:
            compiled = parse.compiled(parse.optimized(captured.after, captured.after_proto))
        except parse.Unreadable as refused:
            unread = parse.reason(refused, hint)
    program = Program(
        name=captured.before.name.removesuffix(files.BEFORE),
        steps=(captured.step,),
        told_by=source,
        contents=contents(graph, parse.cost(parse.hlo_module(hlo))),
        compiled=compiled,
        unread=unread,
    )
    return texts, program


def handed_over(hlo: bytes, lowered: Path | None) -> tuple[str, Any]:
    """Returns (where it comes from, module) of a program as the compiler got it. Raises Unreadable."""
    if lowered is not None and lowered.exists():
        try:
            return "the framework's own StableHLO", parse.parsed(lowered.read_text(encoding="utf-8"))
        except parse.Refused:  # a newer framework's; `told_by` says that the HLO was read instead
            pass
    return "HLO as it reached XLA", parse.module_of(hlo)


def read_given(text: bytes) -> Program:
    """Returns the program of a StableHLO file from the user, as text or bytecode. Raises Unreadable."""
    module = parse.parsed(text)
    summary = contents(parse.Reader(module).graph(), parse.cost(parse.hlo_module(parse.hlo_of(module))))
    return Program(name="given", steps=("given",), told_by="a file", contents=summary)


def keep(path: Path, text: str) -> None:
    """Writes a compressed file. The same text always gives the same bytes."""
    path.write_bytes(gzip.compress(text.encode("utf-8"), mtime=0))


if __name__ == "__main__":
    sys.exit(main())
