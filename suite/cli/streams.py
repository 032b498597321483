"""Standard output and error, on which text alone gets through."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import Any, TextIO, cast

from suite.printable import printable


class Plain:
    """A stream without control characters, whatever a set, a worker or a file's name has in it. Rich draws its colours
    on the stream below, which it finds as it finds its own."""

    def __init__(self, stream: TextIO) -> None:
        self.rich_proxied_file = stream

    def write(self, text: str) -> int:
        """Text."""
        return self.rich_proxied_file.write(printable(text))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.rich_proxied_file, name)


@contextmanager
def plain_streams() -> Iterator[None]:
    """Both, for as long as a command runs."""
    with redirect_stdout(cast(TextIO, Plain(sys.stdout))), redirect_stderr(cast(TextIO, Plain(sys.stderr))):
        yield
