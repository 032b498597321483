"""Removes control characters from standard output and standard error while a command runs."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import Any, TextIO, cast

from suite.guard.printable import printable


class Plain:
    """A stream that drops control characters, which a set, a worker or a file's name may hold. Rich finds the stream
    below by the name `rich_proxied_file`, and writes its colours there."""

    def __init__(self, stream: TextIO) -> None:
        self.rich_proxied_file = stream

    def write(self, text: str) -> int:
        """Writes text without its control characters."""
        return self.rich_proxied_file.write(printable(text))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.rich_proxied_file, name)


@contextmanager
def plain_streams() -> Iterator[None]:
    """Makes both streams plain for as long as a command runs."""
    with redirect_stdout(cast(TextIO, Plain(sys.stdout))), redirect_stderr(cast(TextIO, Plain(sys.stderr))):
        yield
