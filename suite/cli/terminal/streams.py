"""Removes control characters from standard output and standard error while a command runs."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import Any, TextIO, cast

from suite.guard.printable import printable


class Plain:
    """A stream that removes control characters, which a set, a worker or a file's name may contain. Rich writes its
    colours to the stream in the attribute `rich_proxied_file`, which is the original one."""

    def __init__(self, stream: TextIO) -> None:
        self.rich_proxied_file = stream

    def write(self, text: str) -> int:
        return self.rich_proxied_file.write(printable(text))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.rich_proxied_file, name)


def unfiltered(stream: TextIO) -> TextIO:
    """Returns the stream behind a `Plain`, for text that draws; another stream is returned unchanged."""
    return stream.rich_proxied_file if isinstance(stream, Plain) else stream


@contextmanager
def plain_streams() -> Iterator[None]:
    """Removes control characters from standard output and standard error while a command runs. A character that a
    stream's encoding lacks is replaced: what was measured counts more than how its unit is spelled."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # closed, as by `>&-`: no other file may take its number
            setattr(sys, name, open("/dev/null", mode, encoding="utf-8"))  # noqa: PTH123, SIM115 - for the whole program
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    with redirect_stdout(cast(TextIO, Plain(sys.stdout))), redirect_stderr(cast(TextIO, Plain(sys.stderr))):
        yield
