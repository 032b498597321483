import re

import pytest

from tests.sentences.check import Spoken, wrong_in
from tests.sentences.findings import README, claims
from tests.sentences.kinds.held import KINDS
from tests.sentences.mutants import made, true_of
from tests.sentences.spoken.corpus import everything
from tests.sentences.spoken.fixed import TOLD


@pytest.fixture(scope="module")
def spoken(tmp_path_factory: pytest.TempPathFactory) -> list[Spoken]:
    return everything(tmp_path_factory.mktemp("stories"))


def test_every_false_sentence_is_caught(spoken: list[Spoken]) -> None:
    found = [*made(true_of(spoken))]
    assert [mutant for mutant in found if not mutant.caught] == []
    assert {mutant.kind for mutant in found} == KINDS.keys()


def test_true_sentences_on_leads_pass(spoken: list[Spoken]) -> None:
    by_rule = {sentence for of_set in TOLD.values() for sentence in of_set}
    told = {sentence: wrong_in(kind, sentence, truth) for kind, sentence, truth in spoken if sentence in by_rule}
    assert told == {sentence: [] for sentence in by_rule}


def test_every_number_of_readmes_findings_is_held() -> None:
    for claim, is_so, _ in [*claims()]:
        assert is_so, claim
        for number in re.finditer(r"[\d.]+", claim):
            other = f"{claim[: number.start()]}{float(number[0]) + 1:g}{claim[number.end() :]}"
            told = [is_so for words, is_so, _ in claims(README.replace(claim, other)) if words == other]
            assert told == [False], other


def test_a_finding_that_no_set_is_behind_is_refused() -> None:
    with pytest.raises(ValueError, match="nothing of this bullet is checked"):
        list(claims("## What we found\n\n- NumPy is slow.\n"))
