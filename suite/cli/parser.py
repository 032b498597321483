"""Parses the words typed after a task's name into the dataclass of the task's options, with cyclopts, and lists these
options for help and for completion in a shell.

cyclopts raises a typed exception for every mistake. This module turns it into one sentence, with the option that was
probably meant.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, TypeVar

from cyclopts import App, CycloptsError, Parameter
from cyclopts.exceptions import CoercionError, MissingArgumentError, RepeatArgumentError, UnknownOptionError
from invoke.parser.argument import Argument

from suite.cli.options.shared import Options
from suite.errors import COMMAND, UserError, unknown_word

KINDS = {int: "a whole number", float: "a number"}
T = TypeVar("T", bound=Options)


def parse(task: str, options: type[T], typed: Sequence[str]) -> T:
    """Returns the options typed after a task's name. Raises UserError for a word that isn't understood."""
    app = app_of(options)
    types = {name: argument.hint for argument in app.assemble_argument_collection() for name in argument.names}
    try:
        refuse_values(types, typed)
        read, bound, _ = app.parse_args(typed, exit_on_error=False, print_error=False)
        words: tuple[str, ...] = bound.args
        parsed: T = read(*bound.args, **bound.kwargs)
        return (with_words(parsed, words, typed, types) if words else parsed).split()
    except CycloptsError as mistake:
        refusal = explained(mistake)
    except UserError as mistake:
        refusal = str(mistake)
    raise UserError(f"{refusal} `{COMMAND} {task} --help` lists its options.")


def app_of(options: type[T]) -> App:
    """Returns cyclopts' parser for the options of a dataclass. Words without an option are left to the caller."""

    def read(*words: str, options: Any) -> Any:
        return options

    read.__annotations__ = {"words": str, "options": Annotated[options, Parameter(name="*", negative=())]}
    read.__kwdefaults__ = {"options": options()}
    app = App(help_flags=(), version_flags=(), help_format="plaintext")
    app.default(read)
    return app


def refuse_values(types: Mapping[str, Any], typed: Sequence[str]) -> None:
    """Raises UserError for values that cyclopts misreads: it takes --json=yes for true, and --repeats=2.5 for 2."""
    for word, following in itertools.pairwise([*typed, ""]):
        option, has_value, value = word.partition("=")
        kind = types.get(option.replace("_", "-"))
        if kind is bool and has_value:
            raise UserError(f"{option} takes no value: {value}.")
        number = value if has_value else following
        if kind in (int, int | None) and "." in number:
            raise UserError(f"{option} takes {KINDS[int]}, not '{number}'.")


def with_words(options: T, words: Sequence[str], typed: Sequence[str], types: Mapping[str, Any]) -> T:
    """Returns the options with the `words` that were typed without an option, like A and B of `compare A B`. Raises
    UserError if the command takes no such words, or if the order of words and option is unclear."""
    field, place = options.WORDS[0] if options.WORDS else "", typed.index(words[0])
    if not field:
        before = typed[place - 1] if place else ""
        is_flag = types.get(before) is bool
        raise UserError(f"{before} takes no value: {words[0]}." if is_flag else f"'{words[0]}' belongs to no option.")
    last = max((place for place, word in enumerate(typed) if word.partition("=")[0] == f"--{field}"), default=-1)
    if place < last:
        raise UserError(f"'{words[0]}' stands before --{field}, so that their order isn't clear.")
    return options.with_words(words)


def explained(mistake: CycloptsError) -> str:
    """Returns a sentence that says which word wasn't understood, and why."""
    match mistake:
        case UnknownOptionError():
            word = (mistake.token.keyword or mistake.token.value).partition("=")[0]
            known = [name for argument in mistake.argument_collection for name in argument.names]
            return unknown_word("option", word, [name for name in known if name.startswith("--")])
        case MissingArgumentError(argument=argument) if argument is not None:
            return f"{mistake.keyword or argument.name} needs a value, like {argument.name}=..."
        case RepeatArgumentError():
            return f"{mistake.token.keyword} is given more than once."
        case CoercionError(token=token, target_type=kind) if token is not None and kind in KINDS:
            return f"{token.keyword} takes {KINDS[kind]}, not '{token.value}'."
    return str(mistake)


def arguments(options: type[Options]) -> list[Argument]:
    """Returns the options as invoke's own objects, for its help and for completion in a shell."""
    return [
        Argument(
            names=(argument.name.removeprefix("--"),),
            kind=argument.hint if argument.hint in (bool, int) else str,
            help=help_of(argument),
        )
        for argument in app_of(options).assemble_argument_collection(parse_docstring=True)
        if argument.name.startswith("--")
    ]


def help_of(argument: Any) -> str:
    """Returns an option's help: its text, whether it can be repeated, and its default, unless the text names it."""
    text, default = " ".join((argument.parameter.help or "").split()), argument.field_info.default
    name = argument.name.removeprefix("--").replace("-", "_")
    listed = {name, f"{name}_"} & Options.LISTS
    notes = ["repeatable, also as a list: a,b" if listed else "repeatable"] if argument.token_count()[1] else []
    if default not in (None, "", (), False) and "(default:" not in text:
        notes.append(f"default: {', '.join(default) if isinstance(default, tuple) else default}")
    return f"{text} ({'; '.join(notes)})".strip() if notes else text
