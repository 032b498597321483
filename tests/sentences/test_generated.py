import tempfile
from pathlib import Path

from hypothesis import HealthCheck, Phase, example, given, settings

from tests.sentences.check import all_wrong
from tests.sentences.facts.reader import Truth
from tests.sentences.spoken.generated import APART, DECIDED, Sizes, Story, looks, sizes, stories, write, write_sizes
from tests.sentences.spoken.product import sentences

USUAL = settings(
    max_examples=24,
    deadline=None,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],  # shrinking would write hundreds of sets
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@USUAL
@given(stories())
@example(APART)
@example(DECIDED)
def test_what_is_said_of_any_set_is_so(story: Story) -> None:
    with tempfile.TemporaryDirectory() as folder:
        assert all_wrong(sentences(Truth(write(story, Path(folder) / "a-set")))) == []


@settings(USUAL, max_examples=12)
@given(looks())
def test_what_is_said_of_a_run_until_decided_is_so(story: Story) -> None:
    with tempfile.TemporaryDirectory() as folder:
        assert all_wrong(sentences(Truth(write(story, Path(folder) / "a-set")))) == []


@settings(USUAL, max_examples=12)
@given(sizes())
def test_what_is_said_of_any_search_is_so(found: Sizes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        assert all_wrong(sentences(Truth(write_sizes(found, 6 * 2**30, Path(folder) / "a-set")))) == []
