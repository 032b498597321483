"""The command line: `./stackwars`, or `invoke` in an activated .venv. It is invoke's program with our own exit codes.

0 every planned case ended as a result, 1 machines of a Ray cluster were lost and comparisons have no result, 2 usage,
3 some case is `error`, `crashed` or `wrong`, 4 nothing was measured, 5 a comparison found a regression, 6 a set names
packages or variables that aren't this project's, 130 interrupted. docs/reference/commands.md has the whole table.
"""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from invoke.collection import Collection
from invoke.exceptions import Exit as Leave
from invoke.exceptions import ParseError, UnexpectedExit
from invoke.parser.argument import Argument
from invoke.parser.context import ParserContext
from invoke.parser.parser import ParseResult
from invoke.program import Program
from invoke.tasks import Task

from suite.cli.options.shared import Options
from suite.cli.terminal.streams import plain_streams
from suite.errors import COMMAND, UserError, unknown_word

ROOT = Path(__file__).resolve().parents[2]
USAGE, INTERRUPTED, BROKEN_PIPE = 2, 130, 141
SHELL_TASKS = ("check", "test", "docs", "clean")  # tasks that run shell commands
SHELL_OPTIONS = (
    "dry",
    "echo",
    "hide",
    "pty",
    "warn-only",
    "command-timeout",
)  # invoke's options that act on these alone


class Command(Task[Any]):
    """An invoke task. Its second parameter is a dataclass, whose fields are its options; it returns its exit code."""

    def __init__(self, body: Callable[..., int | None], **settings: Any) -> None:
        super().__init__(body, positional=(), **settings)
        second = [*inspect.signature(body, eval_str=True).parameters.values()][1:]
        self.options: type[Options] = second[0].annotation if second else Options

    def get_arguments(self, ignore_unknown_help: bool | None = None) -> list[Argument]:
        """Returns the options as invoke's own objects."""
        from suite.cli import parser  # imports cyclopts, which takes time, only when options are needed

        return parser.arguments(self.options)

    def __call__(self, context: Any, options: Options | None = None) -> None:
        """Runs the task. Without `options` every option has its default."""
        given = [options or self.options()] if self.options is not Options else []
        code = super().__call__(context, *given)
        if code:
            raise Leave(code=code)


def command(**settings: Any) -> Callable[[Callable[..., int | None]], Command]:
    """Makes a function an invoke task; `settings` are those of invoke's own `task`."""

    def decorate(body: Callable[..., int | None]) -> Command:
        return Command(body, **settings)

    return decorate


class Commands(Program):
    """invoke's program, changed: cyclopts reads the options, and a mistyped word ends in exit code 2 and a proposal."""

    def run(self, argv: list[str] | None = None, exit: bool = True) -> None:
        """Parses the command line and runs the task. Removes control characters from all output. Prints a mistake that
        the user can mend without a traceback."""
        with plain_streams():
            code = self.code_of(argv)
        if exit:
            sys.exit(code)

    def code_of(self, argv: list[str] | None) -> int:
        """Parses the command line and runs the task. Returns the exit code, and prints why if it isn't 0."""
        code, text = 0, ""
        try:
            self.understand(argv)
            self.execute()
        except UserError as mistake:
            code, text = USAGE, str(mistake)
        except Leave as end:
            code, text = end.code, end.message or ""
        except UnexpectedExit as failed:
            code = failed.result.exited
        except KeyboardInterrupt:
            code, text = INTERRUPTED, "Interrupted."
        except BrokenPipeError:  # `./stackwars list | head`
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            code = BROKEN_PIPE
        if text:
            print(text, file=sys.stderr)
        return code

    def understand(self, argv: list[str] | None) -> None:
        """Reads the command line and invoke's configuration. Raises UserError for a word that isn't understood."""
        self.create_config()
        writes_no_byte_code = sys.dont_write_bytecode
        try:
            self.parse_core(argv)
            # invoke turns off writing byte code, to leave none beside tasks.py. That would slow every later start.
            sys.dont_write_bytecode = writes_no_byte_code
            self.parse_collection()
            self.parse_tasks()
            self.parse_cleanup()
            self.update_config()
        except ParseError as mistake:
            raise UserError(f"{mistake} `{COMMAND} --help` lists the options.") from None
        except Leave as end:
            if end.message:
                raise UserError(end.message) from None
            raise

    def parse_tasks(self) -> None:
        """Reads the task's name and its options, in place of invoke's own parser; or prints the task's help."""
        task = self.args.help.value
        if isinstance(task, str):
            self.print_task_help(self.known(task))
            raise Leave
        self.tasks = ParseResult()
        if self.args.complete.value or not self.core.unparsed:
            return
        word, *typed = self.core.unparsed
        if word.startswith("-"):
            flags = [name for name in self.initial_context.flag_names() if name.startswith("--")]
            refusal = unknown_word("option", word.partition("=")[0], flags)
            raise UserError(f"{refusal} `{COMMAND} --help` lists the options.")
        name = self.known(word)
        if self.core.remainder:
            raise UserError(f"`{COMMAND} {name}` takes nothing after `--`.")
        if name not in SHELL_TASKS and (given := [flag for flag in SHELL_OPTIONS if self.args[flag].value]):
            raise UserError(
                f"--{given[0]} acts on check, test, docs and clean alone. `{COMMAND} {name} --help` lists its options."
            )
        if {"--help", "-h"} & set(typed):
            self.print_task_help(name)
            raise Leave
        from suite.cli import parser  # imports cyclopts, which takes time, only when options are needed

        options = parser.parse(name, self.collection[name].options, typed)
        self.tasks.append(ParserContext(name, args=[Argument("options", default=options)]))

    def known(self, name: str) -> str:
        """Returns a task's name unchanged. Raises UserError if there is no task of this name."""
        if name not in self.collection.task_names:
            tasks = self.collection.task_names
            raise UserError(f"{unknown_word('task', name, tasks)} `{COMMAND} --list` lists the tasks.")
        return name

    def print_help(self) -> None:
        """Prints all tasks, and those of invoke's options that act on every task."""
        print(f"Usage: {self.binary} [--core-options] <task> [--options]\n\nCore options:\n")
        hidden = {f"--{name}" for name in (*SHELL_OPTIONS, "prompt-for-sudo-password", "write-pyc")}
        flags = self.initial_context.help_tuples()
        self.print_columns([(flag, text) for flag, text in flags if not any(name in flag for name in hidden)])
        self.list_tasks()

    def print_task_help(self, name: str) -> None:
        """Prints what a task does, and its options."""
        command = self.collection[name]
        arguments = command.get_arguments()
        words = "".join(f" [{word.upper().rstrip('_')}]" for word in command.options.WORDS)
        words += " [--options]" if arguments else ""
        print(f"Usage: {self.binary} {name}{words}\n\n{inspect.getdoc(command.body)}\n")
        if arguments:
            first = command.options.FIRST
            often = sorted((it for it in arguments if it.name in first), key=lambda it: first.index(it.name))
            rest = [it for it in arguments if it not in often]
            for heading, some in (("Used most", often), ("Other options" if often else "Options", rest)):
                if some:
                    print(f"{heading}:")
                    self.print_columns(ParserContext(name, args=some).help_tuples())


def run_tasks(tasks: ModuleType) -> None:
    """Runs the task that the command line names, from a module of tasks, and exits."""
    Commands(name="Stack Wars", binary=COMMAND, namespace=Collection.from_module(tasks), version="0.2.0").run()


def main() -> None:
    """Runs this project's tasks, whichever folder the console script is called from."""
    sys.path.insert(0, str(ROOT))
    import tasks

    run_tasks(tasks)
