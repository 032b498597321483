"""What is behind a cell: the process's own figures, small, and a command that the program takes."""

from __future__ import annotations

import shlex

from suite import results
from suite.cli.options.measuring import RunOptions
from suite.report.map.panel import COLUMNS_MOST, HIGH, panels
from suite.report.map.remedies import command
from tests.report import synthetic


def test_every_planned_cell_has_a_panel(loaded: results.Results) -> None:
    analysis = loaded.analysis()
    made = panels(analysis, {}, planned=True)
    assert len(made) == sum(len(comparison.cells) for comparison in analysis.comparisons)
    assert len({panel.id for panel in made}) == len(made)
    for panel in made:
        comparison = next(comparison for comparison in analysis.comparisons if comparison.name == panel.question)
        figures = comparison.of(panel.stack)
        known = {fact.name: fact.value for fact in panel.facts}
        assert len(panel.marks) == (len(figures.processes) if figures else 0)
        assert ("Median of a step" in known) == (figures is not None)
        if panel.outcome != "ok":
            assert known["Reason"] and known["Remedy"]
            assert panel.command.count("--stack=") == 1, "alone"


def test_a_run_plot_has_the_least_and_the_greatest_sample_in_under_4_kb(loaded: results.Results) -> None:
    made = [plot for panel in panels(loaded.analysis(), loaded.machine, planned=True) for plot in panel.runs]
    assert len(made) > 100
    for plot in made:
        numbers = [int(text) for text in plot.area.strip("MZ").replace("L", " ").split()]
        assert min(numbers) >= 0 and max(numbers[1::2]) <= HIGH
        assert len(plot.area) + len(plot.line) < 4096 and plot.width < COLUMNS_MOST
        assert 0 < plot.warmup <= plot.width  # ten of 120 samples are warm-up


def test_the_command_asks_for_this_case() -> None:
    case = synthetic.case("gemm", "forward", "jax_jit", {"n": 1024})
    words = shlex.split(command(case, "torch_eager"))
    assert words[:2] == ["./stackwars", "run"]
    names = {word.removeprefix("--").partition("=")[0].replace("-", "_") for word in words[2:]}
    fields = {name.rstrip("_") for name in RunOptions.__dataclass_fields__}
    assert names <= fields
    assert {"--workload=gemm", "--pass=forward", "--stack=jax_jit", "--baseline=torch_eager", "--size=full"} <= {*words}
    assert "--limit-memory=2GiB" in words
