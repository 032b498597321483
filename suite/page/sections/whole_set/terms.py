"""The words of the report that have a meaning of their own; reports/glossary.toml says what each of them means."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from suite import units
from suite.case import Flag
from suite.protocol import Protocol
from suite.stats import CLOSE, MODES_SPREAD

GLOSSARY = Path(__file__).parents[4] / "reports" / "glossary.toml"


def flag_words(flag: str) -> str:
    return "steady state assumed" if flag == Flag.ASSUMED else flag.replace("_", " ")


# The word of the glossary that explains each flag of a row.
FLAG_TERMS: dict[str, str] = {
    **{flag: flag_words(flag) for flag in Flag},
    Flag.GRAPH_BREAKS: "graph break",
    Flag.WIDER: "wider type inside",
    Flag.NO_FLOAT64: "no float64",
}


def constants(protocol: Protocol) -> dict[str, str]:
    """Returns the constants of a set that meanings and the method quote: shares and factors, in words."""
    return {
        "confidence": units.percent(protocol.confidence),
        "tie": units.percent(protocol.tie_ratio - 1),
        "close": units.percent(CLOSE - 1),
        "modes_spread": units.ratio(MODES_SPREAD),
        "drift": units.percent(protocol.canary_drift_max),
        "steal": units.percent(protocol.steal_share_max),
    }


@cache
def terms() -> Mapping[str, str]:
    """Returns {term: what it means}, with the names of constants in braces."""
    return dict(sorted(tomllib.loads(GLOSSARY.read_text(encoding="utf-8")).items(), key=lambda item: item[0].lower()))


def flag_title(flag: str, share: str, protocol: Protocol) -> str:
    """Returns what a flag means, with the constants of the set; a `share` like `2/5` says of how many processes."""
    meaning = terms()[FLAG_TERMS[flag]].format(**constants(protocol))
    return f"{meaning} ({share.replace('/', ' of ')} processes)" if share else meaning


def term_id(term: str) -> str:
    """Returns the id of a term in the glossary. Raises KeyError for a word that the glossary doesn't have."""
    if term not in terms():
        raise KeyError(f"the glossary has no term {term!r}")
    return f"term-{'-'.join(re.findall(r'[a-z0-9]+', term.lower()))}"


def meanings(protocol: Protocol) -> dict[str, str]:
    """Returns {term: what it means} with the constants of the set, sorted by term."""
    values = constants(protocol)
    return {term: text.format(**values) for term, text in terms().items()}
