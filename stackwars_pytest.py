"""The pytest plugin: a test asks whether a change made a question file slower. It imports nothing of the project until
such a test runs.

    def test_attention_is_not_slower(stackwars):
        stackwars.not_slower("bench/attention.py", than="origin/main", by=1.05)
"""

from __future__ import annotations

import json
import subprocess
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from stackwars_notebook import Answer

OPTION = "--stackwars"
COMPARED, WORSE = 0, 5  # exit codes of `stackwars compare`


class Undecided(UserWarning):
    """More time would say whether a change is slower."""


class StackWars:
    """What the fixture `stackwars` is. Files are found from pytest's root folder, and results lie there."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def ask(self, *asked: Any, **options: Any) -> Answer:
        """As stackwars.ask, whose answer has a row for each stack. Raises Refused if nothing was measured."""
        import stackwars

        return stackwars.ask(*asked, **{"results": self.root / "results"} | options)

    def not_slower(
        self, file: str | Path, *, than: str = "origin/main", by: float = 1.05, decided: bool = False, **options: Any
    ) -> None:
        """Fails the test if what a question file imports is shown to be slower than in the revision `than`: if the
        whole interval of the ratio of times lies above `by`. Also if a result is wrong or another than before, if it no
        longer runs, and if nothing runs here. What is undecided is a warning; with `decided` it fails. The other
        options are those of `stackwars ask`, with _ for -. Raises Refused if nothing was measured."""
        __tracebackhide__ = True
        answer = self.ask(self.root / file, before=than, **options)
        changes = self.changes(answer.set, by)
        print(*(change["sentence"] for change in changes), f"Report: {answer.page}", sep="\n")
        failed = [it for it in changes if it["is_worse"] or it["outcomes"][1] not in {"ok", "unsupported"}]
        if all(it["outcomes"][1] == "unsupported" for it in changes):
            failed = changes
        open_ = [it for it in changes if not it["is_decided"] and it not in failed]
        if failed or (decided and open_):
            pytest.fail(told(failed or open_), pytrace=False)
        if open_:
            warnings.warn(told(open_), Undecided, stacklevel=2)

    def changes(self, folder: Path, by: float) -> list[dict[str, Any]]:
        """Returns what a set says of each stack. Raises RuntimeError, in the command's words, if it can't be read."""
        import stackwars

        command = [stackwars.home() / ".venv" / "bin" / "stackwars", "compare", folder, "--by=variant"]
        asked = [*map(str, command), f"--threshold={by}", "--format=json"]
        done = subprocess.run(asked, capture_output=True, text=True, check=False)
        if done.returncode not in {COMPARED, WORSE}:
            raise RuntimeError(done.stderr.strip())
        changes: list[dict[str, Any]] = json.loads(done.stdout)[0]["changes"]
        return changes


def told(changes: Sequence[dict[str, Any]]) -> str:
    return "\n".join(change["sentence"] for change in changes)


def pytest_addoption(parser: pytest.Parser) -> None:
    about = "run the tests that measure by Stack Wars, which takes minutes"
    parser.getgroup("stackwars").addoption(OPTION, action="store_true", help=about)


def pytest_report_collectionfinish(config: pytest.Config, items: Sequence[pytest.Item]) -> str | list[str]:
    count = sum("stackwars" in getattr(item, "fixturenames", ()) for item in items)
    if config.getoption(OPTION) or not count:
        return []
    return f"stackwars: tests that measure, {count} here, are skipped without {OPTION}"


@pytest.fixture(scope="session")
def stackwars(request: pytest.FixtureRequest) -> StackWars:
    """Asks whether a change made something slower: `stackwars.not_slower("bench/attention.py", than="origin/main")`."""
    if not request.config.getoption(OPTION):
        pytest.skip(f"it measures: run it with {OPTION}")
    return StackWars(request.config.rootpath)
