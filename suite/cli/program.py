"""The command line, `./stackwars` and `invoke` in an activated .venv: invoke's own, with exit codes to rely on.

0 every planned case ended as a result, 2 usage, 3 some case is `error`, `crashed` or `wrong`, 4 nothing was
measured, 5 a comparison found a regression, 6 a set asks to run what isn't this project's, 130 interrupted.
"""

from __future__ import annotations

import difflib
import itertools
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from invoke.collection import Collection
from invoke.exceptions import Exit as Leave
from invoke.exceptions import ParseError, UnexpectedExit
from invoke.program import Program

from suite.cli.streams import plain_streams
from suite.errors import COMMAND, UserError

ROOT = Path(__file__).resolve().parents[2]
# Tasks that take any number of sets, and the option that each of them stands for; `report` once it is asked to compare.
LISTING = {"compare": "--set", "collect": "--set", "report": "--compare"}
USAGE, INTERRUPTED, BROKEN_PIPE = 2, 130, 141


class Commands(Program):
    """invoke exits 1 on an unknown option or task; here every usage mistake is 2, with the near match."""

    def run(self, argv: list[str] | None = None, exit: bool = True) -> None:
        """Parse and run. Never shows a traceback for what a person can mend, nor anything but text."""
        with plain_streams():
            code = self.code_of(argv)
        if exit:
            sys.exit(code)

    def code_of(self, argv: list[str] | None) -> int:
        """Parse and run; the exit code, once what there is to say was said."""
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
        """Everything before the first task runs. Raises UserError for whatever isn't understood."""
        self.create_config()
        writes_no_byte_code = sys.dont_write_bytecode
        try:
            with numbers_named(argv or sys.argv):
                self.parse_core(argv)
                # invoke turns byte code off for tasks.py's sake; here that would slow every later start.
                sys.dont_write_bytecode = writes_no_byte_code
                self.parse_collection()
                self.core.unparsed[:] = self.sets_named(self.core.unparsed)
                self.parse_tasks()
            self.refuse_stray_options()
            self.refuse_missing_values()
            self.parse_cleanup()
            self.update_config()
        except ParseError as mistake:
            raise UserError(self.explain(mistake)) from None
        except Leave as end:
            if end.message:
                raise UserError(end.message) from None
            raise

    def sets_named(self, words: list[str]) -> list[str]:
        """invoke has no list of words without an option: what `compare A B` and `report --compare A B`
        name are sets."""
        option = LISTING.get(words[0]) if words else None
        if not option or (words[0] == "report" and not any(word.partition("=")[0] == option for word in words)):
            return words
        flags = {context.name: context for context in self.collection.to_contexts()}[words[0]].flags
        named = [words[0]]
        for before, word in itertools.pairwise(words):
            is_value = before in flags and flags[before].takes_value
            named.append(word if word.startswith("-") or is_value else f"{option}={word}")
        return named

    def refuse_stray_options(self) -> None:
        """invoke takes its own options after a task's name too: `run --dry` would not be a dry run."""
        for name, argument in self.core_via_tasks.args.items():
            if argument.got_value and name not in ("help", "list", "debug"):
                raise ParseError(f"No idea what '--{name}' is!", self.tasks[-1] if self.tasks else None)

    def refuse_missing_values(self) -> None:
        """invoke takes a repeatable option without its value for one not given: all, where one was meant."""
        for task in self.tasks:
            for word, following in itertools.pairwise([*self.core.unparsed, "-"]):
                # Its dictionary's `get` doesn't know the short options, which are aliases.
                kind = task.flags[word].kind if word in task.flags else None
                if kind is list and following.startswith("-"):
                    raise ParseError(f"{word} needs a value, like {word}=...", task)

    def explain(self, mistake: ParseError) -> str:
        """What wasn't understood, its near match, and where all there is is listed."""
        contexts = {context.name: context for context in self.collection.to_contexts()}
        task = mistake.context.name if mistake.context is not None else None
        options = contexts.get(task, self.initial_context)
        tasks, listed = f"`{COMMAND} --list` lists the tasks.", f"`{COMMAND} {task} --help` lists its options."
        empty = re.match(r"Flag <Argument: ([\w-]+).*> needed value", str(mistake))
        if empty:
            option = "--" + empty[1].strip("_").replace("_", "-")
            return f"{option} needs a value, like {option}=... {listed if task else ''}".strip()
        found = re.search(r"No idea what '(.+)' is!", str(mistake))
        if not found:
            return f"{mistake} {listed if task else tasks}"
        word = found[1]
        option = option_of(word, self.argv)
        if task and option in options.flags:
            # A word that no option was left to take: the option has none, or had one already.
            takes = options.flags[option].takes_value
            return f"{option} {'is given more than once' if takes else f'takes no value: {word}'}. {listed}"
        kind, known, where = "task", [name for name in contexts if name], tasks
        if word.startswith("-"):
            kind, known = "option", [flag for flag in options.flags if flag.startswith("--")]
            where = listed if task else f"`{COMMAND} --help` lists the options."
        near = difflib.get_close_matches(word, known, n=1, cutoff=0.5)
        return " ".join([f"There is no {kind} '{word}'.", *(f"Did you mean '{n}'?" for n in near), where])


def option_of(value: str, words: list[str]) -> str:
    """The option that a value was typed with, like `--repeats=3` or `--repeats 3`; empty for none."""
    for before, word in itertools.pairwise(words):
        if word.startswith("-") and word.partition("=")[2] == value:
            return word.partition("=")[0]
        if word == value and before.startswith("-"):
            return before
    return ""


@contextmanager
def numbers_named(words: list[str]) -> Iterator[None]:
    """invoke lets int() fail: say which option wanted a whole number."""
    try:
        yield
    except ValueError as wrong:
        found = re.search(r"invalid literal for int\(\).*: '(.*)'", str(wrong))
        if not found:
            raise
        option = option_of(found[1], words) or "an option"
        raise UserError(f"{option} takes a whole number, not '{found[1]}'.") from None


def run_tasks(tasks: ModuleType) -> None:
    """Run what the command line says with a module's tasks, and exit."""
    Commands(name="Stack Wars", binary=COMMAND, namespace=Collection.from_module(tasks), version="0.1.0").run()


def main() -> None:
    """The console script. Tasks are those of this project, from whichever folder it is called."""
    sys.path.insert(0, str(ROOT))
    import tasks

    run_tasks(tasks)
