"""Parses the values of options: quantities, shares, dims, outcomes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from suite.case import Outcome
from suite.errors import UserError, unknown
from suite.units import parse

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
        if word not in {*Outcome}:
            raise unknown("outcome", word, Outcome, of="--again")
    return frozenset(words)


def needed(option: str, value: str | None) -> str:
    """Returns the value of an option that a command needs. Raises UserError if it isn't given."""
    if not value:
        example = EXAMPLES.get(option, "s3://bucket/stack-wars, or a folder")
        raise UserError(f"--{option} is needed, like --{option}={example}.")
    return value
