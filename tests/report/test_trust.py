"""The badge of trust is as good as the worst that the notices say."""

from __future__ import annotations

import re
from pathlib import Path

from suite import results
from suite.report.page import report
from suite.report.trust import Trust, trust
from tests.report import synthetic
from tests.results.rows import rows_of


def test_a_noisy_block_makes_a_set_restless_and_one_block_makes_it_weak(
    loaded: results.Results, tmp_path: Path
) -> None:
    assert report(loaded).trust == Trust.RESTLESS  # block 2 was rejected once
    assert "because of noise (1 of 6 block runs exceeded a limit)" in report(loaded).trust_reason
    assert report(results.load(synthetic.write(tmp_path / "set", blocks=1))).trust == Trust.WEAK


def test_the_ceilings_move_makes_a_set_restless() -> None:
    analysis = results.load(Path(__file__).parents[1] / "results" / "sets" / "three_questions").analysis()
    words = [trust(analysis, None, (), moved) for moved in (None, "it fell by 20 %")]
    assert words[1][0] == Trust.RESTLESS
    assert words[1][1].endswith("a change of the machine's own speed while the set was measured.")


def test_a_restless_set_says_which_cause_holds_with_its_figure() -> None:
    rows = rows_of({"numpy": [0.02, 0.021, 0.0205], "jax_jit": [0.010, 0.0112, 0.0101]})
    word, reason = trust(results.Results(Path("wide"), None, rows, [], {}).analysis("numpy"), None, (), None)
    assert word == Trust.RESTLESS
    assert re.fullmatch(
        r"Small differences are undecided, because of wide intervals "
        r"\(the narrowest is ±[\d.]+ %, a tie needs ±3 %\)\.",
        reason.replace("\N{NO-BREAK SPACE}", " "),
    )
