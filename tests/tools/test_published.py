"""docs/findings/published.md is what the published figures and the chips' peaks say."""

from __future__ import annotations

from pathlib import Path

import pytest

from suite.results.documents.figures import Document, documents
from tools import published
from tools.figures.threads import Example
from tools.published import page, verdict

DOCS = Path(__file__).parents[2] / "docs" / "findings"


def test_the_page_is_what_the_data_says() -> None:
    assert (DOCS / "published.md").read_text(encoding="utf-8") == page()


def test_it_stays_short_and_has_the_arithmetic_of_the_study_s_headline_and_what_else_it_could_be() -> None:
    text = page()
    assert len(text.encode()) <= 20_500
    assert "(2.99 GB − 0.268 GB) / 1.64 TB/s = 1.66 ms" in text
    assert "with the optimizer's update, takes at least 2.34 times as long" in text
    assert "a call that wasn't waited for" in text and "forward pass and loss alone" in text
    assert "GPT-Neo 1.3B: JAX fits, PyTorch runs out of memory." in text
    assert "| ResNet-50 v1.5, train, batch 256 | jax_jit | a100-40g | 259 ms | 38.5 ms |" in text


def test_every_claim_has_a_verdict_of_its_own_kind() -> None:
    words = {document.title: verdict(document)[0] for document in documents()}
    assert words.pop("The study of JAX and PyTorch on one TPU v6e") == "impossible by arithmetic"
    asked = {document.title for document in documents() if document.question}
    for name, word in words.items():
        assert word in (
            "not comparable",
            "not measured yet",
            *(f"confirmed{part}{far}" for part in ("", " in part") for far in ("", ", larger", ", smaller")),
            "contradicted",
            "not confirmed",
        ), name
        assert word == "not comparable" or name in asked, name


@pytest.mark.parametrize(
    ("says", "word"),
    [
        ("Confirmed: {held} (2.5 to 2.7) here; the thread says 2.6 times.", "confirmed"),
        ("Confirmed, larger: {held} (8.1 to 9.0) here; the thread says 2.6 times.", "confirmed, larger"),
        ("Confirmed in part: {held} (2.5 to 2.7) here; on two cores.", "confirmed in part"),
        ("The other way round: {held} (0.91 to 0.95) here.", "contradicted"),
        ("Not confirmed: {held} (0.93 to 1.1, undecided) here.", "not confirmed"),
        ("Can't be compared: it compares two versions.", "not measured yet"),  # what an older table said
        ("", "not measured yet"),
    ],
)
def test_the_gallery_s_set_fills_in_the_verdict(
    says: str, word: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = says.format(held=Example.of("gallery-small-solve").thread.held("2.60"))
    text = f"The thread says: it. **{said}**\n" if says else ""
    monkeypatch.setattr(published, "GALLERY", tmp_path / "gallery.md")
    published.GALLERY.write_text(f"<!-- figures: gallery-small-solve -->\n{text}<!-- /figures -->\n", encoding="utf-8")
    claim = Document(title="x", claim="x", url="", conditions="x", question="small_solve")
    assert verdict(claim)[0] == word
    assert word == "not measured yet" or verdict(claim)[1] in said
