"""Removes control characters from texts of sets, workers and archives before they are shown in the terminal, Markdown,
CSV, JSON and pages."""

from __future__ import annotations

import re

# First whole escape sequences of terminals; then single control characters (C0 but newline and tab, DEL, C1), line
# separators that only some programs know, and characters that turn the direction of text.
UNPRINTABLE = re.compile(
    "(?:\x1b\\[|\x9b)[0-9;:?]*[@-~]"
    "|[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def printable(text: str) -> str:
    """Returns a text without control characters; newlines and tabs stay."""
    return UNPRINTABLE.sub("", text)
