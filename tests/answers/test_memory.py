"""Memory: which sizes fit, the largest that does, the curves, the parts of a peak."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from suite.answers.frontier import frontier
from suite.cli.terminal.output import print_tables
from suite.page.formats.render import render
from suite.page.report import Report, report
from suite.protocol import Protocol
from suite.results import Results, load
from suite.results.frame import Frame
from suite.sets.arrow import to_table
from suite.sets.rows import Row
from tests.answers.asking import answered, asked
from tests.page.test_report import Page
from tests.plan.test_capacity import GIB, LIMIT, memory_row, rows
from tests.plan_files import plan_file


def cells(asked_rows: list[Row]) -> dict[tuple[str, str], dict[str, Any]]:
    lines = answered("memory", asked_rows).table.to_dicts()
    return {(line["stack"], line["size"]): line for line in lines}


def limits(asked_rows: list[Row]) -> dict[str, dict[str, Any]]:
    """The line of each stack in the table of the largest sizes that fit."""
    return {line["stack"]: line for line in answered("frontier", asked_rows).table.to_dicts()}


def test_a_cell_says_how_much_or_where_it_ran_out() -> None:
    found = cells(rows())
    fits, ran_out, spared = (found["torch_eager", f"batch = {batch}"] for batch in (1, 8, 16))
    assert (fits["fits"], fits["peak_bytes"], fits["of_limit"]) == ("fits", 2 * GIB, 2 * GIB / LIMIT)
    assert (fits["times_floor"], fits["floor_bytes"]) == (2 * GIB / 301, 301)
    assert (ran_out["fits"], ran_out["phase"]) == ("out of host memory in the first run", "first")
    assert (ran_out["reason"], ran_out["floor_bytes"]) == ("killed at its 6 GiB limit", 308)
    assert (ran_out["unmeasured"], spared["unmeasured"]) == ("", "inferred")
    assert answered("memory", rows()).sentence == "7 of 10 cases fit."


def test_without_a_limit_there_is_no_share() -> None:
    found = cells([memory_row("jax_jit", batch, batch, limit=None) for batch in (1, 2)])
    assert [(line["peak_bytes"], line["of_limit"]) for line in found.values()] == [(GIB, None), (2 * GIB, None)]


def test_two_dims_that_vary_have_sizes_and_no_largest() -> None:
    both = [memory_row("jax_jit", b, b, dims={"batch": b, "seq": t}) for b in (1, 2) for t in (8, 16)]
    assert [size for _, size in cells(both)][:2] == ["batch = 1, seq = 8", "batch = 1, seq = 16"]
    assert asked("frontier", both) is None


def test_the_frontier_says_what_fits_and_the_first_that_doesn_t() -> None:
    found = limits([*rows(), memory_row("jax_jit", 10, 6), memory_row("jax_jit", 11, None)])
    jax, torch = found["jax_jit"], found["torch_eager"]
    names = ("largest_size", "failed_size", "failed_in", "predicted_size", "processes", "is_certain")
    assert [jax[name] for name in names] == [10, 11, "first", 10, 7, True]
    assert [torch[name] for name in names] == [4, 8, "first", 5, 4, False]
    assert (jax["peak_bytes"], jax["limit_bytes"]) == (6 * GIB, LIMIT)
    assert [jax["fixed_bytes"], jax["item_bytes"]] == pytest.approx([GIB, GIB / 2])
    assert jax["curve_error"] < 1e-6 and jax["curve_since"] is None
    never = limits([memory_row("jax_jit", batch, batch) for batch in (1, 2)])["jax_jit"]
    assert (never["failed_size"], never["why_none"], never["curve_error"]) == (None, "none tried", None)


def test_the_frontier_says_that_a_workload_allows_no_more() -> None:
    lengths = [
        memory_row("jax_jit", 1, seq, limit=None, dims={"batch": 1, "seq": seq, "positions": 4}) for seq in (1, 2, 4)
    ]
    found = limits(lengths)["jax_jit"]
    assert (found["vary"], found["largest_size"]) == ("seq", 4)
    assert found["why_none"] == "none: the workload allows no seq above 4"


def test_the_answer_says_what_is_open() -> None:
    first = "gpt2 train: Under 6 GiB"
    assert answered("frontier", rows()).sentence == (
        f"{first} jax_jit fits the largest batch: 8 to 15; torch_eager fits 4 to 7."
    )
    more = [*rows(), memory_row("jax_jit", 10, 6), memory_row("jax_jit", 11, None), memory_row("tf_xla", 16, 5)]
    assert answered("frontier", more).sentence == (
        f"{first} the largest batch that was tried, 16, fits on tf_xla; jax_jit fits 10, torch_eager fits 4 to 7."
    )
    never = [memory_row(stack, batch, batch) for batch in (1, 2) for stack in ("jax_jit", "tf_xla")]
    assert answered("frontier", never).sentence == f"{first} the largest batch that was tried, 2, fits on every stack."
    nothing = [memory_row("jax_jit", batch, None) for batch in (1, 2)]
    assert answered("frontier", nothing).sentence == "No size that was tried fits."


def test_a_search_that_ended_otherwise_says_so() -> None:
    late = memory_row("tf_xla", 12, 3) | {"outcome": "timeout", "reason": "not done within 20 min"}
    timed_out = [*rows(), memory_row("tf_xla", 2, 2), late]
    assert answered("frontier", timed_out).sentence == (
        "gpt2 train: Under 6 GiB it is open which stack fits the largest batch; jax_jit fits 8 to 15, torch_eager fits "
        "4 to 7, tf_xla fits 2 or more (its search failed: 12 ended as timeout)."
    )
    assert limits(timed_out)["tf_xla"]["why_none"] == "12: timeout"


def test_stacks_that_fit_the_same_share_the_largest() -> None:
    tied = [
        memory_row(stack, batch, peak) for stack in ("tf_xla", "jax_jit") for batch, peak in ((1, 1), (2, 2), (3, None))
    ]
    none, broken = memory_row("numpy", 1, None), memory_row("torch_xla", 1, None) | {"outcome": "error"}
    assert answered("frontier", [*tied, none, broken]).sentence == (
        "gpt2 train: Under 6 GiB jax_jit and tf_xla fit the largest batch: 2; numpy fits none, torch_xla fits none ("
        "its search failed: 1 ended as error)."
    )


def test_the_published_frontier_is_ranked_drawn_and_headlined_with_its_limit() -> None:
    [folder] = (Path(__file__).parents[2] / "sets").glob("*.9d1bcf64*")
    made = report(load(folder))
    assert made.verdict == (
        "gpt2 train: Under 6 GiB torch_inductor fits the largest batch: 79; torch_eager fits 53, tf_xla fits 49, "
        "jax_jit fits 45, tf_graph fits 38, torchax_jit fits 37, torch_xla fits 34."
    )
    found = frontier(Frame(made.results, made.analysis))
    assert found and found.table["largest_size"].to_list() == [79, 53, 49, 45, 38, 37, 34]
    sizes = found.figures[0]
    assert sizes and sizes.names == found.table["stack"].to_list() and sizes.values[0] == "79"


def printed(asked_rows: list[Row], capsys: pytest.CaptureFixture[str], vary: str = "") -> list[str]:
    file = plan_file(vary=vary, protocol=Protocol(search_tolerance=0.02), baseline=asked_rows[0].stack_name)
    made = Results(Path("set"), file, asked_rows, [], {})
    sections = Report(made, made.analysis()).sections
    print_tables([table for each in sections if each.name in ("memory", "frontier") for table in each.console()])
    return capsys.readouterr().out.splitlines()


def test_a_search_is_a_line_a_stack_however_many_sizes_were_tried(capsys: pytest.CaptureFixture[str]) -> None:
    """And a number has the same digits everywhere: no 2048 above an 8,192."""
    probes = [memory_row("numpy", batch, 1 + batch / 1000) for batch in (*range(100, 2100, 100), 4300)]
    out = printed([*probes, memory_row("numpy", 4352, None, phase="second")], capsys, "batch")
    (line,) = (line for line in out if line.startswith("| numpy"))
    shown = [cell.strip() for cell in line.strip("|").split("|")]
    assert shown[:7] == ["numpy", "batch", "4,300", "4,352", "second", "5.30", "5,000"]
    assert any("The search ends when the next batch doesn't fit, or when" in line for line in out)


def test_the_console_prints_the_grid_and_the_frontier(capsys: pytest.CaptureFixture[str]) -> None:
    out = "\n".join(printed(rows(), capsys))
    assert "| batch = 16 " in out and "fits, 2.00 GiB" in out and "out of host memory in the first run" in out
    assert "| jax_jit " in out and "The search ends" not in out


def test_bars_are_of_the_size_at_which_most_stacks_fit() -> None:
    (bars,) = answered("memory", rows()).figures
    assert bars and bars.title.endswith("batch = 4") and bars.names == ["jax_jit", "torch_eager"]
    for name in bars.names:
        parts = bars.drawn[name]
        assert [part["low"] for part in parts][1:] == [part["high"] for part in parts][:-1]
        assert parts[-1]["high"] <= 100
    (floor,) = bars.drawn[None]
    assert floor["x"] < 1


def test_a_page_of_memory_alone_is_whole(tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    file = tmp_path / "results.parquet"
    pq.write_table(to_table(rows()), file)
    page = Page(render(file).read_text(encoding="utf-8"))
    assert not page.open
    assert "gpt2: which stack runs out of memory first" in page.text
    assert "Under 6 GiB jax_jit fits the largest batch: 8 to 15; torch_eager fits 4 to 7." in page.text
    assert "Largest batch of gpt2 train that fits" in page.text
    assert "killed at its 6 GiB limit" in page.text
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    links = {attributes["href"] for tag, attributes in page.elements if tag == "a" and attributes.get("href")}
    assert len(ids) == len(set(ids))
    assert {link[1:] for link in links if link and link.startswith("#")} <= set(ids), "no link leads nowhere"
    assert "#summary" not in links
