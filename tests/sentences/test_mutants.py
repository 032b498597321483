import re

import pytest

from tests.sentences.check import Spoken, wrong_in
from tests.sentences.findings import claims
from tests.sentences.mutants import MUTANTS, made, true_of
from tests.sentences.spoken.corpus import everything
from tests.sentences.spoken.fixed import TOLD
from tests.sentences.spoken.pages import ROOT


@pytest.fixture(scope="module")
def spoken(tmp_path_factory: pytest.TempPathFactory) -> list[Spoken]:
    return everything(tmp_path_factory.mktemp("stories"))


def test_every_false_sentence_is_caught(spoken: list[Spoken]) -> None:
    found = [*made(true_of(spoken))]
    missed = [(mutant.kind, mutant.what, sentence) for mutant, sentence, caught in found if caught is False]
    unmade = [(mutant.kind, mutant.what) for mutant, _, caught in found if caught is None]
    assert not missed
    assert not unmade, "no true sentence has the words that these change"
    assert len(found) == len(MUTANTS) > 25


def test_true_sentences_on_leads_pass(spoken: list[Spoken]) -> None:
    by_rule = [sentence for of_set in TOLD.values() for sentence in of_set]
    told = {sentence: wrong_in(kind, sentence, truth) for kind, sentence, truth in spoken if sentence in by_rule}
    assert told == {sentence: [] for sentence in by_rule}


def test_every_number_of_readmes_findings_is_held() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for claim, is_so, _ in [*claims(readme)]:
        assert is_so, claim
        for number in re.finditer(r"[\d.]+", claim):
            other = f"{claim[: number.start()]}{float(number[0]) + 1:g}{claim[number.end() :]}"
            told = [is_so for words, is_so, _ in claims(readme.replace(claim, other)) if words == other]
            assert told == [False], other


def test_a_finding_that_no_set_is_behind_is_refused() -> None:
    with pytest.raises(ValueError, match="nothing of this bullet is checked"):
        list(claims("## What we found\n\n- NumPy is slow.\n"))
