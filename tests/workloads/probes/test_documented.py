"""What probes say is documented: of aspects, stacks and classes that there are, with the page that says so."""

from __future__ import annotations

import pytest

from suite.stacks.catalog import STACKS
from suite.workloads.catalog import Workload, find

PROBES = [workload for workload in find().values() if workload.is_probe]


@pytest.mark.parametrize("probe", PROBES, ids=lambda probe: probe.name)
def test_what_is_documented_is_an_answer_that_the_probe_can_give(probe: Workload) -> None:
    spec = probe.spec
    beliefs = [getattr(spec, name) for name in ("DOCUMENTED", "PRIMER") if hasattr(spec, name)]
    for aspect, stacks in (pair for belief in beliefs for pair in belief.items()):
        assert aspect in spec.ASPECTS and stacks.keys() <= STACKS.keys()
        for class_, page in stacks.values():
            assert class_ in spec.CLASSES or class_.startswith("raises: ")
            assert page.startswith("https://")
