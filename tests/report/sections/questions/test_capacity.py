"""Memory on the page and on the console: the grid, the frontier, the curves, the parts of a peak."""

from __future__ import annotations

from pathlib import Path

import pytest

from suite.cli.terminal.output import print_tables
from suite.report.formats.render import render
from suite.report.sections.questions.capacity import console_tables, memory_view
from suite.results.questions.capacity import memory_questions
from suite.sets.rows import Row
from suite.sets.schema import to_table
from tests.report.test_page import Page
from tests.results.questions.test_capacity import memory_row, rows


def test_a_cell_says_how_much_or_where_it_ran_out() -> None:
    (question,) = memory_questions(rows())
    section = memory_view(question)
    lines = dict(section.lines)
    assert section.sizes == ("batch = 1", "batch = 2", "batch = 4", "batch = 8", "batch = 16")
    fits, ran_out, spared = lines["torch_eager"][0], lines["torch_eager"][3], lines["torch_eager"][4]
    assert fits and ran_out and spared
    assert (fits.text, fits.detail) == ("2.00 GiB", "33.3 % of the limit, 7,130,000 × floor 301 B")
    assert (ran_out.text, ran_out.detail) == ("out of host memory in the first run", "floor 308 B")
    assert ran_out.reason == "killed at its 6 GiB limit"
    assert spared.detail == "inferred, floor 316 B"


def test_the_frontier_says_what_fits_and_the_first_that_doesn_t() -> None:
    (question,) = memory_questions([*rows(), memory_row("jax_jit", 10, 6), memory_row("jax_jit", 11, None)])
    jax, torch = memory_view(question).frontier
    assert (jax.fits, jax.fails, jax.peak, jax.predicted, jax.tried) == ("10", "11 (phase first)", "6.00 GiB", "10", 7)
    assert (jax.fixed, jax.item, jax.error) == ("1.00 GiB", "512 MiB", "< 0.1 %")
    assert (torch.fits, torch.fails, torch.predicted) == ("4", "8 (phase first)", "5")
    (never,) = memory_questions([memory_row("jax_jit", b, b) for b in (1, 2)])
    (line,) = memory_view(never).frontier
    assert (line.fails, line.error) == ("none tried", "no peak left to test it")


def test_the_frontier_says_that_a_workload_allows_no_more() -> None:
    def of_length(seq: int) -> Row:
        return memory_row("jax_jit", 1, seq, limit=None, dims={"batch": 1, "seq": seq, "positions": 4})

    (question,) = memory_questions(map(of_length, (1, 2, 4)))
    (line,) = memory_view(question).frontier
    assert (line.fits, line.fails) == ("4", "none: the workload allows no seq above 4")


def test_the_answer_says_what_is_open() -> None:
    (question,) = memory_questions(rows())
    assert memory_view(question).answer == ("Largest batch that fits: jax_jit 8 to 15, torch_eager 4 to 7.")
    found = [*rows(), memory_row("jax_jit", 10, 6), memory_row("jax_jit", 11, None), memory_row("tf_xla", 16, 5)]
    (question,) = memory_questions(found)
    assert memory_view(question).answer == (
        "Largest batch that fits: jax_jit 10, torch_eager 4 to 7. The largest that was tried, 16, fits on tf_xla."
    )
    (never,) = memory_questions([memory_row(stack, b, b) for b in (1, 2) for stack in ("jax_jit", "tf_xla")])
    assert memory_view(never).answer == "The largest batch that was tried, 2, fits on every stack."


def test_a_search_that_ended_otherwise_says_so() -> None:
    late = memory_row("tf_xla", 12, 3) | {"outcome": "timeout", "reason": "not done within 20 min"}
    (question,) = memory_questions([*rows(), memory_row("tf_xla", 2, 2), late])
    section = memory_view(question)
    assert "tf_xla 2 or more (12 ended as timeout)" in section.answer
    assert section.frontier[1].fails == "12: timeout"


def test_a_number_has_the_same_digits_everywhere() -> None:
    """The answer, the table and the grid of one question: no 2048 above an 8,192."""
    asked = [memory_row("jax_jit", batch, 1 + batch / 2048) for batch in (1024, 2048, 4096)]
    (question,) = memory_questions([*asked, memory_row("jax_jit", 20000, None)])
    section = memory_view(question)
    assert section.answer == "Largest batch that fits: jax_jit 4,096 to 19,999."
    assert (section.frontier[0].fits, section.frontier[0].fails) == ("4,096", "20,000 (phase first)")
    assert section.sizes == ("batch = 1,024", "batch = 2,048", "batch = 4,096", "batch = 20,000")


def test_a_search_is_a_line_a_stack_however_many_sizes_were_tried(capsys: pytest.CaptureFixture[str]) -> None:
    probes = [memory_row("numpy", batch, 1 + batch / 1000) for batch in (*range(100, 2100, 100), 4300)]
    (question,) = memory_questions([*probes, memory_row("numpy", 4352, None, phase="second")], tolerance=0.02)
    print_tables(console_tables(memory_view(question)))
    printed = capsys.readouterr().out.splitlines()
    (line,) = (line for line in printed if line.startswith("| numpy"))
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    assert cells == ["numpy", "4,300", "4,352 (phase second)", "5.30 GiB", "5,000", "22"]
    assert "Largest batch that fits: numpy 4,300 to 4,351." in printed


def test_bars_are_of_the_size_at_which_most_stacks_fit() -> None:
    (question,) = memory_questions(rows())
    bars = memory_view(question).bars
    assert bars is not None
    assert bars.title == "Peak of memory by its parts, batch = 4"
    assert [bar.label for bar in bars.rows] == ["jax_jit", "torch_eager"]
    for bar in bars.rows:
        ends = [x + width for _, x, width, _ in bar.segments]
        assert [x for _, x, _, _ in bar.segments][1:] == pytest.approx(ends[:-1], abs=0.02)
        assert ends[-1] <= 100
    assert bars.floor is not None and bars.floor < 1


def test_a_page_of_memory_alone_is_whole(tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    file = tmp_path / "results.parquet"
    pq.write_table(to_table(rows()), file)
    page = Page(render(file).read_text(encoding="utf-8"))
    assert not page.open
    assert "gpt2: which stack runs out of memory first" in page.text
    assert "Largest batch that fits: jax_jit 8 to 15, torch_eager 4 to 7." in page.text
    ids = {attributes["id"] for _, attributes in page.elements if "id" in attributes}
    links = {attributes["href"] for tag, attributes in page.elements if tag == "a" and attributes.get("href")}
    assert {link[1:] for link in links if link and link.startswith("#")} <= ids, "no link leads nowhere"
    assert "#summary" not in links


def test_the_console_prints_the_grid_and_the_frontier(capsys: pytest.CaptureFixture[str]) -> None:
    (question,) = memory_questions(rows())
    print_tables(console_tables(memory_view(question)))
    printed = capsys.readouterr().out
    assert "batch = 16" in printed and "2.00 GiB" in printed and "out of host memory in the first run" in printed
    assert "16 (phase first)" in printed and "jax_jit 8 to 15" in printed


def test_without_a_limit_there_is_no_share() -> None:
    (question,) = memory_questions([memory_row("jax_jit", b, b, limit=None) for b in (1, 2)])
    cell = dict(memory_view(question).lines)["jax_jit"][1]
    assert cell is not None and (cell.text, "limit" in cell.detail) == ("2.00 GiB", False)
