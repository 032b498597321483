"""eager_overhead's classifier."""

from suite.workloads.catalog import HOME, load

SPEC = load(HOME / "probes" / "eager_overhead").spec


def test_figures_speak():
    assert SPEC.classify("chain", {"seconds": [0.01], "per_op": 1e-5}) == "measured"
    assert SPEC.classify("chain", {}) in SPEC.CLASSES
