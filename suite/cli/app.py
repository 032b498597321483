"""The command line, `./stackwars`: which commands there are, and how each of them ends.

0 every planned case ended as a result, 1 machines of a Ray cluster were lost and comparisons have no result, 2 usage,
3 some case is `error`, `crashed` or `wrong`, 4 nothing was measured, 5 a comparison found a regression, 6 a set names
packages or variables that aren't this project's, 130 interrupted. docs/reference/commands.md has the whole table.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from errno import EACCES, EDQUOT, ELOOP, ENAMETOOLONG, ENOSPC, ENOTDIR, EPERM, EROFS
from typing import Any

from cyclopts import App, CycloptsError, Group, Parameter
from cyclopts.exceptions import UnknownCommandError, UnknownOptionError, UnusedCliTokensError

from suite.cli import extras
from suite.cli.terminal.streams import plain_streams
from suite.errors import COMMAND, UserError, unknown_word
from suite.machine import limits

USAGE, INTERRUPTED, BROKEN_PIPE = 2, 130, 141
REFUSALS = {EACCES, EPERM, EROFS, ENOSPC, EDQUOT, ENAMETOOLONG, ELOOP, ENOTDIR}  # none is this program's mistake


def default_text(value: Any) -> str | None:
    """Returns an option's default as its help shows it; None for a default that says nothing."""
    return (", ".join(value) if isinstance(value, tuple) else str(value)) if value else None


def app_of(name: str, **settings: Any) -> App:
    """Returns a program whose mistakes are raised as exceptions, which `code_of` prints."""
    return App(
        name=name,
        help_format="plaintext",
        default_parameter=Parameter(negative=(), show_default=default_text),
        group_arguments=Group("Words", sort_key=0),
        group_parameters=Group("Options", sort_key=2),
        result_action="return_value",
        exit_on_error=False,
        print_error=False,
        suppress_keyboard_interrupt=False,
        **settings,
    )


TITLES = {"measure": "Measure", "read": "Read result sets", "share": "Share result sets", "here": "This machine"}
GROUPS = {name: Group(title, sort_key=place) for place, (name, title) in enumerate(TITLES.items())}
# A command's module is imported when the command is called, so that listing the commands is fast.
OWN = {
    "measure": {
        "run": ("measure.run:run", "Measure a new result set and write its report; or complete an interrupted one."),
        "ask": ("measure.ask:ask", "Ask a question of your own: a file with inputs and functions, or expressions."),
        "frontier": ("measure.run:frontier", "Search, stack by stack, for the largest batch that fits under a limit."),
        "explain": ("measure.run:explain", "Show by a profiler where a step's time goes and whose kernels take it."),
        "predict": ("measure.predict:predict", "Ask compilers if a step would fit on an accelerator that isn't here."),
        "reproduce": ("measure.reproduce:reproduce", "Run the plan of a result set here, and check its speedups."),
    },
    "read": {
        "report": ("sets.report:report", "Render a result set's report: its HTML page, or Markdown, CSV or JSON."),
        "compare": ("sets.compare:compare", "Compare result sets case by case; or two values of a field within one."),
        "ir": ("sets.programs:ir", "Compare the programs that two cases hand to their compilers."),
    },
    "share": {"sets": ("sets.listing:sets", "List the result sets in a folder of this machine, or in an archive.")},
    "here": {
        "list": ("project.catalogue:catalogue", "List workloads, stacks, sizes, presets, and what can't run here."),
        "doctor": ("project.doctor:doctor", "List what is missing on this machine, with the remedy."),
        "setup": ("project.environments:setup", "Make the environments of a target from hashed locks."),
        "build": ("project.environments:build", "Build the images of a target, one for each environment."),
        "images": ("project.environments:images", "List the images that are built: size, lock, age."),
    },
}
COMMANDS = {
    name: (group, f"suite.cli.{path}", about) for group, own in OWN.items() for name, (path, about) in own.items()
} | extras.commands()
APP = app_of(
    COMMAND,
    version="Stack Wars 0.2.0",
    help_flags=("--help", "-h", "--list"),
    help=f"The same computation on many frameworks, under one clock. `{COMMAND} run --help` has the options of a run.",
)
for place, (command, (group, path, about)) in enumerate(COMMANDS.items()):
    APP.command(path, name=command, group=GROUPS[group], sort_key=place, help=about, help_flags=("--help", "-h"))


def code_of(app: App, words: Sequence[str]) -> int:
    """Runs a command. Returns its exit code, and prints a mistake that the user can mend, without a traceback. Removes
    control characters from all output."""
    with plain_streams():
        try:
            code, told = app(words) or 0, ""
            sys.stdout.flush()
        except CycloptsError as mistake:
            code, told = USAGE, refusal(app.name[0], mistake)
        except UserError as mistake:
            code, told = USAGE, str(mistake)
        except KeyboardInterrupt:  # by OpenBLAS, too, where a limit on processes lets it start no thread
            code, told = INTERRUPTED, " ".join(["Interrupted.", *limits.warnings()])
        except BrokenPipeError:  # `./stackwars list | head`
            code, told = BROKEN_PIPE, ""
        except SystemExit as ended:  # Rich ends the program itself where a help text's pipe breaks
            if not isinstance(ended.__context__, BrokenPipeError):
                raise
            code, told = BROKEN_PIPE, ""
        except (MemoryError, ImportError, OSError, RuntimeError) as failed:
            code, told = USAGE, starved(failed)
            if not told:
                raise
        try:
            print(told, end="\n" if told else "", file=sys.stderr)
            sys.stdout.flush()
        except OSError:  # Python writes at its end what a stream still holds: it goes nowhere
            for stream in (sys.stdout, sys.stderr):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        return code


def starved(failed: Exception) -> str:
    """Returns the sentence about a failure for want of memory, of what a shell limits (threads, files), or of a right
    or room to read or write. Empty for any other. cyclopts wraps what a library raised as it was loaded."""
    cause = failed.__cause__ or failed
    if isinstance(cause, OSError) and cause.errno in REFUSALS:
        return f"{cause.filename or 'The output'} can't be read or written: {cause.strerror}."
    tight = limits.warnings()
    if not tight and not isinstance(cause, MemoryError):
        return ""
    what = "out of memory" if isinstance(cause, MemoryError) else f"{type(cause).__name__}: {cause}"
    return " ".join([f"The command ended: {what}.", *tight])


def refusal(program: str, mistake: CycloptsError) -> str:
    """Returns a sentence on the word that wasn't understood, with the one that was probably meant."""
    chain = " ".join([program, *(mistake.command_chain or ())])
    match mistake:
        case UnknownCommandError(unused_tokens=[word, *_]):
            kind = "option" if word.startswith("-") else "command"
            return (
                f"{unknown_word(kind, word, [*COMMANDS, '--help', '--list', '--version'])} `{chain} --help` lists all."
            )
        case UnknownOptionError():
            word = (mistake.token.keyword or mistake.token.value).partition("=")[0]
            known = [name for argument in mistake.argument_collection for name in argument.names]
            told = unknown_word("option", word, known)
        case UnusedCliTokensError(unused_tokens=[word, *_]):
            told = f"'{word}' belongs to no option."
        case _:
            told = str(mistake)
    return f"{told} `{chain} --help` lists its options."


def run_tool(name: str, function: Callable[..., int | None]) -> None:
    """Runs one of this repository's own programs, whose options are the parameters of a function, and exits."""
    app = app_of(f"python -m {name}")
    app.default(function)
    sys.exit(code_of(app, sys.argv[1:]))


def main() -> None:
    if refused := limits.refusal():
        print(refused, file=sys.stderr)
        sys.exit(USAGE)
    sys.exit(code_of(APP, sys.argv[1:]))
