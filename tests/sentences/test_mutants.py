import re
from pathlib import Path

import pytest

from tests.sentences.check import wrong_in
from tests.sentences.corpus import everything
from tests.sentences.findings import claims
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


@pytest.mark.parametrize(
    "said",
    [
        "JAX trains `gemm`, `ffn` and `mha` 1.7 to 2.0 times as fast",
        "ELU's gradient 24 % off",
        "[MKL's path](a) PyTorch leads",
    ],
)
def test_a_finding_of_readme_is_so_and_another_number_is_caught(said: str) -> None:
    def of(bullet: str) -> list[bool]:
        return [is_so for _, is_so, _ in claims(f"## What we found\n\n- {bullet}\n\n## Next")]

    assert of(said) == [True]
    for number in re.findall(r"[\d.]+", said):
        assert of(said.replace(number, f"{float(number) * 1.2:.2g}", 1)) == [False], number


def test_a_finding_that_no_set_is_behind_is_refused() -> None:
    with pytest.raises(ValueError, match="nothing of this bullet is checked"):
        list(claims("## What we found\n\n- NumPy is slow.\n"))
