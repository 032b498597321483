"""README.md and docs/: every table with a figure is a published one, and keeps the rules."""

from __future__ import annotations

from pathlib import Path

import pytest

from suite import results
from suite.sets import manifest
from suite.sets.listing import OWN
from suite.sets.result_set import ResultSet
from tools.figures.definitions import ROOT, load
from tools.figures.markers import PublishedTable, published_tables, tables_outside
from tools.figures.rules import broken_rules
from tools.figures.tables import published

KNOWN = load()
TEXTS = {page: (ROOT / page).read_text(encoding="utf-8") for page in KNOWN.pages}
STANDING = {name: table for text in TEXTS.values() for name, table in published_tables(text).items()}
BYTES_MAX = 9_000_000  # of sets/: everybody clones it. Most of it is hashes of locks, which each set has


def kept(table: PublishedTable) -> list[Path]:
    """The folders of a table's sets in sets/, in the order of its marker; those that aren't there are left out."""
    return [folder for name in table.origin.sets for folder in OWN.glob(f"{name}*")]


MEASURED = [name for name, definition in KNOWN.tables.items() if definition.sets]


def test_every_table_has_its_sets_in_this_repository() -> None:
    lost = [name for name in MEASURED if len(kept(STANDING[name])) != len(KNOWN.tables[name].sets)]
    assert lost == [], "`python -m tools.figures --write` keeps a table's sets"


@pytest.mark.parametrize("name", MEASURED)
def test_a_table_says_what_its_sets_say(name: str) -> None:
    definition = KNOWN.tables[name]
    names = definition.sets
    loaded = {each: results.load(folder) for each, folder in zip(names, kept(STANDING[name]), strict=True)}
    assert published(definition, loaded) == STANDING[name], "`python -m tools.figures --write` writes it again"


def test_the_sets_of_this_repository_are_whole_small_and_used() -> None:
    folders = sorted(path.parent for path in OWN.glob("*/manifest.json"))
    assert {folder.name: ResultSet.open(folder).problems() for folder in folders} == {f.name: [] for f in folders}
    assert [folder.name for folder in folders] == [manifest.read(folder).name for folder in folders]
    assert {folder for name in MEASURED for folder in kept(STANDING[name])} == {*folders}
    assert sum(path.stat().st_size for path in OWN.rglob("*") if path.is_file()) <= BYTES_MAX


def test_the_pages_with_figures_are_these() -> None:
    names = ("figures", "gallery", "memory", "versions", "wrong")
    assert KNOWN.pages == ["README.md", *(f"docs/findings/{name}.md" for name in names)]


def test_every_table_stands_between_markers_or_is_listed_with_a_reason() -> None:
    outside = {page: tables_outside(text) for page, text in TEXTS.items()}
    assert {page: heads for page, heads in outside.items() if heads} == {
        page: list(reasons) for page, reasons in KNOWN.prose.items()
    }
    assert all(reason for reasons in KNOWN.prose.values() for reason in reasons.values())


def test_every_defined_table_has_its_place_and_every_place_a_definition() -> None:
    places = {(name, page) for page, text in TEXTS.items() for name in published_tables(text)}
    assert places == {(table.name, table.page) for table in KNOWN.tables.values()}


def test_every_published_table_keeps_the_rules() -> None:
    tables = {name: table for text in TEXTS.values() for name, table in published_tables(text).items()}
    broken = {name: broken_rules(KNOWN.tables[name], table) for name, table in tables.items()}
    assert {name: problems for name, problems in broken.items() if problems} == {}, (
        "`python -m tools.figures` lists them"
    )


def test_the_table_of_locks_is_what_the_locks_say() -> None:
    assert published_tables(TEXTS["docs/findings/versions.md"])["locks"] == published(KNOWN.tables["locks"], {}), (
        "`python -m tools.figures --write` writes it"
    )


def test_a_machine_measures_the_sets_for_its_own_processor() -> None:
    zen4, zen5 = ({"cpu_model": "AMD EPYC", "cpu_family_model_stepping": f"{family}/2/1"} for family in (25, 26))
    intel = {"cpu_model": "Intel(R) Xeon(R) Processor", "cpu_family_model_stepping": "6/207/2"}
    for machine in (zen4, zen5, intel):
        assert {"frontier", "quick"} <= set(KNOWN.sets_for(machine))
    for name in ("training", "rnn-long"):
        assert name in KNOWN.sets_for(zen5)
        assert name not in KNOWN.sets_for(zen4) and name not in KNOWN.sets_for(intel)
    assert "training" not in KNOWN.sets_for({}), "a machine whose processor isn't known fills no table of a vendor"
