"""Lets clean-up finish although Ctrl-C is pressed meanwhile."""

from __future__ import annotations

from collections.abc import Callable


def insist(*actions: Callable[[], object]) -> None:
    """Calls each function until it has returned without being interrupted by a Ctrl-C. Raises the Ctrl-C after the last
    one. So each must do no harm when it is called again."""
    pressed: KeyboardInterrupt | None = None
    for action in actions:
        while True:
            try:
                action()
                break
            except KeyboardInterrupt as interrupt:
                pressed = interrupt
    if pressed is not None:
        raise pressed
