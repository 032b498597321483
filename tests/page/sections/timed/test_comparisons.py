"""The figures of the report against figures computed here by other means."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from pathlib import Path
from statistics import fmean, geometric_mean, median, stdev
from typing import Any

import numpy as np
import polars as pl
import pytest

from suite import results, units
from suite.answers.compiled import between, compiled_pairs
from suite.answers.show import parts
from suite.errors import UserError
from suite.page.formats.render import render
from suite.page.report import Report, report
from suite.page.sections.timed.comparisons import ComparisonsSection, order_words
from suite.results.analysis import Comparison
from suite.results.case_row import CaseRow
from suite.results.outcomes import outcome_text
from suite.sets.rows import NOT_RUN, Row, accepted
from tests.page import synthetic
from tests.page.parts import found as found_
from tests.page.parts import part
from tests.plan_files import plan_file
from tests.results.rows import rows_of

STEPS = r"\d(?:[\d,]*\d)?"
STEPS_OF = re.compile(rf"(\w+_\w+) ({STEPS}(?: to {STEPS})?)(?: \((\d))?")  # `jax_jit 8 to 12 (1`
T4 = 2.7764451051977987  # Student's t, 97.5 %, four degrees of freedom


def comparison(made: Report, name: str) -> Comparison:
    """A comparison by its name."""
    return next(comparison for comparison in comparisons_of(made) if comparison.name == name)


def comparisons_of(made: Report) -> list[Comparison]:
    """All of them, in the page's order."""
    return [view.comparison for view in part(made, ComparisonsSection).views]


def row(made: Report, name: str, stack: str) -> CaseRow:
    """A stack's row; it must be there."""
    found = comparison(made, name).of(stack)
    assert found is not None
    return found


def line(made: Report, name: str, stack: str) -> dict[str, Any]:
    """A stack's line in the table of comparisons."""
    [found] = found_(made, "comparisons").table.filter(question=name, stack=stack).iter_rows(named=True)
    return found


def raw(loaded: results.Results, workload: str, stack: str, replicate: int = 1) -> list[Row]:
    """The counting rows of a case, by block."""
    kept = [r for r in accepted(loaded.rows) if r["workload"] == workload and r["stack"] == stack]
    return sorted((r for r in kept if r["replicate"] == replicate), key=lambda r: r["block"])


def steady(of: dict[str, Any]) -> list[float]:
    """Synced samples without the ten of the warm-up."""
    samples: list[float] = of["synced_seconds"]
    return samples[10:]


def test_times_of_a_stack_are_those_of_its_raw_samples(made: Report, loaded: results.Results) -> None:
    rows = raw(loaded, "ffn", "jax_jit")
    found, shown = row(made, "ffn train", "jax_jit"), line(made, "ffn train", "jax_jit")
    assert len(rows) == 5
    assert found.first_seconds == pytest.approx(median(r["first_seconds"] for r in rows))
    assert found.second_seconds == pytest.approx(median(r["second_seconds"] for r in rows))
    assert shown["average_seconds"] == pytest.approx(fmean(fmean(steady(r)) for r in rows))
    medians = [median(steady(r)) for r in rows]
    assert found.median_seconds == pytest.approx(geometric_mean(medians))
    half = T4 * stdev(math.log(m) for m in medians) / math.sqrt(5)
    assert found.median_seconds_low == pytest.approx(geometric_mean(medians) * math.exp(-half))
    assert found.median_seconds_high == pytest.approx(geometric_mean(medians) * math.exp(half))
    pooled = [s for r in rows for s in steady(r)]
    assert shown["p5_seconds"] == pytest.approx(np.percentile(pooled, 5))
    assert shown["p95_seconds"] == pytest.approx(np.percentile(pooled, 95))
    assert shown["items_per_second"] == pytest.approx(128 / geometric_mean(medians))
    assert found.peak_bytes == max(r["host_peak_step_bytes"] - r["host_file_bytes"] for r in rows)


def test_clocks_are_compared_inside_a_process(made: Report, loaded: results.Results) -> None:
    rows = raw(loaded, "gemm", "jax_jit")
    found = row(made, "gemm forward", "jax_jit")
    copies = [median(r["fetch_seconds"]) - median(steady(r)) for r in rows]
    gains = [median(steady(r)) / median(r["pipelined_seconds"]) for r in rows]
    dispatch = [median(r["dispatch_seconds"][10:]) for r in rows]
    assert found.dispatch_seconds == pytest.approx(geometric_mean(dispatch))
    assert found.fetch_seconds == pytest.approx(geometric_mean([median(r["fetch_seconds"]) for r in rows]))
    shown = line(made, "gemm forward", "jax_jit")
    assert shown["copies"] == pytest.approx(copies)
    assert shown["gain"] == pytest.approx(median(gains))
    assert shown["early"] == pytest.approx(1 - 0.015)  # dispatch is 1.5 % of each synced sample
    [other] = found_(made, "transfers").table.filter(question="gemm forward", stack="jax_jit").iter_rows(named=True)
    assert [other[name] for name in ("gain", "early", "fetch_seconds")] == [
        shown["gain"],
        shown["early"],
        found.fetch_seconds,
    ]


def test_rows_are_fastest_first_and_what_does_not_count_is_last(made: Report) -> None:
    for c in comparisons_of(made):
        counting = [r.median_seconds or 0.0 for r in c.timed if r.counts]
        assert counting == sorted(counting)
        assert [r.counts for r in c.timed] == sorted((r.counts for r in c.timed), reverse=True)


def test_wrong_in_one_block_leaves_every_ratio_and_stays_visible(made: Report) -> None:
    wrong = row(made, "selu forward", "torch_inductor")
    assert wrong.outcome == "wrong" and not wrong.counts and wrong.speedup is None
    assert comparison(made, "selu forward").timed[-1] is wrong
    assert wrong.relative_error == pytest.approx(3.1e-2)
    inductor = next(s for s in made.analysis.means() if s.stack == "torch_inductor")
    assert (inductor.n_ok, inductor.n) == (2, 3)
    assert inductor.least and inductor.greatest
    assert comparison(made, "selu forward").id not in (inductor.least.comparison_id, inductor.greatest.comparison_id)
    assert any("torch_inductor in selu forward" in notice for notice in made.notices)
    pairs = found_(made, "compiled").table.to_dicts()
    pair = next(p for p in pairs if (p["question"], p["compiled"]) == ("selu forward", "torch_inductor"))
    assert (pair["speedup"], pair["ended"], pair["pays_off_after_steps"]) == (None, "wrong result", None)


def test_a_stack_that_failed_in_one_block_is_compared_in_the_others_and_says_so(made: Report) -> None:
    partial = row(made, "gemm forward", "tf_xla")
    assert partial.outcome == "crashed" and outcome_text(partial) == "crashed in the steady runs, 1 of 5"
    assert partial.speedup is not None and partial.speedup.ratio.blocks == 4


def test_the_page_has_each_ratio_and_1_of_the_baseline(made: Report) -> None:
    [view] = [view for view in part(made, ComparisonsSection).views if view.comparison.name == "ffn train"]
    place = [head.title for head in view.timing.heads].index("Speedup")
    shown = {cells[0].text: float(cells[place].raw) for cells in view.timing.lines}
    ratios = {stack.stack: stack.speedup.ratio.value for stack in view.comparison.timed if stack.speedup}
    assert shown == pytest.approx(ratios | {view.comparison.baseline: 1.0})


def endings(made: Report) -> list[dict[str, Any]]:
    return found_(made, "endings").table.to_dicts()


def test_every_planned_case_appears(made: Report, loaded: results.Results) -> None:
    assert loaded.plan_file is not None
    planned = {(attempt.case.workload, attempt.case.stack) for attempt in loaded.plan_file.attempts}
    shown = {(line["question"].split()[0], line["stack"]) for line in endings(made)}
    assert shown == planned and len(planned) == 30
    for c in comparisons_of(made):
        assert {r.stack for r in c.timed} | {case.stack for case in c.cases if not case.is_timed} == set(
            synthetic.STACKS
        )


def test_each_case_says_how_it_ended(made: Report) -> None:
    lines = [((line["question"], line["stack"]), line) for line in endings(made)]
    told = {case: (line["outcome"], line["phase"]) for case, line in lines}
    assert told["gemm forward", "jax_jit"] == ("ok", "") and dict(lines)["gemm forward", "jax_jit"]["blocks"] == "1–5"
    assert told["ffn train", "tf_eager"] == ("oom_host", "build")
    assert told["ffn train", "torch_xla"] == ("timeout", "first")
    assert told["selu forward", "torch_xla"] == ("unsupported", "")
    assert told["selu forward", "tf_graph"] == ("error", "second")
    both = [
        (line["outcome"], line["phase"], line["blocks"]) for case, line in lines if case == ("gemm forward", "tf_xla")
    ]
    assert both == [("crashed", "steady", "3"), ("ok", "", "1–2, 4–5")]


def test_every_row_that_is_not_ok_has_its_reason(made: Report, loaded: results.Results) -> None:
    for raw_row in loaded.rows:
        if raw_row["outcome"] != "ok":
            assert any(
                all(line[name] == raw_row[name] for name in ("outcome", "stack", "reason")) for line in endings(made)
            )
    unsupported = [line for line in endings(made) if line["outcome"] == "unsupported"]
    assert [(line["stack"], line["blocks"]) for line in unsupported] == [("torch_xla", "1–5")]
    error = next(line for line in endings(made) if line["outcome"] == "error")
    assert {"flag": "rejected_block", "processes": "1/6"} in error["flags"]


def test_eager_pairs_come_from_the_catalogue_and_leave_numpy_out(made: Report) -> None:
    found = compiled_pairs(["numpy", "jax_eager", "jax_jit@nightly", "tf_graph", "torch_eager", "torchax_jit"])
    assert found == {"jax_jit@nightly": "jax_eager", "torchax_jit": "torch_eager"}
    pairs = found_(made, "compiled").table
    assert "numpy" not in {*pairs["eager"], *pairs["compiled"]} and pairs.height == 3 * 6


def test_headlines_answer_each_comparison_and_are_honest(loaded: results.Results) -> None:
    answers = {h.question: h for h in report(loaded).headlines}
    selu = answers["selu forward"]
    assert selu.lowest == "jax_jit" and selu.rivals == ()
    assert selu.text.startswith("Fastest for selu forward: jax_jit, ") and " torch_eager [" in selu.text
    ffn = answers["ffn train"]
    assert ffn.rivals == ("torch_inductor",) and ffn.text.startswith("Lowest median for ffn train: jax_jit")
    against_self = {h.question: h for h in report(loaded, "jax_jit").headlines}["selu forward"]
    assert "(the baseline)" in against_self.text


def test_one_block_decides_nothing(tmp_path: Path) -> None:
    loaded = results.load(synthetic.write(tmp_path / "one", blocks=1))
    made = report(loaded)
    assert any("not complete" in notice for notice in made.notices)
    assert all(r.speedup.verdict == "undecided" for c in comparisons_of(made) for r in c.timed if r.speedup)
    assert all(r.median_seconds_low is None for c in comparisons_of(made) for r in c.timed)
    assert all(", undecided" in h.text or "(the baseline)" in h.text for h in made.headlines if h.lead)
    unrun = [line for line in endings(made) if line["outcome"] == NOT_RUN]
    assert unrun and all(line["blocks"] == "2–5" for line in unrun)


def test_a_set_without_any_row_is_still_reported(tmp_path: Path) -> None:
    folder = synthetic.write(tmp_path / "none", blocks=0)
    made = report(results.load(folder))
    names = [c.name for c in comparisons_of(made)]
    assert [said.text.split(":")[0] for _, said in made.answers] == [f"No answer so far for {name}" for name in names]
    assert render(folder).stat().st_size > 10_000


def test_a_bare_parquet_file_is_reported(folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "results.parquet"
    copy.write_bytes((folder / "results.parquet").read_bytes())
    assert render(copy, baseline="jax_jit") == tmp_path / "report.html"


def test_the_names_tell_comparisons_apart(tmp_path: Path, folder: Path) -> None:
    loaded = results.load(folder)
    bare = plan_file(baseline="numpy")  # of no attempts
    doubled = [
        r | {"size": size, "comparison_id": size + r["comparison_id"], "case_id": size + r["case_id"]}
        for size in ("full", "tiny")
        for r in loaded.rows
    ]
    made = report(results.Results(folder, bare, doubled, [], {}))
    assert [c.name for c in comparisons_of(made)][:2] == ["ffn train full", "ffn train tiny"]
    same: list[Row] = [r | {"size": "full"} for r in doubled]
    names = [c.name for c in comparisons_of(report(results.Results(folder, bare, same, [], {})))]
    assert len(set(names)) == 6 and names[2].startswith("gemm forward (n = 1,024) ")
    swept = [r | {"dims": '{"n": 64}'} if r["case_id"].startswith("tiny") else r for r in same]
    names = [c.name for c in comparisons_of(report(results.Results(folder, bare, swept, [], {})))]
    assert {"gemm forward (n = 64)", "gemm forward (n = 1,024)"} <= set(names)


def test_reproduction_names_everything_the_set_was_made_from(made: Report, loaded: results.Results) -> None:
    [shown] = [section.shown for section in made.sections if section.name == "reproduce"]
    file, steps, facts = loaded.plan_file, "\n".join(shown["steps"]), shown["facts"]
    assert file is not None
    assert "git checkout 0123456789abcdef" in steps and file.command in steps
    assert facts["seed"] == "20260115" and facts["source modified"] == "no"
    assert {name: facts[f"lock file {name}"] for name in file.locks} == dict(file.locks) and len(file.locks) > 5


def test_surroundings(made: Report) -> None:
    rows = found_(made, "environment").table.to_dicts()
    facts = {row["fact"]: row["value"] for row in rows if row["of"] == "jax"}
    assert (facts["jax"], facts["numpy"], facts["affinity"]) == ("2.13.0", "2.3.5", "0, 1")
    assert facts["environment_variables.OMP_NUM_THREADS"] == "2"
    assert facts["timer_cost_seconds"] == "81.0 ns" and "readings" in facts["mhz_before"]
    blocks = found_(made, "blocks").table.to_dicts()
    assert [(b["block"], b["run"], b["counted"]) for b in blocks][1:3] == [(2, 1, "rejected"), (2, 2, "accepted")]
    assert blocks[1]["drift"] == pytest.approx(0.113)


def test_missing_set_and_unknown_baseline_are_refused(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no result set"):
        render(tmp_path / "nowhere")
    with pytest.raises(UserError, match="Did you mean 'torch_eager'"):
        render(folder, tmp_path / "x.html", baseline="torch_eagre")
    assert not (tmp_path / "x.html").exists()
    empty = results.Results(folder, plan_file(), [], [], {})
    with pytest.raises(UserError, match="nothing to report"):
        report(empty)


def test_nothing_is_bold_that_has_no_interval(tmp_path: Path, html_file: Path) -> None:
    bold = r'<td class="key"|: <b>\w+</b>'
    assert len(re.findall(bold, html_file.read_text(encoding="utf-8"))) > 40
    one = render(synthetic.write(tmp_path / "one", blocks=1), tmp_path / "one.html")
    assert re.findall(bold, one.read_text(encoding="utf-8")) == []


def test_the_page_ranks_by_means_over_all_questions(made: Report) -> None:
    answered = {
        s.stack: sum(1 for c in comparisons_of(made) for r in c.timed if r.stack == s.stack and r.speedup)
        for s in made.analysis.means()
    }
    table = found_(made, "summary").table.filter(over="all questions")
    assert dict(table.filter(pl.col("stack") != made.analysis.baseline)["stack", "answered"].rows()) == answered
    ranked = table.filter(pl.col("lacks") == "")
    assert ranked.height > 2 and ranked["mean"].is_sorted(descending=True)
    assert set(ranked["answered"]) == {3} and set(table["questions"]) == {3}
    logs = [math.log(c.of("jax_jit").speedup.ratio.value) for c in comparisons_of(made)]  # type: ignore[union-attr]
    assert ranked.filter(stack="jax_jit")["mean"].item() == pytest.approx(math.exp(fmean(logs)))


def test_what_compiling_pays_off_against_is_named(made: Report) -> None:
    answer = found_(made, "compiled")
    pairs = answer.table.to_dicts()
    paid = {pair["compiled"]: pair["eager"] for pair in pairs if pair["pays_off_after_steps"]}
    assert paid
    named = {stack: (steps, int(on or 0)) for stack, steps, on in STEPS_OF.findall(answer.sentence)}
    assert named.keys() == paid.keys(), "all of them, however many"
    for compiled, (text, on) in named.items():
        rows = [pair["pays_off_after_steps"] for pair in pairs if pair["compiled"] == compiled]
        steps = [step for step in rows if step is not None]
        assert text == between(steps) and on == (len(steps) if len(steps) < len(rows) else 0)
    assert sum(on > 0 for _, on in named.values()) > 1


def test_a_number_of_steps_is_rounded_alike_on_the_map_in_sections_and_in_sentences() -> None:
    # jax_jit's first run takes 400 s more; it saves 5.157 ms a step.
    times = {"numpy": [0.01, 0.01001, 0.00999], "jax_jit": [0.004843, 0.004844, 0.004842]}
    rows = [row | ({"first_seconds": 400.0} if row["stack"] == "jax_jit" else {}) for row in rows_of(times)]
    loaded = results.Results(Path("nowhere"), None, rows, [], {})
    made = report(loaded, "numpy")
    answer = found_(made, "break_even")
    [line] = [line for line in answer.table.iter_rows(named=True) if line["stack"] == "jax_jit"]
    assert line["step"] > 10_000 and line["course"] == "ahead from a step on"
    steps = units.steps(line["step"])
    assert steps != f"{line['step']:,}" and steps.endswith("00")
    [part_] = parts(answer.table, "question")
    assert steps in [cell.text for cell in part_.lines[[cells[0].text for cells in part_.lines].index("jax_jit")]]
    assert f"numpy up to step {steps}, then jax_jit" in answer.sentence, "two rounded steps may be one number"
    overview = made.overview
    assert overview
    [cells] = overview.data["metrics"]["steps"]["maps"]["numpy"]["cells"].values()
    assert f"from step {steps}" in [cell["words"] for cell in cells.values()]
    assert f"in total time from step {steps} on" in made.headlines[0].rest
    assert between([line["step"]]) == steps and between([1, 12]) == "1 to 12"


def test_a_time_has_one_unit_in_table_map_panel_and_sentence() -> None:
    times = {
        "numpy": [0.005, 0.00501, 0.00499],
        "jax_jit": [0.0003, 0.000301, 0.000299],
        "tf_xla": [0.0004, 0.000401, 0.000399],
    }
    made = report(results.Results(Path("nowhere"), None, rows_of(times), [], {}), "numpy")
    overview = made.overview
    assert overview
    [shown] = overview.shown.rows
    [baseline] = [cell for cell in shown.squares if cell.kind == "baseline"]
    assert baseline.small == "5,000 \N{MICRO SIGN}s" == baseline.own
    [panel] = [panel for panel in made.panels if panel.stack == "numpy"]
    assert next(iter(panel.facts.values())).startswith("5,000 \N{MICRO SIGN}s")
    assert panel.marks[0].title == "block 1: 5,000 \N{MICRO SIGN}s" and "5,000 \N{MICRO SIGN}s" in panel.runs[0].title


def test_an_order_by_medians_that_the_ratios_lack_is_explained(made: Report) -> None:
    ffn = comparison(made, "ffn train")
    upper, lower = [stack for stack in ffn.timed if stack.counts and stack.speedup][:2]
    assert upper.speedup and lower.speedup and upper.speedup.ratio.value > lower.speedup.ratio.value
    assert order_words(replace(ffn, cases=(upper, lower))) == ""
    said = order_words(replace(ffn, cases=(lower, upper)))
    shown = [units.ratio(r.value, r.low, r.high) for r in (upper.speedup.ratio, lower.speedup.ratio)]
    assert said.startswith(
        f"The order is that of the medians. By ratio {upper.stack} ({shown[0]}) comes before {lower.stack} ({shown[1]})"
    )
    base = next(stack for stack in ffn.timed if stack.is_baseline)
    assert f"({shown[0]}) comes before {base.stack} (1.00×)" in order_words(replace(ffn, cases=(base, upper)))
