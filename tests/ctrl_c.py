"""Ctrl-C for the tests that send it: a shell without job control has what it starts with `&` ignore SIGINT, and every
process inherits that. So `make test &` in a script would leave those tests without an effect."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial


def on_ctrl_c(handler: signal.Handlers = signal.SIG_DFL) -> Callable[[], object]:
    """For `Popen(preexec_fn=...)`: what the process does at SIGINT, whatever this one does. A Python with the default
    raises KeyboardInterrupt."""
    return partial(signal.signal, signal.SIGINT, handler)


@contextmanager
def heeding_ctrl_c() -> Iterator[None]:
    """SIGINT raises KeyboardInterrupt in this process."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
