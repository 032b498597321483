"""A command line as the program reads it, and what a command says, both without a process of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import chdir, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

from cyclopts import App, CycloptsError

from suite.cli.app import APP, COMMANDS, app_of, code_of, refusal
from suite.errors import COMMAND, UserError
from tools.base_image import base_image
from tools.figures.__main__ import figures
from tools.golden import golden
from tools.lock import lock
from tools.pitfalls import pitfalls

CORE = {"--help", "--list", "--version"}


def flags_of(app: App) -> set[str]:
    """The options of a command."""
    return {argument.name for argument in app.assemble_argument_collection() if argument.name.startswith("--")}


def tool(function: Callable[..., int | None]) -> App:
    """One of this repository's own programs."""
    app = app_of("tool")
    app.default(function)
    return app


TOOLS = {
    "tools.base_image": tool(base_image),
    "tools.figures": tool(figures),
    "tools.golden": tool(golden),
    "tools.lock": tool(lock),
    "tools.pitfalls": tool(pitfalls),
}
FLAGS = {name: flags_of(APP[name]) for name in COMMANDS}
FLAGS_OF_TOOLS = {name: flags_of(app) for name, app in TOOLS.items()}


def parsed(words: Sequence[str]) -> tuple[str, Any]:
    """Returns a command and its options: the dataclass of a command that has one, with the words typed without an
    option, else the arguments by name. Raises UserError for what isn't understood."""
    try:
        _, bound, _ = APP.parse_args(list(words), exit_on_error=False, print_error=False)
    except CycloptsError as mistake:
        raise UserError(refusal(COMMAND, mistake)) from None
    options = bound.arguments.get("options")
    if options is None and "options" in bound.signature.parameters:
        options = bound.signature.parameters["options"].default
    if hasattr(options, "with_words"):
        options = options.with_words(bound.args)
    return words[0], bound.arguments if options is None else options


def parsed_by_tool(words: Sequence[str]) -> dict[str, Any]:
    """Returns the arguments of a program, `tools.lock --upgrade`, by name. Raises CycloptsError for other options."""
    name, *typed = words
    return {"name": name} | TOOLS[name].parse_args(typed, exit_on_error=False, print_error=False)[1].arguments


def answered(*words: object, cwd: Path = Path()) -> CompletedProcess[str]:
    """What a command says and its exit code, in this process: a new one would import for seconds what is here."""
    out, error = StringIO(), StringIO()
    with redirect_stdout(out), redirect_stderr(error), chdir(cwd):
        code = code_of(APP, [str(word) for word in words])
    return CompletedProcess(words, code, out.getvalue(), error.getvalue())
