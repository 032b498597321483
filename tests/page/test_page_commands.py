"""Every command that a page prints is one that works when it is pasted in the checkout."""

from __future__ import annotations

import html
import re
import shlex
from pathlib import Path

import pytest

from suite import results
from suite.errors import UserError
from suite.page.formats.render import render
from suite.page.report import report
from tests.page import synthetic
from tests.page.test_report import Page
from tests.typed import parsed

ROOT = Path(__file__).parents[2]
SET = ROOT / "tests" / "results" / "sets" / "three_questions"
COMMAND = re.compile(r"(?:\./stackwars|\.venv/bin/invoke|\bmake) [a-z-]+(?: --?[\w-]+(?:=\S*[\w/])?)*")


def commands(page: str) -> list[str]:
    """The commands in the text of a page, script and style left out."""
    body = re.sub(r"<(script|style)>.*?</\1>", " ", page, flags=re.DOTALL)
    return COMMAND.findall(html.unescape(re.sub(r"<[^>]+>", " ", body)))


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory, html_file: Path) -> dict[str, str]:
    """A whole set, one of version 2, one that isn't complete and was measured with changes, a bare file."""
    home = tmp_path_factory.mktemp("pages")
    part = synthetic.write(home / "part", blocks=2)
    (part / "inputs" / "diff.patch").write_text("--- a\n+++ b\n", encoding="utf-8")
    bare = home / "results.parquet"
    bare.write_bytes((SET / "results.parquet").read_bytes())
    stored = render(SET, home / "stored.html")
    files = {"whole": html_file, "stored": stored, "part": render(part), "bare": render(bare)}
    return {name: file.read_text(encoding="utf-8") for name, file in files.items()}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("whole", {"make setup", "./stackwars report --set=results/synthetic"}),
        (
            "stored",
            {
                ".venv/bin/invoke run --preset=mixed.toml --engine=local --limit-memory=640MiB",
                "./stackwars report --set=results/20261121-213115-mixed-cpu-e241",
            },
        ),
        ("part", {"./stackwars run --resume=results/part", "./stackwars report --set=results/part"}),
        ("bare", set()),
    ],
)
def test_every_command_on_the_page_parses(name: str, expected: set[str], pages: dict[str, str]) -> None:
    printed = commands(pages[name])
    assert expected <= set(printed) and (expected or not printed)
    targets = re.findall(r"^\.PHONY:(.*)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    for line in printed:
        words = shlex.split(line)
        if words[0] == "make":
            assert words[1] in " ".join(targets).split()
        else:
            parsed(words[1:])


def test_what_is_no_command_would_be_seen() -> None:
    with pytest.raises(UserError):
        parsed(["report", "20261121-213115-mixed-cpu-e241", "another"])
    assert commands("<p>To render: <code>./stackwars report --set=results/a-b.</code></p>") == [
        "./stackwars report --set=results/a-b"
    ]


def test_the_recipe_s_steps_are_whole(pages: dict[str, str]) -> None:
    [recipe] = [each.shown for each in report(results.load(SET)).sections if each.name == "reproduce"]
    assert recipe["steps"] == [
        "git checkout b9880b9ef7e5aa15d0d9b915f083a390a690e764",
        "make setup",
        ".venv/bin/invoke run --preset=mixed.toml --engine=local --limit-memory=640MiB",
    ]
    assert {*recipe["facts"]} >= {"lock file jax", "lock file numpy", "lock file torch", "lock file torch_xla"}
    assert "git apply results/part/inputs/diff.patch" in pages["part"]


def test_a_bare_file_has_no_recipe_of_another_run(pages: dict[str, str]) -> None:
    text = Page(pages["bare"]).text
    assert "a bare Parquet file doesn't say how it was made" in text
    rest = text.partition("Reproduce this result set")[2]
    assert "git checkout" not in text and "./stackwars" not in rest and "invoke" not in rest
