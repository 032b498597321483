"""Reads docs/published/: what other documents published, each with its source and the conditions of its figures."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from suite.errors import UserError

FOLDER = Path(__file__).parents[3] / "docs" / "published"

Text = Annotated[str, msgspec.Meta(min_length=1)]
Positive = Annotated[float, msgspec.Meta(gt=0)]


class PublishedTime(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"pass_": "pass"}):
    """A time in seconds of a workload of this suite. `device` is as the document names it; of several chips, each of
    which has `dims`, one is named. `ends` says where the result was when the clock stopped. `dims` are those that the
    document gives."""

    workload: Text
    dims: Mapping[str, int]
    pass_: Text
    stack: Text
    device: Text
    ends: Literal["host", "device", "not said"]
    seconds: Positive
    precision: Literal["f32", "tf32", "bf16"] = "f32"


class PublishedFigure(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A figure of what isn't a workload of this suite: what was measured, and by which library, version or setting. `×`
    is a factor of time, `%` a share of what the document compares with."""

    of: Text
    by: Text
    value: Positive
    unit: Literal["s", "×", "%"] = "s"


class PublishedVerdict(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A document's verdict whether a model's training step fits into a device's memory. `fits` is {framework, as the
    document names it: whether it fits}."""

    workload: Text
    device: Text
    fits: Mapping[str, bool]


class Document(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One document. `claim` is what it says, in our words; `url` is empty if there is no public copy. `date`,
    `hardware` and `versions` are empty where it doesn't say, and `conditions` is what else is known of how it measured.

    `question` names the file of examples/ whose set is held against the claim. `apart` is the reason why no figure of
    this suite can be. `rerun` is a command that measures the nearest that this suite has.
    """

    title: Text
    claim: Text
    url: Annotated[str, msgspec.Meta(pattern="^(https://.+)?$")]
    conditions: Text
    date: datetime.date | None = None
    hardware: str = ""
    versions: str = ""
    question: str = ""
    apart: str = ""
    rerun: str = ""
    times: tuple[PublishedTime, ...] = ()
    figures: tuple[PublishedFigure, ...] = ()
    verdicts: tuple[PublishedVerdict, ...] = ()


@lru_cache(maxsize=1)
def documents(folder: Path = FOLDER) -> tuple[Document, ...]:
    """Returns the documents, by name. Raises UserError, with the file's name, for a file that isn't valid."""
    return tuple(document(path) for path in sorted(folder.glob("*.toml")))


def document(path: Path) -> Document:
    """Returns the document of one file. Raises UserError for one that isn't valid."""
    try:
        return msgspec.toml.decode(path.read_bytes(), type=Document)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as broken:
        raise UserError(f"{path} can't be read: {broken}.") from broken
