"""The badge of trust is as good as the worst that the notices say."""

from __future__ import annotations

from pathlib import Path

from suite import results
from suite.report.page import report
from suite.report.trust import EXPLAINED, Trust, trust
from tests.report import synthetic


def test_a_noisy_block_makes_a_set_restless_and_one_block_makes_it_weak(
    loaded: results.Results, tmp_path: Path
) -> None:
    assert report(loaded).trust == Trust.RESTLESS  # block 2 was rejected once
    assert report(results.load(synthetic.write(tmp_path / "set", blocks=1))).trust == Trust.WEAK
    assert {*EXPLAINED} == {*Trust}


def test_the_ceilings_move_makes_a_set_restless() -> None:
    analysis = results.load(Path(__file__).parents[1] / "results" / "sets" / "three_questions").analysis()
    words = [trust(analysis, None, (), moved) for moved in (None, "it fell by 20 %")]
    assert words[1] == Trust.RESTLESS
