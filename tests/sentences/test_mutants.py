from pathlib import Path

from tests.sentences.check import wrong_in
from tests.sentences.corpus import everything
from tests.sentences.mutants import MUTANTS, TOLD, made, true_of


def test_every_false_sentence_is_caught(tmp_path: Path) -> None:
    found = [*made(true_of(everything(tmp_path)))]
    missed = [(mutant.kind, mutant.what, sentence) for mutant, sentence, caught in found if caught is False]
    unmade = [(mutant.kind, mutant.what) for mutant, _, caught in found if caught is None]
    assert not missed
    assert not unmade, "no true sentence has the words that these change"
    assert len(found) == len(MUTANTS) > 25


def test_true_sentences_on_leads_pass(tmp_path: Path) -> None:
    by_rule = [sentence for of_set in TOLD.values() for sentence in of_set]
    told = [(sentence, truth) for kind, sentence, truth in everything(tmp_path) if sentence in by_rule]
    assert [(sentence, wrong_in("map", sentence, truth)) for sentence, truth in told] == [
        (each, []) for each in by_rule
    ]
