"""docs/findings/published.md is what the published figures and the chips' peaks say."""

from __future__ import annotations

from pathlib import Path

from tools.published import page

DOCS = Path(__file__).parents[2] / "docs" / "findings"


def test_the_page_is_what_the_data_says() -> None:
    assert (DOCS / "published.md").read_text(encoding="utf-8") == page()


def test_it_has_the_arithmetic_of_the_study_s_headline_and_what_else_it_could_be() -> None:
    text = page()
    assert "(2.99 GB − 0.268 GB) / 1.64 TB/s = 1.66 ms" in text
    assert "with the optimizer's update, takes at least 2.34 times as long" in text
    assert "a call that wasn't waited for" in text and "forward pass and loss alone" in text
    assert "| GPT-Neo 1.3B | v6e | fits | out of memory |" in text
