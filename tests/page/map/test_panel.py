"""What is behind a cell: the process's own figures, ratios over every baseline, and a command that runs it again."""

from __future__ import annotations

import dataclasses
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from suite import results, units
from suite.answers.figures.axes import LogAxis
from suite.answers.figures.processes import HIGH, ends
from suite.cli.options import RunOptions
from suite.page.formats.render import page
from suite.page.map.panel import COLUMNS_MOST, Panel
from suite.page.map.remedies import options_of
from suite.page.report import Report, report
from suite.page.sections.timed.units import column_units
from suite.plan.planning import make
from suite.plan.preset import load
from suite.results.analysis import Comparison
from suite.workloads.catalog import find
from tests.page import synthetic
from tests.plan_files import plan_file
from tests.results.rows import rows_of
from tests.typed import parsed

SETS = Path(__file__).parents[2] / "results" / "sets"


@pytest.fixture(scope="module")
def shown(made: Report) -> list[Panel]:
    """The panels of the synthetic set."""
    return made.panels


def question(analysis: results.Analysis, panel: Panel) -> Comparison:
    """The comparison that a panel is of."""
    return next(comparison for comparison in analysis.comparisons if comparison.name == panel.comparison.name)


def test_every_planned_cell_has_a_panel(loaded: results.Results, shown: list[Panel]) -> None:
    analysis = loaded.analysis()
    assert len(shown) == sum(len(comparison.cases) for comparison in analysis.comparisons)
    assert len({panel.id for panel in shown}) == len(shown)
    for panel in shown:
        figures = question(analysis, panel).of(panel.stack)
        known = panel.facts
        assert len(panel.marks) == (len(figures.processes) if figures else 0)
        assert figures and ("Median of a step" in known) == figures.is_timed
        assert panel.recipe is not None
        if panel.cell.outcome != "ok":
            assert known["Reason"] and known["Remedy"]
            assert panel.recipe.command.count("--stack=") == 1 and panel.recipe.company == " alone"


def test_a_panel_has_the_suites_own_ratio_over_every_baseline(loaded: results.Results, shown: list[Panel]) -> None:
    bases = [baseline for panel in shown for baseline, *_ in panel.ratios]
    assert len({*bases}) == 10 and bases[0] == synthetic.BASELINE
    seen = 0
    for base in {*bases}:
        analysis = loaded.analysis(base)
        for panel in shown:
            comparison = question(analysis, panel)
            figures = comparison.of(panel.stack)
            if figures is None or not figures.counts:
                assert panel.ratios == []
                continue
            [(by, words)] = [over for baseline, *over in panel.ratios if baseline == base]
            assert by == comparison.baseline
            if figures.speedup is None:
                assert words == "itself"
                continue
            ratio = figures.speedup.ratio
            assert words.startswith(figures.speedup.verdict)
            assert units.estimate(ratio.value, ratio.low, ratio.high) in words
            assert figures.speedup.why in words and figures.speedup.note in words
            seen += 1
    assert seen > 150


def test_the_plot_of_processes_names_their_least_and_greatest_median(
    loaded: results.Results, shown: list[Panel]
) -> None:
    analysis = loaded.analysis()
    seen = set()
    for panel in shown:
        figures = question(analysis, panel).of(panel.stack)
        if figures is None or not figures.is_timed:
            assert panel.ends == ()
            continue
        unit = column_units(question(analysis, panel)).steady
        seconds = [process.seconds for process in figures.processes]
        assert [words for _, words in panel.ends] == [*dict.fromkeys(map(unit, (min(seconds), max(seconds))))]
        if len(panel.ends) > 1:
            (low, _), (high, _) = panel.ends
            assert 6 < high <= low - 13 < 92
        seen.add(len(panel.ends))
    assert 2 in seen
    assert [words for _, words in ends([0.02, 0.02], LogAxis.over([0.02, 0.02]), units.time_unit([0.02]))] == [
        "20.0 ms"
    ]


def test_a_stack_in_two_modes_says_so_behind_its_cell_and_on_the_map() -> None:
    times = {"numpy": [0.030, 0.0301, 0.0299], "jax_jit": [0.010, 0.0101, 0.0151], "tf_xla": [0.02, 0.0201, 0.0199]}
    rows = [row for n in (64, 65) for row in rows_of(times, dims={"n": n})]
    made = report(results.Results(Path("nowhere"), plan_file(), rows, [], {}), "numpy")
    overview = made.overview
    assert overview and overview.sentence
    told = {panel.stack: panel.facts for panel in made.panels}
    assert (
        told["jax_jit"]["Two modes"].startswith("slowest/fastest 1.51×, fastest 10.0")
        and "Two modes" not in told["numpy"]
    )
    for row in overview.shown.rows:
        squares = dict(zip(overview.shown.columns, row.squares, strict=True))
        assert [stack for stack, square in squares.items() if square.has_modes] == ["jax_jit"]
        assert "modes" in squares["jax_jit"].css.split() and squares["jax_jit"].title.endswith("run in two modes")
    for of_question in overview.data["metrics"]["first"]["maps"]["numpy"]["cells"].values():
        assert not any("modes" in cell["css"].split() for cell in of_question.values()), "it is of steady steps"


def test_what_stands_in_for_a_baseline_is_named(shown: list[Panel]) -> None:
    [panel] = [panel for panel in shown if (panel.stack, panel.comparison.name) == ("numpy", "selu forward")]
    [(by, words)] = [over for baseline, *over in panel.ratios if baseline == "tf_graph"]  # an error on this question
    assert by == "jax_jit" and words.startswith("slower, ")


def test_a_run_plot_has_the_least_and_the_greatest_sample_in_under_4_kb(shown: list[Panel]) -> None:
    plots = [plot for panel in shown for plot in panel.runs]
    assert len(plots) > 100
    for plot in plots:
        numbers = [int(text) for text in plot.area.strip("MZ").replace("L", " ").split()]
        assert min(numbers) >= 0 and max(numbers[1::2]) <= HIGH
        assert len(plot.area) + len(plot.line) < 4096 and plot.width < COLUMNS_MOST
        assert 0 < plot.warmup <= plot.width  # ten of 120 samples are warm-up


def typed(command: str) -> RunOptions:
    """The options of a cell's command, as the program reads them."""
    words = shlex.split(command)
    assert words[:2] == ["./stackwars", "run"]
    _, options = parsed(words[1:])
    assert isinstance(options, RunOptions)
    return options


def test_a_command_asks_for_its_case_and_the_baselines_alone_with_the_sets_settings(
    loaded: results.Results, shown: list[Panel]
) -> None:
    assert loaded.plan_file is not None
    cases = {(planned.case.workload, planned.case.stack): planned.case for planned in loaded.plan_file.plan.cases}
    for panel in shown:
        if panel.comparison.name == "ffn train":
            continue  # the synthetic set's dims of ffn aren't those of the workload
        assert panel.recipe is not None
        options = typed(panel.recipe.command)
        case = cases[panel.comparison.name.split()[0], panel.stack]
        chosen = options.chosen_preset()
        plan = make("again", chosen, options.selection(range(case.threads)), find(), options.baseline, lambda *_: None)
        baseline = panel.stack if panel.cell.failed else panel.comparison.baseline
        beside = cases[case.workload, baseline]
        # The synthetic set's dims aren't those of its size.
        asked = [dataclasses.replace(planned.case, size=case.size) for planned in plan.cases]
        assert {each.case_id for each in asked} == {case.case_id, beside.case_id}
        assert plan.baseline == baseline and plan.purpose == "timed"
        assert options.engine == "local" and options.repeats == synthetic.BLOCKS
        assert options.preset == "ops" and options.sampling == "alone", "as the user gave them"


def test_a_command_keeps_the_options_that_hold_for_every_case() -> None:
    def kept(*options: str, **plan: Any) -> tuple[str, ...]:
        return tuple(options_of(plan_file(options=options, **plan)))

    assert kept("--workload=gemm", "--repeats=3", "--results=x", "--shard=1/2") == ("--engine=local",)
    given = ("--explain", "--ir=off", "--timeout=90s", "--purpose=timed")
    assert set(kept("--preset=full", *given)) == {"--preset=full", "--engine=local", *given}
    assert kept("--preset=/home/my sets/own.toml", set_id="a-set")[0] == "--preset=results/a-set/inputs/own.toml"
    asked = kept("--file=mine.py", workload_paths=("/home/mine.py",))
    assert asked == ("--preset=ask", "--engine=local", "--workload-path=/home/mine.py")
    mine = kept("--python=python3", "--stack-path=x", engine="docker", python="/usr/bin/python3", stack_paths=("/x",))
    assert mine == ("--engine=docker", "--python=/usr/bin/python3", "--stack-path=/x")


def test_an_older_set_whose_plan_has_no_options_has_a_shorter_command() -> None:
    made = report(results.load(SETS / "two_passes"))
    recipes = [panel.recipe for panel in made.panels if panel.recipe]
    assert recipes and all("--preset" not in recipe.command and " --repeats=2" in recipe.command for recipe in recipes)
    assert all(typed(recipe.command).engine == "local" and "older" in recipe.about[-1] for recipe in recipes)


def test_what_changes_the_numbers_is_in_the_command() -> None:
    protocol = dataclasses.replace(load("quick").protocol, timeout_seconds=90, compile_timeout_seconds=90)
    options_ = ("--allocator=system", "--timeout=90s")
    file = plan_file(protocol=protocol, options=options_, engine="docker", stack_paths=("/opt/my stacks",))
    times = {"numpy": [0.02, 0.021], "jax_jit": [0.01, 0.011], "tf_xla": [0.01, 0.012]}
    rows = rows_of(times, allocator="system", track="tuned", precision="bf16", threads=4, cache="warm")
    made = report(results.Results(Path("nowhere"), file, rows, [], {}))
    [panel] = [panel for panel in made.panels if panel.stack == "jax_jit"]
    assert panel.recipe is not None
    options = typed(panel.recipe.command)
    assert (options.engine, options.repeats, options.timeout) == ("docker", 2, "90s")
    assert (options.allocator, options.track, options.precision) == ("system", ("tuned",), ("bf16",))
    assert (options.cache, options.stack_path) == ("warm", ("/opt/my stacks",))
    assert options.chosen_preset().protocol == dataclasses.replace(
        protocol, until="blocks", blocks=2, blocks_max=2, noisy_retries=0, costly_blocks=0, disturbed_retries=0
    )
    assert panel.recipe.company == " and the baseline numpy"
    about = " ".join(panel.recipe.about)
    assert "4 cores" in about and "taskset -c 0,1,2,3 before" in about and "3 stacks took turns" in about
    assert "cold caches runs, too" in about


def test_a_page_says_what_its_command_runs_and_explains_its_flags(loaded: results.Results) -> None:
    rows = [row | {"flags": ["assumed"]} if row["stack"] == "numpy" else row for row in loaded.rows]
    text = page(results.Results(loaded.path, loaded.plan_file, rows, [], {}))
    panel = text.partition('--numpy" data-stack="numpy"')[2].partition("</article>")[0]
    words = " ".join(re.sub(r"<[^>]+>", "", panel).split())
    assert "This command runs numpy and the baseline torch_eager on this question." in words
    assert "as many blocks as here (5)" in words
    link = '<a class="tag warn" href="#term-steady-state-assumed" title="Fewer than 40 samples could show'
    assert link in panel and link in text.partition('id="comparisons"')[2]
    assert 'id="term-steady-state-assumed"' in text


def test_processes_that_were_inferred_are_told_apart_from_those_that_ran() -> None:
    rows = rows_of({"numpy": [0.02] * 3, "jax_jit": [0.01] * 3})
    rows = [
        row | {"outcome": "wrong", "reason": "loss", "provenance": "measured" if row["block"] == 1 else "inferred"}
        if row["stack"] == "jax_jit"
        else row
        for row in rows
    ]
    made = report(results.Results(Path("nowhere"), plan_file(baseline="numpy"), rows, [], {}))
    known = {panel.stack: panel.facts["Processes"] for panel in made.panels}
    assert known == {"numpy": "3 ok of 3", "jax_jit": "0 ok of 3: 1 ran, 2 inferred"}


def test_every_panel_has_the_command_that_reproduces_its_set(html_file: Path, made: Report) -> None:
    assert made.results.plan is not None
    command = f">./stackwars reproduce --set={made.results.plan.set_id}<"
    assert html_file.read_text(encoding="utf-8").count(command) == len(made.panels)
