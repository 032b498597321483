"""The probe of memory taken at the start: numbers in, class out."""

from __future__ import annotations

import pytest

from suite.workloads.catalog import HOME, load

SPEC = load(HOME / "probes" / "prealloc").spec


@pytest.mark.parametrize("aspect", ["default", "off"])
@pytest.mark.parametrize(
    ("share", "expected"),
    [(0.75, "preallocates"), (0.97, "preallocates"), (0.05, "takes what it needs"), (0.0003, "takes what it needs")],
)
def test_classes(aspect: str, share: float, expected: str) -> None:
    figures = {"share": share, "import_bytes": 2**28, "device_bytes": 2**30}
    assert SPEC.classify(aspect, figures) == expected
    assert expected in SPEC.CLASSES


def test_a_process_measures_its_own_memory() -> None:
    made = []
    told = SPEC.memory_taken("json", lambda target: made.append(target) or bytearray(2**26), "cpu")
    assert made == ["cpu"]
    assert set(told) <= set(SPEC.FIGURES)
    assert told["python_bytes"] > 2**20
    assert 0 < told["share"] < 0.5


def test_a_field_that_is_not_there() -> None:
    with pytest.raises(RuntimeError, match="has no VmNothing"):
        SPEC.status("VmNothing")
