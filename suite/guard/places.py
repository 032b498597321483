"""Takes the places of this machine out of texts that a set keeps: whoever publishes one needn't say where he works."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path


def placeless(text: str, places: Mapping[Path, str]) -> str:
    """Returns a text with a word in place of each folder of `places`; the innermost folder that fits decides."""
    words = {str(place): word for place, word in places.items() if len(place.parts) > 1}
    if not words:
        return text
    longest = sorted(words, key=len, reverse=True)
    found = re.compile(rf"(?<![\w.-])({'|'.join(map(re.escape, longest))})(?![\w.-])")
    return found.sub(lambda match: words[match[1]], text)
