"""Takes the places of this machine out of texts that a set keeps: whoever publishes one needn't say where he works."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path


def places_of(checkout: Path, results: Path) -> dict[Path, str]:
    """Returns the folders of this machine that a set's texts may name, with a word for each."""
    home = Path(os.environ.get("HOME", "/"))
    return {home: "~", checkout: "CHECKOUT", results.absolute(): "RESULTS", results.resolve(): "RESULTS"}


def placeless(text: str, places: Mapping[Path, str]) -> str:
    """Returns a text with a word in place of each folder of `places`; the innermost folder that fits decides."""
    words = {str(place): word for place, word in places.items() if len(place.parts) > 1}
    if not words:
        return text
    longest = sorted(words, key=len, reverse=True)
    found = re.compile(rf"(?<![\w.-])({'|'.join(map(re.escape, longest))})(?![\w.-])")
    return found.sub(lambda match: words[match[1]], text)
