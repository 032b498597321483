"""The map in a real browser: every baseline shows the suite's own numbers, and the address keeps the choice."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from playwright.sync_api import Page

from suite import results, units
from suite.page.formats.render import page, render
from suite.page.map.means import mean_rows
from suite.page.map.metrics import STEADY
from suite.page.map.sentence import overall
from suite.page.report import CASES_MOST, Report
from suite.page.sections.timed.comparisons import ComparisonsSection
from suite.page.sections.timed.units import column_units
from suite.results.ranking import ranked_stacks
from suite.results.shown import of_stacks
from tests.browser import NARROW, Tabs, told, unfold
from tests.page import synthetic
from tests.page.parts import found
from tests.results.rows import attempt_of, row_of, rows_of

TWO = {"numpy": [0.02, 0.021, 0.0205], "jax_jit": [0.010, 0.0101, 0.0102]}
TOPS = """out.tops = all("#map .means td").filter(visible).map(text)"""


@pytest.fixture
def tabs(tabs: Tabs) -> Tabs:
    """Opens pages with the map in sight, which is folded below the figures of few questions."""
    opening = tabs.open

    def opened(file: Path, fragment: str = "", **options: Any) -> Page:
        tab = opening(file, fragment, **options)
        unfold(tab, ".as-map, .how")
        return tab

    tabs.open = opened  # type: ignore[method-assign]
    return tabs


def choose(tab: Page, name: str, value: str) -> None:
    """Chooses a value of a control."""
    tab.locator(f"#controls [name={name}]").select_option(value)


def test_every_baseline_shows_the_suites_own_numbers(tabs: Tabs, html_file: Path, loaded: results.Results) -> None:
    tab = tabs.open(html_file)
    stacks = told(tab, "out.of = all('#map thead th[data-stack]').map(head => head.dataset.stack)")["of"]
    bases = tab.locator("#controls [name=baseline] option").all_inner_texts()
    assert len(bases) >= 8
    seen = 0
    for base in bases:
        choose(tab, "baseline", base)
        out = told(
            tab,
            """
            out.questions = all("#map .asked th a").map(text);
            out.map = all("#map .asked tr").map(row => [...row.querySelectorAll("td")].map(cell =>
              [cell.className, text(cell.querySelector(".w")), text(cell.querySelector("small"))]));
            out.tables = all(".comparison").map(section => {
              const table = section.querySelector("table"), heads = [...table.tHead.rows[0].cells].map(text);
              return [...table.tBodies[0].rows].map(row =>
                [heads[0], "Speedup", "Verdict"].map(head => text(row.cells[heads.indexOf(head)])));
            })""",
        )
        analysis = loaded.analysis(base)
        assert [comparison.name for comparison in analysis.comparisons] == out["questions"]
        for comparison, row, table in zip(analysis.comparisons, out["map"], out["tables"], strict=True):
            lines = {line[0]: line[1:] for line in table}
            for stack, (css, words, small) in zip(stacks, row, strict=True):
                figures = comparison.of(stack)
                if figures is None or not figures.counts or figures.speedup is None:
                    continue
                ratio, word = figures.speedup.ratio, str(figures.speedup.verdict)
                size, interval = units.ratio(ratio.value), units.interval(ratio.low, ratio.high)
                assert word in css.split()
                assert f"{size} {interval}".strip() in (f"{words[2:]} {small}".strip(), small), (base, stack)
                assert lines[stack][0] == size and word in lines[stack][1]
                seen += 1
    assert seen > 150


def test_an_opened_cell_its_command_headings_and_answers_follow_the_chosen_baseline(
    tabs: Tabs, html_file: Path, loaded: results.Results
) -> None:
    tab = tabs.open(html_file)
    for base in ("jax_jit", "tf_graph", "torch_eager"):
        choose(tab, "baseline", base)
        out = told(
            tab,
            """
            const seen = node => text(node).replace(/\\s+/g, " ");
            const shown = nodes => nodes.filter(node => !node.closest("[hidden]")).map(seen);
            out.panels = all(".panel").map(panel => [
              panel.dataset.stack, seen(panel.querySelector(".over-name")), seen(panel.querySelector(".over-ratio")),
              seen(panel.querySelector("pre:last-of-type")), seen(panel.querySelector("h3:last-of-type + p"))]);
            out.questions = all(".panel h2").map(head => seen(head).split(" on ")[1]);
            out.heading = shown(all("#summary").map(part => part.parentNode).flatMap(part =>
              [...part.querySelectorAll("summary h2 > span, summary .gist > span")]));
            out.gists = shown(all(".comparison .gist"));
            out.answers = shown(all("#answers .a"));
            out.frames = all("#map .asked tr").map(row => [...row.querySelectorAll(".leads")].map(cell =>
              cell.className));""",
        )
        analysis = loaded.analysis(base)
        made = Report(loaded, analysis)
        comparisons = made.section(ComparisonsSection)
        assert comparisons
        assert out["heading"] == [f"Summary against {base}", found(made, "summary").sentence]
        told_answers = [f"{h.before}{h.lowest}{h.rest}" for h in (view.headline for view in comparisons.views)]
        assert out["gists"] == told_answers and out["answers"][: len(told_answers)] == told_answers
        assert all(frames and "slower" not in " ".join(frames) for frames in out["frames"])
        by_name = {comparison.name: comparison for comparison in analysis.comparisons}
        seen = 0
        for question, (stack, name, ratio, command, about) in zip(out["questions"], out["panels"], strict=True):
            comparison = by_name[question]
            figures = comparison.of(stack)
            if figures is None or not figures.counts:
                assert name == "" and f"--baseline={stack}" in command
                continue
            by = comparison.baseline
            assert name == f"A steady step over {base}{'' if by == base else f' ({by} in its place)'}"
            assert (ratio == "this is the baseline") == (stack == by)
            if not figures.failed:
                assert f"--baseline={by} " in command and command.count("--stack=") == (1 if stack == by else 2)
                company = f"{stack} alone" if stack == by else f"{stack} and the baseline {by}"
                assert f"This command runs {company} on this question." in about
            if figures.speedup:
                over = figures.speedup.ratio
                assert ratio.startswith(figures.speedup.verdict)
                assert units.estimate(over.value, over.low, over.high) in ratio
                seen += 1
        assert seen > 15


def test_without_the_script_an_opened_cell_has_the_ratio_over_every_baseline(tabs: Tabs, html_file: Path) -> None:
    name = re.findall(r'class="panel" id="([^"]*gemm[^"]*jax_jit)"', html_file.read_text(encoding="utf-8"))[0]
    tab = tabs.open(html_file, f"#{name}", script=False)
    tab.locator(f"#{name} details.small summary").click()
    ratios = tab.locator(f"#{name} details.small dd:visible").all_inner_texts()
    assert len(ratios) == 10 and ratios.count("itself") == 1
    assert tab.locator(f"#{name} .over-name").inner_text() == f"A steady step over {synthetic.BASELINE}"
    assert not tab.locator(f"#{name} .shown-name").is_visible()


@pytest.mark.parametrize("metric", ["steady", "first", "memory", "steps", "host"])
def test_an_opened_cell_has_what_the_map_shows_beside_the_steady_step(tabs: Tabs, html_file: Path, metric: str) -> None:
    tab = tabs.open(html_file, f"#metric={metric}&baseline=numpy")
    cell = tab.locator("#map .asked tr").first.locator("td[data-stack=jax_jit]")
    words = (
        cell.locator(".w").inner_text().partition(" ")[2]
        if metric in ("first", "host")
        else cell.locator(".w").inner_text()
    )
    own = cell.locator(".own").inner_text() if metric != "steps" else ""
    cell.locator("a").click()
    panel = tab.locator(".panel.open")
    assert panel.locator(".over-name").inner_text() == "A steady step over numpy"
    name, value = panel.locator(".shown-name"), panel.locator(".shown-value")
    assert name.is_visible() == value.is_visible() == (metric != "steady")
    if metric == "steady":
        return
    caption = tab.locator("#map caption").inner_text()
    assert caption.startswith(f"{name.inner_text()}. ") and "over numpy" in caption
    assert value.inner_text().startswith(own) and words in value.inner_text()


def test_names_and_values_of_an_opened_cell_stand_apart_on_a_narrow_screen(tabs: Tabs, html_file: Path) -> None:
    tab = tabs.open(html_file, screen=NARROW)
    tab.locator("#map .asked td a").first.click()
    name, value = (tab.locator(f".panel.open .over-{part}") for part in ("name", "ratio"))
    above, below = name.bounding_box(), value.bounding_box()
    assert above and below and above["y"] + above["height"] <= below["y"] + 1
    words = tab.locator(".panel.open dl").first.evaluate("list => list.textContent")
    assert f"over {synthetic.BASELINE} " in words


@pytest.mark.parametrize("metric", ["first", "memory", "host", "steps"])
def test_a_card_has_its_stacks_own_figure_of_what_the_map_shows(
    tabs: Tabs, html_file: Path, loaded: results.Results, metric: str
) -> None:
    tab = tabs.open(html_file, f"#metric={metric}", screen=NARROW)
    comparison = loaded.analysis().comparisons[0]
    unit = column_units(comparison)
    seen = 0
    for stack in comparison.timed:
        if not stack.counts:
            continue
        figures = {"first": unit.first(stack.first_seconds), "memory": units.quantity(stack.peak_bytes), "steps": ""}
        wanted = figures.get(metric, unit.steady(stack.fetch_seconds))
        cell = tab.locator("#map .asked tr").first.locator(f"td[data-stack={stack.stack}]")
        assert [*cell.locator(".own").all_inner_texts()] == [wanted] * bool(wanted)
        assert cell.inner_text().count(wanted or "never so") == bool(wanted), "once"
        if metric == "steps":
            assert unit.steady(stack.median_seconds) not in cell.inner_text()
        seen += 1
    assert seen > 5
    choose(tab, "metric", "steady")
    first = tab.locator("#map .asked tr").first.locator(f"td[data-stack={synthetic.BASELINE}] .own").inner_text()
    baseline = comparison.of(synthetic.BASELINE)
    assert baseline and first == unit.steady(baseline.median_seconds)


def test_the_scale_of_colours_has_the_words_of_what_is_shown(tabs: Tabs, html_file: Path) -> None:
    tab = tabs.open(html_file)
    ends = tab.locator(".legend.key .scale span")
    assert ends.all_inner_texts() == ["slower", "faster"]
    for metric, words in (("memory", ["more memory", "less memory"]), ("steps", ["behind", "ahead"])):
        choose(tab, "metric", metric)
        assert ends.all_inner_texts() == words
    choose(tab, "metric", "host")
    assert ends.all_inner_texts() == ["slower", "faster"]


@pytest.mark.parametrize("baseline", [synthetic.BASELINE, "jax_jit", "numpy"])
def test_who_hides_stacks_gets_the_frames_means_and_sentence_of_the_others(
    tabs: Tabs, html_file: Path, loaded: results.Results, baseline: str
) -> None:
    analysis = loaded.analysis(baseline)
    random, columns, seen = Random(baseline), ranked_stacks(loaded.analysis()), set()
    for number in (0, 1, 3, 6, 7):
        hidden = random.sample(columns, number)
        tab = tabs.open(html_file, f"#baseline={baseline}&hide={','.join(hidden)}")
        out = told(
            tab,
            """
            out.said = text(document.getElementById("verdict"));
            out.frames = all("#map .asked tr").map(row => [...row.querySelectorAll(".leads")].filter(visible)
              .map(cell => cell.dataset.stack));
            out.tops = all("#map .means td").filter(visible).map(cell => text(cell.querySelector(".w")));""",
        )
        shown = [stack for stack in columns if stack not in hidden]
        visible = replace(analysis, comparisons=tuple(of_stacks(each, shown) for each in analysis.comparisons))
        assert out["said"] == overall(visible, shown), hidden
        assert out["frames"] == [[stack for stack in shown if stack in each.leaders] for each in visible.comparisons]
        means = [dict(zip(columns, row.squares, strict=True)) for row in mean_rows(analysis, STEADY, columns)]
        assert [top.removeprefix("◆ ") for top in out["tops"]] == [of[stack].words for of in means for stack in shown]
        seen.add(out["said"])
    assert len(seen) > 2, "it depends on who is shown"


def test_questions_are_sorted_by_a_stack_and_times_stand_beside_ratios(tabs: Tabs, html_file: Path) -> None:
    tab = tabs.open(html_file)
    names = tab.locator("#map .asked th a")
    before = names.all_inner_texts()
    head = tab.locator("#map thead th[data-stack=jax_jit]")
    head.locator("button").click()
    ratios = tab.locator("#map .asked td[data-stack=jax_jit] .w").all_inner_texts()
    found = [float(match[0]) for words in ratios for match in [re.search(r"[0-9.]+(?=×)", words)] if match]
    assert len(found) > 1 and found == sorted(found, reverse=True) and head.get_attribute("aria-sort") == "descending"
    head.locator("button").click()
    assert names.all_inner_texts() == before
    own = tab.locator(f"#map .asked td[data-stack={synthetic.BASELINE}] .own").first.bounding_box()
    assert own and own["width"] > 20


def test_the_sentence_follows_what_is_shown(tabs: Tabs, html_file: Path) -> None:
    tab = tabs.open(html_file)
    verdict = tab.locator("#verdict")
    for metric, begins in (("first", "By the first run: "), ("memory", "There is no verdict on peak memory")):
        choose(tab, "metric", metric)
        assert verdict.inner_text().startswith(begins)


def test_the_legend_says_what_a_dash_and_a_frame_mean(tabs: Tabs, html_file: Path) -> None:
    tab = tabs.open(html_file)
    assert tab.locator("ul[aria-label=Legend] > li").count() == 3
    legend = tab.locator("ul[aria-label='How to read this']").inner_text()
    assert "no figure: nothing measured" in legend and "a frame stays whichever stack is the baseline" in legend
    assert "two modes" in legend
    assert "undecided: the interval contains 1×" in legend


def test_charts_means_and_crossings_are_those_of_the_chosen_baseline(
    tabs: Tabs, html_file: Path, loaded: results.Results
) -> None:
    tab = tabs.open(html_file)
    for base in ("jax_jit", "numpy", "torch_eager"):
        choose(tab, "baseline", base)
        shown = told(
            tab,
            """
            all("details").forEach(details => { details.open = true; });
            const values = figure => [...figure.querySelectorAll("text.value")].map(text);
            const over = box => [...box.querySelectorAll("figure[data-over], [data-over] figure")].filter(visible);
            out.charts = all("#dots .by-stacks").map(box => over(box).map(values));
            out.means = over(document.getElementById("summary")).map(values);
            out.rows = all("#summary table").filter(visible).map(table => table.tBodies[0].rows.length);
            out.courses = all("#break_even tbody tr").filter(visible).map(row =>
              [...row.cells].map(text).find(words => /ahead|baseline|undecided/.test(words)));""",
        )
        report = Report(loaded, loaded.analysis(base))
        comparisons, summary = report.section(ComparisonsSection), found(report, "summary")
        assert comparisons
        assert shown["charts"] == [[view.speedups.values] for view in comparisons.views]
        assert shown["means"] == [means.values for means in summary.figures if means]
        assert sum(shown["rows"]) == summary.table.height
        assert shown["courses"] == [str(course) for course in found(report, "break_even").table["course"]]


def test_a_choice_survives_a_reload_and_hides_a_stack_everywhere(tabs: Tabs, html_file: Path) -> None:
    tab = tabs.open(html_file)
    choose(tab, "baseline", "jax_jit")
    choose(tab, "metric", "first")
    tab.locator("#chips [value=tf_xla]").click()
    tab.reload()
    assert tab.locator("#controls [name=baseline]").input_value() == "jax_jit"
    assert tab.locator("#controls [name=metric]").input_value() == "first"
    assert tab.locator("#chips [value=tf_xla]").get_attribute("aria-pressed") == "false"
    assert "over jax_jit" in tab.locator("#map caption").inner_text()
    out = told(
        tab,
        """
        all("details").forEach(details => { details.open = true; });
        const shown = (nodes, stack) => all(nodes).filter(node => {
          return text(node).replace(/^✕ /, "") === stack && visible(node); }).length;
        out.left = shown("main td, main th, main text.label, main figcaption", "tf_xla");
        out.others = shown("main td, main th, main text.label", "tf_graph");
        out.columns = [...document.querySelector("#map .asked").querySelectorAll("td")].filter(visible).length""",
    )
    assert out["left"] == 0 and out["others"] > 10 and out["columns"] == 9
    choose(tab, "baseline", "torch_eager")
    choose(tab, "metric", "steady")
    assert tab.url.endswith("#hide=tf_xla")


def test_filters_leave_only_what_was_asked(tabs: Tabs, html_file: Path) -> None:
    tab, rows = tabs.open(html_file), "#map .asked:visible"
    choose(tab, "pass", "train")
    assert [row.get_attribute("data-pass") for row in tab.locator(rows).all()] == ["train"]
    assert tab.locator("#controls output").inner_text() == "1 of 3 questions"
    assert tab.locator(".comparison:not(.off)").count() == 1
    choose(tab, "pass", "")
    tab.locator("#controls [name=sure]").check()
    assert tab.locator("#map .asked td.undecided:not(.dim)").count() == 0
    tab.locator("#controls [name=sure]").uncheck()
    assert tab.locator(rows).count() == 3


def test_what_the_map_shows_can_be_saved(tabs: Tabs, html_file: Path) -> None:
    tab = tabs.open(html_file, "#baseline=jax_jit&hide=numpy&pass=train")
    with tab.expect_download() as saved:
        tab.get_by_role("button", name="CSV").click()
    lines = [*csv.DictReader(Path(saved.value.path()).read_text(encoding="utf-8").splitlines())]
    assert {line["baseline"] for line in lines} == {"jax_jit"} and {line["question"] for line in lines} == {"ffn train"}
    with tab.expect_download() as saved:
        tab.get_by_role("button", name="JSON").click()
    assert json.loads(Path(saved.value.path()).read_text(encoding="utf-8")) == lines and len(lines) == 9


def test_means_go_where_one_question_is_left_and_come_back(
    tabs: Tabs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(synthetic, "ENDINGS", {synthetic.UNSUPPORTED_IN_PLAN: {"reason": "not here"}})
    tab = tabs.open(render(synthetic.write(tmp_path / "set"), tmp_path / "report.html"))
    tops = told(tab, TOPS)["tops"]
    assert len(tops) == 20 and sum("×" in top for top in tops) == 16, "over all questions, and over the forward ones"
    choose(tab, "pass", "train")
    assert told(tab, TOPS)["tops"] == []
    choose(tab, "pass", "forward")
    choose(tab, "metric", "memory")
    assert told(tab, TOPS)["tops"] != tops
    choose(tab, "pass", "")
    choose(tab, "metric", "steady")
    assert told(tab, TOPS)["tops"] == tops


def test_a_panel_opens_by_its_address_with_and_without_the_script(tabs: Tabs, html_file: Path) -> None:
    name = re.findall(r'class="panel" id="([^"]*jax_jit)"', html_file.read_text(encoding="utf-8"))[0]
    tab = tabs.open(html_file, f"#at={name}&baseline=numpy")
    panel = tab.locator(f"#{name}")
    assert panel.is_visible()
    parts = panel.evaluate(
        "panel => [...panel.querySelectorAll('svg')].map(part => part.getBoundingClientRect().width)"
    )
    assert len(parts) > 5 and all(parts)
    tab.keyboard.press("Escape")
    assert not panel.is_visible() and tab.url.endswith("#baseline=numpy")
    assert tabs.open(html_file, f"#{name}", script=False).locator(f"#{name}").is_visible()


def test_few_stops_of_the_tab_key_lead_through_the_first_row(tabs: Tabs, html_file: Path) -> None:
    tab = tabs.open(html_file)
    stops = 0
    while not tab.evaluate("document.activeElement.closest('#map .asked tr') !== null"):
        tab.keyboard.press("Tab")
        stops += 1
    assert stops <= 20
    places = "[...document.activeElement.closest('tr').cells].indexOf(document.activeElement.closest('td, th'))"
    while (place := tab.evaluate(places)) < 10:
        tab.keyboard.press("ArrowRight")
        assert tab.evaluate(places) > place, "an arrow moves to the right"
    tab.keyboard.press("ArrowDown")
    assert tab.evaluate("document.activeElement.closest('tr').rowIndex") > 1


@pytest.mark.parametrize(("scheme", "motion"), [("dark", "no-preference"), ("light", "reduce")])
def test_boxes_have_a_size_in_every_mode(tabs: Tabs, html_file: Path, scheme: str, motion: str) -> None:
    out = told(
        tabs.open(html_file, scheme=scheme, motion=motion),
        """
        out.empty = all("#map td, #map th, #controls select, #chips button, .trust summary").filter(node =>
          !node.closest("[hidden]") && !visible(node)).length;
        out.moving = document.getAnimations().filter(at => at.timeline === document.timeline).length;  // by themselves
        out.boxes = all("#map td").length""",
    )
    assert out["empty"] == 0 and out["moving"] == 0 and out["boxes"] >= 30


def test_a_narrow_screen_has_cards_with_stack_median_speedup_and_verdict_in_this_order(
    tabs: Tabs, html_file: Path
) -> None:
    tab = tabs.open(html_file, screen=NARROW)
    cell = tab.locator("#map .asked tr").first.locator("td.faster").first
    shown = cell.evaluate("cell => getComputedStyle(cell, '::before').content")
    assert shown == f'"{cell.get_attribute("data-stack")}"'
    parts = [".own", ".w", ".v", "small"]
    boxes = [cell.locator(part).bounding_box() for part in parts]
    assert all(box and box["width"] > 10 for box in boxes)
    top = min(box["y"] for box in boxes if box)
    places = [(round((box["y"] - top) / 12), box["x"]) for box in boxes if box]
    assert places == sorted(places)
    assert re.match(r"[\d.]+ [mµn]?s", cell.locator(".own").inner_text())


def test_each_implementation_has_a_line_under_its_question(tabs: Tabs, tmp_path: Path) -> None:
    """Five stacks of two dialects: a function that a stack's dialect doesn't have leaves its cell empty."""
    asked = {"torch_eager": ("naive", "fused"), "torch_inductor": ("naive", "fused"), "jax_jit": ("naive",)}
    rows = [
        row_of(attempt_of(stack, block, implementation=name), 0.01 * place * (1 + block / 1000))
        for stack, names in asked.items()
        for place, name in enumerate(names, 1)
        for block in (1, 2, 3)
    ]
    file = tmp_path / "report.html"
    file.write_text(page(results.Results(Path("asked"), None, rows, [], {}), "torch_eager:naive"), encoding="utf-8")
    tab = tabs.open(file)
    read = """
        out.heads = all("#map thead th[data-stack]").filter(visible).map(head => head.dataset.stack);
        out.lines = all("#map .asked tr").filter(visible).map(line => [text(line.querySelector(".impl")),
          ...[...line.querySelectorAll("td")].filter(visible).map(cell => text(cell.querySelector(".w")) || "")]);"""
    out = told(tab, read)
    assert sorted(out["heads"]) == sorted(asked)
    lines = {name: dict(zip(out["heads"], cells, strict=True)) for name, *cells in out["lines"]}
    assert {stack for stack, words in lines["fused"].items() if words} == {"torch_eager", "torch_inductor"}
    assert all(lines["naive"].values())
    tab.locator("#chips [value=':naive']").click()
    assert [line[0] for line in told(tab, read)["lines"]] == ["fused"]
    tab.locator("#chips [value=torch_eager]").click()
    tab.reload()
    unfold(tab, ".as-map")
    out = told(tab, read)
    assert "torch_eager" not in out["heads"] and [len(line) for line in out["lines"]] == [3]
    assert tab.locator("#verdict").inner_text() == "No question has two shown stacks with times that count."


LINED_UP = """
const lefts = row => [...row.cells].filter(visible).map(cell => Math.round(box(cell).left));
const heads = document.querySelector("#map thead tr"), rows = all("#map .asked tr");
out.columns = lefts(heads).length;
out.lined = [rows[0], rows[rows.length - 1]].every(row => {
  row.scrollIntoView();
  return "" + lefts(row) === "" + lefts(heads); });
out.skipped = rows.filter(row => !row.cells[0].checkVisibility({ contentVisibilityAuto: true })).length;
out.display = getComputedStyle(rows[0]).display"""


def test_a_map_of_very_many_rows_lays_out_only_those_in_sight(tabs: Tabs, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    rows = [row for place in range(CASES_MOST // 2 + 1) for row in rows_of(TWO, dims={"n": 64 + place})]
    file.write_text(page(results.Results(Path("many"), None, rows, [], {}), "numpy"), encoding="utf-8")
    tab = tabs.open(file)
    out = told(tab, LINED_UP)
    assert out["columns"] == 3 and out["lined"] and out["display"] == "grid"
    nodes = tab.context.new_cdp_session(tab).send("Accessibility.getFullAXTree")["nodes"]
    rows_read_aloud = [node for node in nodes if node.get("role", {}).get("value") == "row"]
    assert len(rows_read_aloud) > CASES_MOST // 2, "it is still a table"
    tab.locator("#map .asked th a").first.focus()
    for _ in range(60):
        tab.keyboard.press("ArrowDown")
    assert (
        tab.evaluate("[...document.querySelectorAll('#map .asked')].indexOf(document.activeElement.closest('.asked'))")
        == 60
    )
    assert tab.locator("#map .asked tr").nth(60).is_visible()
    assert told(tab, LINED_UP)["skipped"] > 20
    tab.locator("#chips [value=jax_jit]").click()
    out = told(tab, LINED_UP)
    assert out["columns"] == 2 and out["lined"]
    tab.emulate_media(media="print")
    out = told(tab, LINED_UP)
    assert out["display"] == "table-row" and out["skipped"] == 0
