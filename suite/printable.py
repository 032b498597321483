"""What a set, a worker or an archive says of itself, as text and nothing else: every way out of the program takes this
one, the terminal, Markdown, CSV, JSON and pages."""

from __future__ import annotations

import re

# Colours and other codes of terminals, whole; then what is left of controls (C0 but newline and tab, DEL, C1), line
# separators that only some programs know, and what turns the direction of text, so that it reads as what it isn't.
UNPRINTABLE = re.compile(
    "(?:\x1b\\[|\x9b)[0-9;:?]*[@-~]"
    "|[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def printable(text: str) -> str:
    """A text without control characters; newlines and tabs stay."""
    return UNPRINTABLE.sub("", text)
