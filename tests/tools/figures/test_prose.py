"""Sentences of README.md and docs/: every figure is rendered, a rule's constant, or listed with its source."""

from __future__ import annotations

from pathlib import Path

import pytest

from suite.workloads import catalog
from tests.tools.figures.prose import BENCHMARKS, KINDS, Page, figures_of, pages, sources
from tools.figures.definitions import FILE, ROOT
from tools.figures.threads import names

KNOWN = pages(FILE)
WRITTEN = {
    f"docs/findings/{name}.md" for name in ("pitfalls", "published", "sweep")
}  # whole, by a tool, as other tests show


@pytest.mark.parametrize("name", KNOWN)
def test_every_figure_in_a_sentence_has_its_source(name: str) -> None:
    _, problems = sources((ROOT / name).read_text(encoding="utf-8"), KNOWN[name])
    assert problems == []


def test_the_pages_are_readme_the_tutorial_the_findings_and_the_reasons() -> None:
    folders = (ROOT / "docs" / "findings", ROOT / "docs" / "why")
    found = [*(path for folder in folders for path in folder.glob("*.md")), *(ROOT / "docs").glob("*.md")]
    assert {"README.md", *(str(path.relative_to(ROOT)) for path in found)} - WRITTEN == {*KNOWN}


def test_a_listed_source_is_a_kind_and_its_words() -> None:
    listed = [source.partition(": ") for page in KNOWN.values() for source in page.listed.values()]
    assert {kind for kind, _, words in listed if words} == {*KINDS}
    assert all(words for _, _, words in listed)


@pytest.mark.parametrize(
    "said",
    [
        *(
            "JAX takes 167 ms.",
            "1.7 to 2.0 times as long",
            "a 2.04× speedup",
            "23.7 % off",
            "3.0 GB on disk",
            "46 GB/s",
        ),
        *(
            "faster on 3 of 4",
            "two to six times as often",
            "in nine minutes",
            "takes half the time",
            "an error of 2e-5",
        ),
        *("JAX 1.9 times as fast", "over JAX 1.7 to 2.0 times as long", "PyTorch 9.3 ms"),
        *("1.03, 0.885 and 0.934 times as fast", "fifty times a second", "a ratio of 0.993", "| `x` | 3.5e-5 |"),
    ],
)
def test_a_figure_is_found(said: str) -> None:
    text = f"# Page\n\nWords. {said}\n"
    assert len(figures_of(text)) == 1
    assert len(sources(text, Page())[1]) == 1, "nothing stands behind it"
    assert sources(text, Page(listed={said: "seen: once"}))[1] == []


@pytest.mark.parametrize(
    "said",
    [
        *(
            "on 2026-11-27",
            "JAX 0.12.0.1 and PyTorch 2.9",
            "Python 3.11 to 3.13",
            "2 × 64 tokens",
            "above 1× it is faster",
        ),
        *("28 questions", "[a link](https://host/50%/3.5ms)", "`--limit-memory=6GiB`", "```sh\nsleep 3 s\n```"),
        "<!-- figures: x {} -->\n1.7× and 3 ms\n<!-- /figures -->",
    ],
)
def test_a_date_a_version_a_size_code_and_what_is_rendered_are_no_figures(said: str) -> None:
    assert figures_of(f"Words.\n\n{said}\n") == []


def test_a_rule_says_the_constant_of_its_file_and_no_factor() -> None:
    rules = Page(rules=("suite/protocol.py", "suite/stats.py"))
    assert sources("within ±3 % with 95 %, 2 s and 600 s", rules) == ({"rule": 4}, [])
    assert len(sources("within ±4 %, after 601 s", rules)[1]) == 2
    assert len(sources("PyTorch is 2 times as fast", rules)[1]) == 1, "2 is a constant, but a factor is measured"
    listed = {"over 1.3 times": "rule: suite/stats.py"}
    assert sources("over 1.3 times", Page(listed=listed))[1] == []
    assert len(sources("over 1.3 times", Page(listed={"over 1.3 times": "rule: suite/units.py"}))[1]) == 1


def test_a_source_must_say_its_figure_and_have_one() -> None:
    assert sources("differ by 1.3 %", Page(listed={"differ by 1.3 %": "benchmark: rounds.py"}))[1] == []
    assert len(sources("differ by 1.4 %", Page(listed={"differ by 1.4 %": "benchmark: rounds.py"}))[1]) == 1
    assert len(sources("differ by 1.3 %", Page(listed={"differ by 1.3 %": "benchmark: none.py"}))[1]) == 1
    assert sources("no figure", Page(listed={"no": "seen: once"}))[1] == ["no figure is in the listed words 'no'"]
    below = "# A\n\n1 ms\n\n## B\n\n2 ms\n\n## C\n\n3 ms\n"
    assert len(sources(below, Page(listed={"## B": "seen: once"}))[1]) == 2, "a heading is for what is below it"
    assert sources(below, Page(listed={"# A": "seen: once"}))[1] == []


def test_the_counts_of_questions_mutants_and_parameters_are_those_that_there_are() -> None:
    readme, gate, models = (ROOT / page for page in ("README.md", "docs/why/gate.md", "docs/findings/models.md"))
    assert f"[{len(names())} questions from public threads]" in readme.read_text(encoding="utf-8")
    mutants = gate.read_text(encoding="utf-8").partition(" deliberate mistakes]")[0].rpartition("[")[2]
    assert f"There are {mutants} mutants" in (ROOT / BENCHMARKS).read_text(encoding="utf-8")
    rows = [line.split("|") for line in models.read_text(encoding="utf-8").splitlines() if line.endswith("illion |")]
    for cells in rows:
        spec = catalog.find()[cells[1].split("`")[1]].spec
        number, unit = cells[3].split()
        counted = sum(tensor.size for tensor in spec.parameters(spec.SIZES["full"]).values())
        assert counted / {"million": 1e6, "billion": 1e9}[unit] == pytest.approx(float(number), rel=4e-3), cells[1]
    assert len(rows) == 6


def test_the_files_of_rules_are_there() -> None:
    files = [file for page in KNOWN.values() for file in page.rules]
    assert all(Path(ROOT / file).is_file() for file in files)
