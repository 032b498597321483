"""A command line as the program reads it, and what a command says, both without a process of its own."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import chdir, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from invoke.collection import Collection
from invoke.program import Program

import tasks
from suite.cli import parser
from suite.cli.options.shared import Options
from suite.cli.program import Commands
from suite.errors import COMMAND

TASKS = Collection.from_module(tasks)
FLAGS = {context.name: set(context.flags) for context in TASKS.to_contexts()}
CORE = {name for argument in Program().core_args() for name in (f"--{argument.name}",)}


def parsed(words: Sequence[str]) -> tuple[str, Options]:
    """Returns a task and its options. Raises UserError for options that don't exist, and KeyError for such a task."""
    name, *typed = words
    return name, parser.parse(name, {task: TASKS[task] for task in TASKS.task_names}[name].options, typed)


def answered(*words: object, cwd: Path = Path()) -> CompletedProcess[str]:
    """What a command says and its exit code, in this process: a new one would import for seconds what is here."""
    out, error = StringIO(), StringIO()
    with redirect_stdout(out), redirect_stderr(error), chdir(cwd), pytest.raises(SystemExit) as end:
        Commands(name="Stack Wars", binary=COMMAND, namespace=TASKS).run([COMMAND, *map(str, words)])
    assert isinstance(end.value.code, int)
    return CompletedProcess(words, end.value.code, out.getvalue(), error.getvalue())
