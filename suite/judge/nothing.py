"""What does the judge's channel cost? Its calls do nothing."""

from typing import Any

from suite.ask import constant


def inputs() -> dict[str, Any]:
    return {"x": constant(1)}


def numpy_nothing(x: Any) -> Any:
    return x
