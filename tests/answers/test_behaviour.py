"""A set of probes as page, tables, JSON and comparison."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from suite import results
from suite.answers.behaviour import chart
from suite.case import Purpose
from suite.cli.sets.compare import compare
from suite.page.formats.export import export
from suite.page.formats.render import page
from suite.results.questions.behaviour import observations
from suite.sets.rows import Row
from suite.stacks.names import attempt_name
from tests.answers.asking import answered
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
    assert "≠ documented" in html
    assert "a &lt;word&gt;" in html and "<word>" not in html
    assert "2.00 ms (1.00 ms to 4.00 ms, 3 samples)" in html
    assert "def f(x): ..." in html and "https://example.org/docs" in html
    assert html.count('popover id="') == html.count("popovertarget=") == 4
    for anchor in html.split('popovertarget="')[1:]:
        assert f'popover id="{anchor.partition(chr(34))[0]}"' in html


def test_every_format_has_the_classes(tmp_path: Path, rows: list[Row]) -> None:
    found = export(probe_set(tmp_path / "set", rows))
    assert "| nothing changes | reuses, ≠ documented, 2.00 ms | unsupported |" in found.written("md")
    cells = {(cell["aspect"], cell["stack"]): cell for cell in json.loads(found.written("json"))["behaviour"]}
    assert {place: cell["class"] for place, cell in cells.items()} == {
        ("same", "jax_jit"): "reuses",
        ("same", "numpy"): "unsupported",
        ("shape", "jax_jit"): "retraces",
        ("shape", "numpy"): "unsupported",
    }
    same = cells["same", "jax_jit"]
    assert (same["words"], same["documented"], same["primer"]) == ("a <word>", "retraces", "")
    (seconds,) = same["figures"]
    assert (seconds["figure"], seconds["unit"], seconds["values"]) == ("seconds", "s", [0.002, 0.001, 0.004])
    assert "nothing changes,jax_jit,probe,ok,,1,1" in found.written("csv")
    assert "nothing changes,numpy,probe,unsupported,it compiles nothing,0,1" in found.written("csv")


@pytest.mark.parametrize(
    ("classes", "alone"),
    [
        (("reuses", "reuses", "retraces"), "tf_xla"),
        (("reuses", "retraces"), ""),
        (("reuses", "retraces", "crashed"), ""),
        (("reuses", "reuses", "retraces", "retraces"), ""),
    ],
)
def test_one_stack_stands_alone_if_all_others_agree(classes: tuple[str, ...], alone: str) -> None:
    stacks = dict(zip(("jax_jit", "numpy", "tf_xla", "torch_xla"), classes, strict=False))
    found = answered("behaviour", [probe_row(stack, entry("same", class_)) for stack, class_ in stacks.items()])
    assert [row["stack"] for row in found.table.to_dicts() if row["alone"]] == [alone] * bool(alone)
    told = f"1 of 1 aspect one stack alone differs ({alone} 1)" if alone else "none of 1 aspect one stack alone differs"
    assert found.sentence == f"In {told}."


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
    sizes = {"name": "same depths", "unit": "count", "kind": "behaviour", "values": [1, 4, 16]}
    seconds = {"name": "same seconds", "unit": "s", "kind": "behaviour", "values": [0.1, 0.2, 0.9]}
    told = entry("same", "grows"), entry("shape", "no")
    seen = observations(
        [probe_row("jax_jit", *told, metrics=[sizes, seconds]), probe_row("numpy", entry("same", "no"))]
    )
    drawn = chart([each for each in seen if each.aspect == "same"])
    assert drawn is not None
    assert drawn.names == ["jax_jit"]
    xs = [mark["x"] for mark in drawn.drawn["jax_jit"] if mark["shape"] == "mark"]
    assert len(xs) == 3 and xs == sorted(xs) and "16: 900 ms" in drawn.description
    assert chart([each for each in seen if each.aspect == "shape"]) is None


def test_probes_are_no_comparison_of_times(tmp_path: Path, rows: list[Row]) -> None:
    analysis = probe_set(tmp_path / "set", rows).analysis()
    assert analysis.comparisons == ()
    assert {row["purpose"] for row in analysis.counted} >= {Purpose.PROBE}
    assert attempt_name(attempt_of("jax_jit", purpose=Purpose.PROBE)).endswith("-probe-a1")
