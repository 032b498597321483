"""transfer: where its arrays begin."""

from suite.workloads.catalog import HOME, load

SPEC = load(HOME / "probes" / "transfer").spec


def test_arrays_begin_where_they_are_told_to():
    for past in (0, SPEC.OFF):
        array = SPEC.ones(1000, past)
        assert array.ctypes.data % SPEC.LINE == past
        assert array.shape == (1000,)
        assert (array == 1.0).all()
