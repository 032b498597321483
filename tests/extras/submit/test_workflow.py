"""The workflow that an archive's repository has: what it runs, and with which rights."""

from __future__ import annotations

import shlex
from pathlib import Path

import yaml

from tests.typed import parsed

SUBMIT = yaml.safe_load((Path(__file__).parents[3] / "docs" / "ci" / "submit.yml").read_text(encoding="utf-8"))


def test_what_checks_an_archive_is_the_archive_s_own_and_can_write_nothing() -> None:
    """The workflow of a change would be the change's own."""
    assert SUBMIT[True] == "pull_request_target" and SUBMIT["permissions"] == {"contents": "read"}  # True: `on`
    (job,) = SUBMIT["jobs"].values()
    stranger, ours = (step["with"] for step in job["steps"] if "checkout" in step.get("uses", ""))
    assert (
        "merge" in stranger["ref"] and not stranger["persist-credentials"] and ours["repository"] == "OWNER/stack-wars"
    )
    runs = [shlex.split(step["run"]) for step in job["steps"] if "run" in step]
    assert not any("${{" in word for words in runs for word in words)
    assert {program for program, *_ in runs} == {"stack-wars/stackwars"}
    assert [parsed(words)[0] for _, *words in runs] == ["submit", "site"]
