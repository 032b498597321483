"""Reads docs/figures.toml: which published tables there are, and which commands make the sets behind them."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from suite.errors import unknown
from tools.figures.markers import published_tables

ROOT = Path(__file__).parents[2]
FILE = ROOT / "docs" / "figures.toml"
KEPT = "sets"  # the folder of this project's own sets


class Definition(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One published table. `page` is a path from the repository's root and `template` a file of
    reports/templates/figures. `sets` are the names of its sets in docs/figures.toml, the main set first; none for a
    table of the locks.

    `vendor` and `family` name the processors that the table is for, like AMD's of family 26 (default: any). `questions`
    are those that it shows, in this order (default: all of its sets), `stacks` those of the template `console`.
    """

    name: str
    page: str
    template: str
    sets: tuple[str, ...] = ()
    vendor: str = ""
    family: int | None = None
    questions: tuple[str, ...] = ()
    stacks: tuple[str, ...] = ()

    @property
    def processors(self) -> str:
        """Returns the processors that the table is for: `AMD family 26`; empty if it is for any."""
        return f"{self.vendor} family {self.family}" if self.family else self.vendor

    def is_for(self, machine: Mapping[str, Any]) -> bool:
        """Whether the table is for this machine's processor, by `suite.machine.facts` of the machine."""
        family = str(machine.get("cpu_family_model_stepping")).partition("/")[0]
        return self.vendor in str(machine.get("cpu_model")) and (self.family is None or family == str(self.family))


@dataclass(frozen=True, slots=True)
class Definitions:
    """All of docs/figures.toml. `prose` has the reason for each table that comes from no set: {page: {first row of the
    table: reason}}."""

    commands: Mapping[str, str]
    tables: Mapping[str, Definition]
    prose: Mapping[str, Mapping[str, str]]

    @property
    def pages(self) -> list[str]:
        return sorted({definition.page for definition in self.tables.values()})

    def command(self, name: str) -> str:
        """Returns the command, without `./stackwars`, that makes a set. Raises UserError for an unknown set."""
        if name not in self.commands:
            raise unknown("set", name, self.commands, of="docs/figures.toml")
        return self.commands[name]

    def sets_for(self, machine: Mapping[str, Any]) -> list[str]:
        """Returns the sets that fill a table on this machine: all but those whose tables are for other processors."""
        tables = [table for table in self.tables.values() if table.is_for(machine)]
        wanted = {name for table in tables for name in table.sets}
        return [name for name in self.commands if name in wanted]


def load(path: Path = FILE) -> Definitions:
    """Returns what the file defines. Raises UserError if a table names a set without a command."""
    content = tomllib.loads(path.read_text(encoding="utf-8"))
    tables = {name: msgspec.convert({"name": name, **fields}, Definition) for name, fields in content["tables"].items()}
    commands = dict(content["sets"])
    if "gallery" in content:
        for name, command, table in gallery(**content["gallery"]):
            commands[name], tables[name] = command, table
    definitions = Definitions(commands, tables, content["prose"])
    for table in tables.values():
        for name in table.sets:
            definitions.command(name)
    return definitions


def gallery(page: str, options: str, also: Mapping[str, str]) -> Iterator[tuple[str, str, Definition]]:
    """Yields (name, command, table) of each question of examples/ that has a place in the page: one set each, by the
    same options and those that `also` has for it."""
    for name in published_tables((ROOT / page).read_text(encoding="utf-8")):
        question = name.removeprefix("gallery-").replace("-", "_")
        asked = " ".join(filter(None, ("ask", f"examples/{question}.py", also.get(question), options)))
        yield name, asked, Definition(name, page, "gallery", (name,))
