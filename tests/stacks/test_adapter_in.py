"""The gate's adapter for float32 is made by the base class alone."""

from __future__ import annotations

import pytest

from suite.stacks import base
from suite.stacks.catalog import STACKS, adapter_class


@pytest.mark.parametrize("stack", STACKS)
def test_no_adapter_has_another_method_of_this_name(stack: str) -> None:
    assert adapter_class(stack).adapter_in is base.Adapter.adapter_in
