"""README.md and docs/: every table with a figure is a published one, and keeps the rules."""

from __future__ import annotations

from tools.figures.definitions import ROOT, load, stop_waiting
from tools.figures.markers import published_tables, tables_outside
from tools.figures.rules import broken_rules
from tools.figures.tables import published

KNOWN = load()
TEXTS = {page: (ROOT / page).read_text(encoding="utf-8") for page in KNOWN.pages}


def test_the_pages_with_figures_are_these() -> None:
    names = ("figures", "gallery", "memory", "prediction", "programs", "versions")
    assert KNOWN.pages == [f"docs/findings/{name}.md" for name in names]


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


def test_a_table_stops_waiting_once_it_has_its_set() -> None:
    first, second = (f'[tables.{name}]\npage = "README.md"\nsets = ["x"]\n' for name in ("one", "two"))
    waits = 'waiting = "not measured yet"\n'
    assert stop_waiting(f"{first}{waits}\n{second}{waits}", "one") == f"{first}\n{second}{waits}"
    assert stop_waiting(f"{first}\n{second}{waits}", "one") == f"{first}\n{second}{waits}"


def test_a_machine_measures_the_sets_for_its_own_processor() -> None:
    zen4, zen5 = ({"cpu_model": "AMD EPYC", "cpu_family_model_stepping": f"{family}/2/1"} for family in (25, 26))
    intel = {"cpu_model": "Intel(R) Xeon(R) Processor", "cpu_family_model_stepping": "6/207/2"}
    for machine in (zen4, zen5, intel):
        assert {"headline", "memory", "quick"} <= set(KNOWN.sets_for(machine))
    assert "ops-gemm" in KNOWN.sets_for(zen5)
    assert "ops-gemm" not in KNOWN.sets_for(zen4) and "ops-gemm" not in KNOWN.sets_for(intel)
    assert "headline" not in KNOWN.sets_for({}), "a machine whose processor isn't known fills no table of a vendor"
