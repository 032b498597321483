"""One process an attempt: start it, hold it to its limits, and put its end into words.

`run_attempt` is the whole of it for the session. It is loaded on first use, because the
supervisor lives in this package too and has to be up within milliseconds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from suite.launch.attempt import run_attempt

__all__ = ["run_attempt"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        from suite.launch import attempt

        return getattr(attempt, name)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
