"""The shell's limits: read from the kernel, said as a shell sets them."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from suite import environments
from suite.machine import limits

TOLD = (
    "import json; from suite.machine import limits; print(json.dumps([limits.limits(), limits.said(limits.limits())]))"
)


def under(option: str, code: str) -> str:
    """What a Python prints in a shell with this limit."""
    words = ["sh", "-c", f'ulimit {option} && exec "$0" -c "$1"', sys.executable, code]
    done = subprocess.run(words, capture_output=True, text=True, check=True, cwd=environments.ROOT)
    return done.stdout.strip()


@pytest.mark.parametrize(
    ("option", "name", "value", "words"),
    [
        ("-v 3000000", "address_space_bytes", 3_072_000_000, "-v 2.86 GiB"),
        ("-d 2097152", "data_bytes", 2**31, "-d 2.00 GiB"),
        ("-s 256", "stack_bytes", 2**18, "-s 256 KiB"),
        ("-f 2048", "file_bytes", 2**20, "-f 1.00 MiB"),  # dash counts in 512 bytes
        ("-t 60", "cpu_seconds", 60, "-t 60 s"),
        ("-n 64", "open_files", 64, "-n 64"),
    ],
)
def test_each_limit_of_a_shell_is_read_and_said(option: str, name: str, value: int, words: str) -> None:
    found, said = json.loads(under(option, TOLD))
    assert found[name] == value
    assert words in said


def test_defaults_that_suffice_are_no_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = {"stack_bytes": 2**23, "processes": 95_000, "open_files": 1024, "locked_bytes": 2**16}
    monkeypatch.setattr(limits, "limits", lambda: usual)
    assert (limits.warnings(), limits.refusal()) == ([], "")
    monkeypatch.setattr(limits, "limits", lambda: usual | {"processes": 60, "cpu_seconds": 3})
    (told,) = limits.warnings()
    assert "(ulimit -u 60, -t 3 s)" in told


def test_too_little_address_space_is_refused_in_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "limits", lambda: {"address_space_bytes": 700_000 * 1024})
    assert "1.25 GiB" in limits.refusal() and "-v 684 MiB" in limits.refusal()


def test_limits_of_a_strangers_set_that_no_shell_has_are_none() -> None:
    assert limits.said(limits.tight({"lives": 9, "address_space_bytes": 2**32})) == "ulimit -v 4.00 GiB"
