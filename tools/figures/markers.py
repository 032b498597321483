"""Published tables in a page of Markdown, each between two markers. The first marker has the table's origin:

<!-- figures: NAME {"sets": ["2026-11-24.cpu.0123456789ab"], "versions": {"jax": {"jax": "0.12.0.1"}}, "noise": …} -->
…
<!-- /figures -->
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import msgspec

from suite.errors import Damaged, UserError

PUBLISHED = re.compile(r"<!-- figures: ([\w-]+)(?: (\{[^\n]*\}))? -->\n(.*?)<!-- /figures -->\n", re.DOTALL)
TABLE = re.compile(r"(?:^\|.*\|\n)+", re.MULTILINE)


class Origin(msgspec.Struct, frozen=True, omit_defaults=True):
    """Where a table comes from: names of result sets (with date, target and digest), {environment: {package: version}},
    and the least and greatest noise floor of its questions (None if no stack ran twice). All are empty if unknown."""

    sets: tuple[str, ...] = ()
    versions: dict[str, dict[str, str]] = {}
    noise: tuple[float, float] | None = None
    target: str = "cpu"

    def to_json(self) -> str:
        """Returns the JSON of a first marker, in one line; empty if nothing is known. Raises UserError for a version
        that would end the marker."""
        for environment, versions in self.versions.items():
            for package, version in versions.items():
                if not re.fullmatch(r"[\w.+!]+", version):
                    raise UserError(f"{package} of {environment} has an invalid version: {version[:60]!r}.")
        text = msgspec.json.encode(self).decode()
        return text if self != Origin(target=self.target) else ""

    @classmethod
    def from_json(cls, text: str, name: str) -> Origin:
        """Returns the origin in a first marker's JSON. Raises Damaged if it can't be read."""
        try:
            return msgspec.json.decode(text or "{}", type=cls)
        except msgspec.DecodeError as broken:
            raise Damaged(f"The marker of the figures '{name}' can't be read: {broken}.") from None


@dataclass(frozen=True, slots=True)
class PublishedTable:
    """The text between the two markers of one name in a page, and its origin."""

    name: str
    origin: Origin
    text: str

    def written(self) -> str:
        marker = f"figures: {self.name} {self.origin.to_json()}".strip()
        return f"<!-- {marker} -->\n{self.text}<!-- /figures -->\n"


def published_tables(page: str) -> dict[str, PublishedTable]:
    """Returns {name: table} of a page's text. Raises Damaged for a name that the page has twice, and for a marker that
    isn't closed."""
    tables: dict[str, PublishedTable] = {}
    for name, origin, text in PUBLISHED.findall(page):
        if name in tables:
            raise Damaged(f"The figures '{name}' stand twice in one page.")
        tables[name] = PublishedTable(name, Origin.from_json(origin, name), text)
    if page.count("<!-- figures:") != len(tables) or page.count("<!-- /figures -->") != len(tables):
        raise Damaged("A page has a marker of figures without its other half.")
    return tables


def replaced(page: str, table: PublishedTable) -> str:
    """Returns the page's text with the table of this name replaced. Raises UserError if the page has none."""
    if table.name not in published_tables(page):
        raise UserError(
            f"The page has no place for the figures '{table.name}'. Put these two lines where the table belongs:\n"
            f"<!-- figures: {table.name} -->\n<!-- /figures -->"
        )
    return PUBLISHED.sub(lambda match: table.written() if match[1] == table.name else match[0], page)


def tables_outside(page: str) -> list[str]:
    """Returns the first row of each table that isn't between markers, as `column | column`."""
    rest = PUBLISHED.sub("", page)
    return [
        " | ".join(cell.strip() for cell in rows.splitlines()[0].strip("|").split("|")) for rows in TABLE.findall(rest)
    ]
