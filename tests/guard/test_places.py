"""What a set keeps doesn't tell where it was measured."""

from __future__ import annotations

from pathlib import Path

import pytest

from suite.guard.places import placeless

PLACES = {Path("/home/ada"): "~", Path("/home/ada/stack-wars"): "CHECKOUT", Path("/"): "ROOT"}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("in /home/ada/stack-wars/suite/case.py, line 1", "in CHECKOUT/suite/case.py, line 1"),
        ('{"A":"/home/ada","B":"/home/ada/.cache"}', '{"A":"~","B":"~/.cache"}'),
        ("/home/adams /home/ada-2 /mnt/home/ada /usr", "/home/adams /home/ada-2 /mnt/home/ada /usr"),
        ("", ""),
    ],
)
def test_a_place_becomes_its_word(text: str, told: str) -> None:
    assert placeless(text, PLACES) == told


def test_a_home_that_is_the_root_hides_nothing() -> None:
    assert placeless("/usr", {Path("/"): "~"}) == "/usr"
