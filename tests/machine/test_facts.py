"""What is read of the machine."""

from __future__ import annotations

import pytest

from suite.errors import UserError
from suite.machine import facts


@pytest.mark.parametrize(
    ("system", "machine"), [("Darwin", "arm64"), ("Windows", "AMD64"), ("Linux", "aarch64"), ("Darwin", "x86_64")]
)
def test_another_platform_is_refused_in_one_line(system: str, machine: str) -> None:
    with pytest.raises(UserError) as refused:
        facts.refuse_platform(system, machine)
    assert str(refused.value) == f"Stack Wars runs on Linux on x86-64; this is {system} on {machine}."
