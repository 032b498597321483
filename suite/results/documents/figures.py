"""Reads docs/published/: the times and memory verdicts that other documents published, each with its source."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from suite.errors import UserError

FOLDER = Path(__file__).parents[3] / "docs" / "published"


@dataclass(frozen=True, slots=True)
class PublishedTime:
    """A time in seconds. `device` is as the document names it. `ends` says where the result was when the clock stopped:
    `host`, `device`, or `not said`. `dims` are those that the document gives."""

    workload: str
    dims: Mapping[str, int]
    pass_: str
    stack: str
    device: str
    ends: str
    seconds: float


@dataclass(frozen=True, slots=True)
class PublishedVerdict:
    """A document's verdict whether a model's training step fits into a device's memory. `fits` is {framework, as the
    document names it: whether it fits}."""

    workload: str
    device: str
    fits: Mapping[str, bool]


@dataclass(frozen=True, slots=True)
class Document:
    """One document. `url` is empty if there is no public copy; `known` is what is known of how it measured."""

    name: str
    title: str
    url: str
    known: str
    times: tuple[PublishedTime, ...]
    verdicts: tuple[PublishedVerdict, ...]

    @property
    def link(self) -> str:
        """Returns the title in Markdown, linked where there is an address."""
        return f"[{self.title}]({self.url})" if self.url else self.title


@lru_cache(maxsize=1)
def documents(folder: Path = FOLDER) -> tuple[Document, ...]:
    """Returns the documents, by name. Raises UserError, with the file's name, for a file that isn't valid."""
    return tuple(document(path) for path in sorted(folder.glob("*.toml")))


def document(path: Path) -> Document:
    """Returns the document of one file. Raises UserError for one that isn't valid."""
    try:
        table: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
        times = [{"pass_": time.pop("pass"), **time} for time in table.pop("times", [])]
        verdicts = table.pop("verdicts", [])
        return Document(
            name=path.stem,
            times=tuple(PublishedTime(**time) for time in times),
            verdicts=tuple(PublishedVerdict(**verdict) for verdict in verdicts),
            **table,
        )
    except (OSError, tomllib.TOMLDecodeError, KeyError, TypeError) as broken:
        raise UserError(f"{path} can't be read: {broken}.") from broken
