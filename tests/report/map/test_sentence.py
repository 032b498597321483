"""The page's first sentence claims what the answers claim, and no more."""

from __future__ import annotations

from pathlib import Path

from suite import results
from suite.report.map.sentence import Sentence, overall
from suite.report.sections.timed.headlines import headlines
from tests.report import synthetic
from tests.results.rows import rows_of

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


def said_of(wins: dict[int, str], first_seconds: float = 0.5, slowest: float = 1.0) -> Sentence:
    """The sentence on eight sizes of gemm: by question, who takes half of the others' time; jax_jit elsewhere. The
    first run of every stack but jax_jit takes `first_seconds`, and on the questions of `wins` one process of each
    stack takes `slowest` times as long."""
    stacks = ("numpy", "jax_jit", "torch_inductor", "tf_xla", "tf_graph", "torch_xla")
    rows = []
    for number in range(8):
        times = {stack: [0.002, 0.00201, 0.00199] for stack in stacks}
        times[wins.get(number, "jax_jit")] = [0.001, 0.001005, 0.000995]
        if number in wins:
            times = {stack: [*seconds[:2], seconds[2] * slowest] for stack, seconds in times.items()}
        rows += rows_of(times, dims={"n": 64 + number})
    firsts = [
        row | {"first_seconds": 0.4 if row["stack"] == "jax_jit" else first_seconds, "second_seconds": 0.002}
        for row in rows
    ]
    analysis = results.Results(Path("wins"), None, firsts, [], {}).analysis("numpy")
    said = overall(analysis, headlines(analysis), MACHINE)
    assert said and said.stack == "jax_jit"
    return said


def test_a_decided_winner_of_another_question_is_named_with_its_cost() -> None:
    said = said_of({6: "torch_inductor"}, 18.0).after.replace("\N{NO-BREAK SPACE}", " ")
    assert said.startswith(" is the fastest on 7 of 8 questions; ")
    assert said.endswith(
        " torch_inductor is the fastest on gemm forward (n = 70), 2.00× as fast as numpy, with a first run of 18.0 s."
    )
    assert "first run" not in said_of({6: "torch_inductor"}).after


def test_a_winner_whose_processes_run_in_two_modes_is_told() -> None:
    told = "; its processes run in two modes"
    assert said_of({6: "torch_inductor"}, slowest=1.4).after.endswith(f"as fast as numpy{told}.")
    assert told not in said_of({6: "torch_inductor"}).after
    two = said_of({5: "torch_inductor", 6: "torch_inductor"}, slowest=1.4).after
    assert two.endswith(f"{told} on gemm forward (n = 69) and gemm forward (n = 70).")


def test_of_many_winners_some_are_named_and_the_others_counted() -> None:
    said = said_of({2: "torch_inductor", 3: "torch_inductor", 4: "tf_xla", 5: "torch_xla", 6: "tf_graph"}).after
    named = said.partition("faster. ")[2]
    assert named.startswith("torch_inductor is the fastest on gemm forward (n = 66) and gemm forward (n = 67), 2.00×")
    assert named.endswith(" 2 other stacks are on 2 more.")
    assert "torch_xla" not in said


def test_a_long_first_run_of_the_leading_stack_is_told(loaded: results.Results) -> None:
    rows = [row | {"first_seconds": 900.0} if row["stack"] == "jax_jit" else row for row in loaded.rows]
    analysis = results.Results(loaded.path, loaded.plan_file, rows, [], {}).analysis()
    said = overall(analysis, headlines(analysis), MACHINE)
    assert said and said.stack == "jax_jit" and ", with a first run of" in said.text
