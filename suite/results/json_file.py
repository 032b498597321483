"""JSON files of a set, read against types and with bounds: a set may come from anywhere, and what isn't what it should
be is said, by file and place, before anything is made of it.

The types are those of the vocabulary (`Case`, `Protocol`, `Attempt`, dictionaries of facts), which the workers share:
so they are plain dataclasses and typed dictionaries, checked here and in no library's own terms.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping
from enum import Enum
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, NoReturn, TypeVar, Union, get_args, get_origin, get_type_hints, is_typeddict

from suite.errors import UserError

T = TypeVar("T")
BYTES_MAX = 32 * 2**20  # a plan of twenty thousand processes
SMALL_BYTES = 2**20  # whatever else a set says of itself
TEXT_MAX = 2**16
INTEGER_MAX = 2**63 - 1  # as columns of results hold them
KINDS = {bool: "true or false", int: "a whole number", float: "a number", str: "text"}


def read(path: Path, most: int = SMALL_BYTES) -> Any:
    """What a JSON file says, of any type. Raises UserError for one that is too large, no text, no JSON or too deep."""
    with path.open("rb") as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise UserError(f"{path} is larger than any such file: over {most:,} bytes.")
    try:
        return json.loads(data.decode("utf-8"), parse_constant=no_number)
    except (ValueError, RecursionError) as broken:
        why = "too deep" if isinstance(broken, RecursionError) else str(broken)
        raise UserError(f"{path} can't be read as JSON: {why}. If it was cut short, fetch or copy it again.") from None


def no_number(word: str) -> NoReturn:
    """Raises ValueError: Python would take `NaN` and `Infinity`."""
    raise ValueError(f"{word} is no number")


def of_file(kind: type[T], path: Path, most: int = SMALL_BYTES) -> T:
    """What a JSON file says, as a value of a type. Raises UserError."""
    made: T = typed(kind, read(path, most), str(path))
    return made


def typed(kind: Any, value: Any, where: str) -> Any:
    """Parsed JSON as a value of a type: a dataclass, a typed dictionary, a tuple or a list of one type, a mapping of
    texts to one, an Enum, a union, or what JSON has itself. Raises UserError, naming the place, for any other.

    What a typed dictionary has no key for is left out: nothing here would know what to make of it.
    """
    origin, parts = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return of_union(parts, value, where)
    if is_typeddict(kind):
        hints, entries = hints_of(kind), an_object(value, where)
        for name in kind.__required_keys__ - entries.keys():
            raise UserError(f"{where} lacks '{name}'.")
        return {name: typed(hint, entries[name], f"{where}: {name}") for name, hint in hints.items() if name in entries}
    if dataclasses.is_dataclass(kind):
        return of_dataclass(kind, an_object(value, where), where)
    if origin in (tuple, list):
        if not isinstance(value, list):
            raise UserError(f"{where} should be a list, and is {shown(value)}.")
        return origin(typed(parts[0], item, f"{where}[{index}]") for index, item in enumerate(value))
    if origin in (Mapping, dict):
        return {a_text(name, where): typed(parts[1], item, f"{where}: {name[:60]}")
                for name, item in an_object(value, where).items()}  # fmt: skip
    if issubclass(kind, Enum):
        if value not in [*map(str, kind)]:
            raise UserError(f"{where} should be one of {', '.join(map(str, kind))}, and is {shown(value)}.")
        return kind(value)
    return plain(kind, value, where)


def of_dataclass(kind: Any, entries: Mapping[str, Any], where: str) -> Any:
    """A dataclass by its fields (`pass_` is `pass`), which it may have rules of its own about."""
    names = {field.name.rstrip("_"): field for field in dataclasses.fields(kind)}
    hints = hints_of(kind)
    for name in entries.keys() - names.keys():
        raise UserError(f"{where} has '{name[:60]}', which it shouldn't.")
    for name, field in names.items():
        optional = field.default is not dataclasses.MISSING or field.default_factory is not dataclasses.MISSING
        if name not in entries and not optional:
            raise UserError(f"{where} lacks '{name}'.")
    values = {names[name].name: typed(hints[names[name].name], value, f"{where}: {name}")
              for name, value in entries.items()}  # fmt: skip
    try:
        return kind(**values)
    except UserError as broken:
        raise UserError(f"{where}: {broken}") from None


def of_union(parts: tuple[Any, ...], value: Any, where: str) -> Any:
    """A value of the first type that it fits; alone beside None, that type says what is wrong."""
    if value is None and NoneType in parts:
        return None
    *others, last = (part for part in parts if part is not NoneType)
    for part in others:
        try:
            return typed(part, value, where)
        except UserError:
            continue
    return typed(last, value, where)


def plain(kind: type, value: Any, where: str) -> Any:
    """Text of some length, a truth, a number that a column can hold; a whole one may stand for any."""
    fits = type(value) in (int, float) if kind is float else type(value) is kind
    if not fits:
        raise UserError(f"{where} should be {KINDS[kind]}, and is {shown(value)}.")
    if isinstance(value, str):
        return a_text(value, where)
    if isinstance(value, int) and not -INTEGER_MAX <= value <= INTEGER_MAX:
        raise UserError(f"{where} is larger than any number that is measured.")
    if isinstance(value, float) and not math.isfinite(value):  # 1e999
        raise UserError(f"{where} is no finite number.")
    return value


def a_text(value: str, where: str) -> str:
    """It, where it can be written anywhere: not without end, and no half of a surrogate pair."""
    if len(value) > TEXT_MAX:
        raise UserError(f"{where} is longer than any text there: {len(value):,} characters.")
    if not value.isascii() and any("\ud800" <= letter <= "\udfff" for letter in value):
        raise UserError(f"{where} is no text: it has half a character.")
    return value


def an_object(value: Any, where: str) -> dict[str, Any]:
    """It, where it is a JSON object."""
    if not isinstance(value, dict):
        raise UserError(f"{where} should be an object, and is {shown(value)}.")
    return value


def shown(value: Any) -> str:
    """A wrong value, short."""
    if isinstance(value, (dict, list)):
        return "an object" if isinstance(value, dict) else "a list"
    return ascii(value)[:60]


@cache
def hints_of(kind: type) -> dict[str, Any]:
    """The types of a class's fields."""
    return get_type_hints(kind)
