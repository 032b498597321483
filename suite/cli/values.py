"""The kinds of values that options take, and how they are parsed: lists, quantities, shares, dims, outcomes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter, Token

from suite.case import Outcome
from suite.errors import UserError, check_known
from suite.units import parse

LATEST = "results/latest"


def split(texts: Iterable[str]) -> tuple[str, ...]:
    """Returns the words of texts that may be lists, like `numpy,jax_jit`."""
    return tuple(word.strip() for text in texts for word in text.split(",") if word.strip())


def parse_list(kind: Any, tokens: Sequence[Token]) -> tuple[str, ...]:
    """Returns the values of an option that is repeated or has a list, like --stack=numpy,jax_jit."""
    return split(token.value for token in tokens)


def parse_whole(kind: Any, tokens: Sequence[Token]) -> int:
    """Returns a whole number. cyclopts would take 2.5 for 2."""
    try:
        return int(tokens[0].value)
    except ValueError:
        raise ValueError(f"'{tokens[0].value}' is no whole number.") from None


Names = Annotated[tuple[str, ...], Parameter(converter=parse_list)]
Several = Annotated[tuple[str, ...], Parameter(consume_multiple=True)]
Whole = Annotated[int, Parameter(converter=parse_whole)]
Json = Annotated[bool, Parameter(help="print one JSON object on standard output, and nothing else")]
ResultsFolder = Annotated[str, Parameter(help="folder for result sets")]
Origin = Annotated[
    str | None,
    Parameter(
        help="use the result sets of this archive, in place of those here: a folder, s3://bucket/prefix, "
        "gs://bucket/prefix or the https:// address of a site; credentials come from the environment"
    ),
]
WorkloadPath = Annotated[tuple[str, ...], Parameter(help="a folder of your own workloads")]
StackPath = Annotated[
    tuple[str, ...], Parameter(help="a stack of your own: its file <stack>_adapter.py, or a folder of such files")
]
Engine = Annotated[
    str, Parameter(help="how processes are contained: local, docker, or auto: docker if it works here, else local")
]
Force = Annotated[bool, Parameter(help="run even beside another run on this machine")]


def typed(name: str, value: Any) -> list[str]:
    """Returns an option as a person types it, from its name in Python: `--stack=numpy`, once for each value. True is an
    option without a value; None and False are no option."""
    option = "--" + name.rstrip("_").replace("_", "-")
    values = value if isinstance(value, tuple | list) else (value,)
    return [option if each is True else f"{option}={each}" for each in values if each is not None and each is not False]


def absolute(paths: Sequence[str]) -> tuple[Path, ...]:
    """Returns paths as absolute ones, since a set may be resumed from another folder."""
    return tuple(Path(path).absolute() for path in paths)


EXAMPLES = {"set": "2026-11-21.cpu.3f2a91c", "workload": "gpt2"}


def parse_quantity(text: str, units: Mapping[str, int], option: str, example: str) -> float:
    """Returns the number of a text like `512MiB` or `10min`. Raises UserError, which shows `example`, for other
    text."""
    quantity = parse(text, units)
    if quantity is None:
        unit = " A number needs its unit." if re.fullmatch(r"\s*[\d.]+\s*", text) else ""
        raise UserError(f"--{option}={text} isn't understood.{unit} Write it like --{option}={example}.")
    return quantity


def parse_share(text: str, option: str) -> float:
    """Returns the share of a text like `2%` or `0.02`, from 0 to under 1. Raises UserError for any other text."""
    number = re.fullmatch(r"\s*(\d+(?:\.\d+)?|\.\d+)\s*(%?)\s*", text)
    share = float(number[1]) / (100 if number[2] else 1) if number else 1.0
    if share >= 1:
        raise UserError(
            f"--{option}={text} isn't understood: it must be a share under 1, like --{option}=2% or --{option}=0.02."
        )
    return share


def parse_dims(text: str) -> dict[str, int]:
    """Returns the dims of one comparison from a text like `n=1024` or `batch=2,seq=64`. Raises UserError for any other
    text, and for a dim that is named twice."""
    dims: dict[str, int] = {}
    for part in text.split(","):
        name, _, value = (word.strip() for word in part.partition("="))
        if not name or not re.fullmatch(r"\d+", value):
            raise UserError(f"--dims {text} isn't understood: a dim is a name and a whole number, like --dims n=1024.")
        if name in dims:
            raise UserError(
                f"--dims {text} names {name} twice. Each --dims is a question of its own: "
                f"--dims {name}={dims[name]} --dims {name}={value}."
            )
        dims[name] = int(value)
    return dims


def parse_outcomes(words: Sequence[str]) -> frozenset[str]:
    """Returns the outcomes that `--again` names. Raises UserError for an unknown one."""
    for word in words:
        check_known("outcome", word, [*Outcome], of="--again")
    return frozenset(words)


def needed(option: str, value: str | None) -> str:
    """Returns the value of an option that a command needs. Raises UserError if it isn't given."""
    if not value:
        example = EXAMPLES.get(option, "s3://bucket/stack-wars, or a folder")
        raise UserError(f"--{option} is needed, like --{option}={example}.")
    return value
