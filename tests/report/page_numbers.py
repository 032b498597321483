"""Every number of a report's page under the words that name it, so that two pages can be compared."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from html.parser import HTMLParser

Key = tuple[str, ...]
Renames = Mapping[tuple[str, str], str]  # (section as the page has it or empty for all, old words): new words
NUMBER = re.compile(r"[-\u2212]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?")
VOID = {"meta", "link", "br", "img", "input", "hr", "wbr"}
PROSE = ("Method in short",)  # sections whose numbers are in sentences that may be reworded
WORDS = ("Notes", "Verdict", "Reason")  # columns of words
NAMES = ("Stack", "Eager", "Compiled")  # columns that say whose row it is, where they hold no number
PLACES = {"x", "y", "x1", "x2", "y1", "y2", "width", "height"}  # of what a figure draws


def numbers(text: str) -> tuple[str, ...]:
    """The numbers of a text, in order, as they are written."""
    return tuple(NUMBER.findall(text))


class PageNumbers(HTMLParser):
    """{(section, table or figure, row, column): its numbers}. `renames` puts new words in place of old ones."""

    def __init__(self, page: str, renames: Renames) -> None:
        super().__init__(convert_charrefs=True)
        self.renames = renames
        self.found: dict[Key, tuple[str, ...]] = {}
        self.open: list[tuple[str, dict[str, str | None]]] = []
        self.section = ""
        self.text: dict[str, str] = {}  # what each open element that matters has said so far, by its tag
        self.heads: list[str] = []
        self.cells: list[tuple[str, str | None]] = []  # text and raw value of a row's cells
        self.around: list[tuple[list[str], list[tuple[str, str | None]]]] = []
        self.figure: list[str] = []
        self.caption = self.term = self.question = ""
        self.tables = 0
        self.feed(page)
        self.close()

    def keep(self, *key: str, values: Iterable[str]) -> None:
        """Remember the numbers of a place; a second one of the same name gets a number."""
        if self.section in PROSE:
            return
        place, count = tuple(map(self.renamed, (self.section, *key))), 2
        while place in self.found:
            place, count = (*place[: len(key) + 1], str(count)), count + 1
        self.found[place] = tuple(values)

    def renamed(self, text: str) -> str:
        """The text in today's words."""
        for (section, old), new in self.renames.items():
            text = text.replace(old, new) if section in ("", self.section) else text
        return text

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag in VOID:
            return
        self.open.append((tag, given))
        if tag in ("h2", "h3", "h4", "th", "td", "dt", "dd", "figcaption", "p", "li"):
            self.text[tag] = ""
        if tag == "table":
            self.around.append((self.heads, self.cells))  # a table may stand in another's cell
            self.tables, self.heads = self.tables + 1, []
        if tag == "tr":
            self.cells = []
        if tag == "figure":
            self.figure = []
        if self.drawn():
            self.figure += [f"{name} {value}" for name, value in given.items() if name in PLACES and value]

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self.drawn():
            self.figure += [f"{name} {value}" for name, value in attrs if name in PLACES and value]

    def drawn(self) -> bool:
        """Whether this is inside of a figure; a legend's shapes follow the verdict, which is a word."""
        tags = [tag for tag, _ in self.open]
        return "figure" in tags and "li" not in tags

    def handle_data(self, data: str) -> None:
        if any(tag == "span" and "hidden" in given for tag, given in self.open):
            return  # the same over a baseline that isn't chosen
        for tag in self.text:
            if any(tag == each for each, _ in self.open):
                self.text[tag] += data
        if self.drawn() and self.open[-1][0] in ("text", "title", "desc"):
            self.figure.append(data)

    def handle_endtag(self, tag: str) -> None:
        attrs = self.open.pop()[1]
        text = " ".join(self.text.pop(tag, "").split())
        inside = [each for each, _ in self.open]
        if tag in ("h2", "h3", "h4"):
            self.section, self.tables = text.partition(" Python ")[0], 0  # an environment's heading may name it
        elif tag in ("th", "td"):
            if "thead" in inside:
                self.heads.append(text)
            else:
                self.cells.append((text, attrs.get("data-v")))
        elif tag == "tr" and "tbody" in inside and "thead" not in inside:
            self.end_row()
        elif tag == "table":
            self.heads, self.cells = self.around.pop()
        elif tag == "figcaption":
            self.caption = text
        elif tag == "figure":
            self.keep("figure", self.caption, values=self.figure_numbers())
        elif tag == "dt":
            self.term = text
        elif tag == "dd":
            self.keep("fact", self.term, values=numbers(text))
        elif tag == "p" and text.startswith("Noise floor"):
            self.keep("noise floor", values=numbers(text))
        elif tag == "span" and attrs.get("class") == "q":
            self.question = " ".join(self.text["li"].split())
        elif tag == "li" and self.question and text.startswith(self.question):
            self.keep("answer", self.question, values=numbers(text.removeprefix(self.question)))
            self.question = ""

    def figure_numbers(self) -> list[str]:
        return [number for entry in self.figure for number in numbers(self.renamed(entry))]

    def end_row(self) -> None:
        """Each cell under its row's names and its column's head, with the raw value that sorting uses."""
        named = [
            text for head, (text, raw) in zip(self.heads, self.cells, strict=True) if head in NAMES and raw is None
        ]
        row = " / ".join(dict.fromkeys([self.cells[0][0], *named]))
        for column, (head, (text, raw)) in enumerate(zip(self.heads, self.cells, strict=True)):
            if column and not head.startswith(WORDS):
                self.keep(f"table {self.tables}", row, head, values=(*numbers(text), *([raw] if raw else [])))


def page_numbers(page: str, renames: Renames | None = None) -> dict[Key, tuple[str, ...]]:
    """The numbers of a page by (section, table or figure, row, column)."""
    return PageNumbers(page, renames or {}).found
