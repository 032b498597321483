"""Runs each attempt in a process of its own: starts it, enforces its limits, and puts its outcome into words.

`prepare` and `run_attempt` are loaded on first use, because the supervisor lives in this package too and has to be up
within milliseconds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from suite.launch.attempt import prepare, run_attempt

__all__ = ["prepare", "run_attempt"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        from suite.launch import attempt

        return getattr(attempt, name)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
