"""A set of probes as page, tables, JSON and comparison."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from suite import results
from suite.case import Purpose
from suite.cli.sets.compare import compare
from suite.report.formats.export import export
from suite.report.formats.render import page
from suite.report.sections.questions.behaviour import chart
from suite.results.questions.behaviour import Aspect, Figure, ProbeAnswer
from suite.sets.rows import Row
from suite.stacks.names import attempt_name
from tests.results.questions.test_behaviour import entry, probe_row
from tests.results.rows import attempt_of, make_set


def probe_set(folder: Path, rows: list[Row]) -> results.Results:
    """A whole set with these rows of probes."""
    store = make_set(folder, rows, [])
    store.commit()
    return results.load(folder)


@pytest.fixture
def rows() -> list[Row]:
    seconds = {"name": "same seconds", "unit": "s", "kind": "behaviour", "values": [0.002, 0.001, 0.004]}
    believed = {"documented": {"class": "retraces", "page": "https://example.org/docs"}, "words": "a <word>"}
    return [
        probe_row("jax_jit", entry("same", "reuses", **believed), entry("shape", "retraces"), metrics=[seconds]),
        probe_row("numpy", outcome="unsupported", reason="it compiles nothing"),
    ]


def test_each_cell_opens_the_code_the_figures_and_what_is_documented(tmp_path: Path, rows: list[Row]) -> None:
    html = page(probe_set(tmp_path / "set", rows))
    assert "<h2>Behaviour</h2>" in html
    assert "What is traced again" in html and "how the stacks behave" in html
    assert "≠ reuses" in html  # documented otherwise
    assert "a &lt;word&gt;" in html and "<word>" not in html
    assert "2.00 ms (1.00 ms to 4.00 ms, 3 samples)" in html
    assert "def f(x): ..." in html and "https://example.org/docs" in html
    assert html.count('popover id="') == html.count("popovertarget=") == 4
    for anchor in html.split('popovertarget="')[1:]:
        assert f'popover id="{anchor.partition(chr(34))[0]}"' in html


def test_tables_and_json_have_the_classes(tmp_path: Path, rows: list[Row]) -> None:
    found = export(probe_set(tmp_path / "set", rows))
    assert "reuses (jax_jit); unsupported (numpy)" in found.written("md")
    (probe,) = json.loads(found.written("json"))["behaviour"]
    assert probe["aspects"][0]["stacks"][0] == {
        "stack": "jax_jit",
        "class": "reuses",
        "words": "a <word>",
        "documented": "retraces",
        "primer": None,
        "figures": {"seconds": {"unit": "s", "values": [0.002, 0.001, 0.004]}},
    }
    assert "nothing changes,jax_jit,probe,ok" in found.written("csv")


def test_a_changed_class_is_a_line_of_the_comparison(
    tmp_path: Path, rows: list[Row], capsys: pytest.CaptureFixture[str]
) -> None:
    probe_set(tmp_path / "before", rows)
    rows[0] = probe_row("jax_jit", entry("same", "reuses"), entry("shape", "reuses"))
    probe_set(tmp_path / "after", rows)
    sets = (str(tmp_path / "before"), str(tmp_path / "after"))
    assert compare(set=sets) == 0
    said = capsys.readouterr().out
    assert "1 of 4 observed classes changed." in said
    assert "retrace-tiny-forward-f32-cpu" in said and "retraces" in said
    out = tmp_path / "page.html"
    compare(set=sets, format="html", out=str(out))
    assert "Observed classes that changed from the first set to the second" in out.read_text()


def test_versions_in_one_set_are_compared(tmp_path: Path, rows: list[Row], capsys: pytest.CaptureFixture[str]) -> None:
    rows.append(probe_row("jax_jit", entry("same", "retraces"), entry("shape", "retraces"), variant="0.10"))
    probe_set(tmp_path / "set", rows)
    compare(set=(str(tmp_path / "set"),), by="variant")
    assert "1 of 2 observed classes changed." in capsys.readouterr().out


def test_times_over_sizes_are_drawn_a_line_a_stack() -> None:
    figures = (Figure("depths", "count", (1, 4, 16)), Figure("seconds", "s", (0.1, 0.2, 0.9)))
    answers = {
        "jax_jit": ProbeAnswer("grows", "", "", figures, None, None),
        "numpy": ProbeAnswer("no", "", "", (), None, None),
    }
    drawn = chart(Aspect("unrolled", "compile time by depth", answers), "b-depth")
    assert drawn is not None
    (curve,) = drawn.curves
    assert (curve.name, len(drawn.marks)) == ("jax_jit", 3)
    xs = [x for x, _, _ in drawn.marks]
    assert xs == sorted(xs) and "16: 900 ms" in drawn.description
    assert chart(Aspect("same", "nothing", {"numpy": answers["numpy"]}), "b-same") is None


def test_probes_are_no_comparison_of_times(tmp_path: Path, rows: list[Row]) -> None:
    analysis = probe_set(tmp_path / "set", rows).analysis()
    assert analysis.comparisons == ()
    assert {row["purpose"] for row in analysis.counted} >= {Purpose.PROBE}
    assert attempt_name(attempt_of("jax_jit", purpose=Purpose.PROBE)).endswith("-probe-a1")
