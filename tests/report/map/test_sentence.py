"""The page's first sentence claims what the answers claim, and no more."""

from __future__ import annotations

from pathlib import Path

from suite import results
from suite.report.map.sentence import overall
from suite.report.sections.timed.headlines import headlines
from tests.report import synthetic

MACHINE = {"cpu_model": "AMD EPYC Processor", "cores_usable": [0, 1]}


def test_who_leads_is_counted_over_the_answers(loaded: results.Results) -> None:
    analysis = loaded.analysis()
    answers = headlines(analysis)
    said = overall(analysis, answers, MACHINE)
    assert said and said.before == "On this 2-core AMD EPYC, " and said.stack == "jax_jit"
    leading = sum(said.stack in (answer.lowest, *answer.rivals) for answer in answers)
    assert f"on {leading} of 3 questions" in said.text or (leading == 3 and "on all 3 questions" in said.text)
    open_ = [answer.question for answer in answers if answer.rivals]
    assert ("isn't decided on" in said.text) == bool(open_)
    assert all(question in said.text for question in open_)
    sure = [s.ratio.value for s in analysis.speedups if s.stack == said.stack and s.verdict == "faster"]
    assert f"on the {len(sure)} where it is shown to be faster" in said.text


def test_one_block_decides_nothing(tmp_path: Path) -> None:
    analysis = results.load(synthetic.write(tmp_path / "set", blocks=1)).analysis()
    said = overall(analysis, headlines(analysis), {})
    assert said and "one block decides nothing" in said.text and "fastest" not in said.text


def test_a_set_without_times_says_so(loaded: results.Results) -> None:
    rows = [row | {"outcome": "error", "reason": "x", "synced_seconds": None} for row in loaded.rows]
    analysis = results.Results(loaded.path, loaded.plan_file, rows, [], {}).analysis()
    said = overall(analysis, headlines(analysis), MACHINE)
    assert said and said.text == "On this 2-core AMD EPYC, no question has two stacks with times that count."
    assert overall(analysis, (), MACHINE) is None
