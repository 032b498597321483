"""transfer's classifier, and its arrays."""

from suite.workloads.catalog import HOME, load

SPEC = load(HOME / "probes" / "transfer").spec


def test_memory_that_is_shared_is_told_from_a_copy():
    assert SPEC.classify("to_device", {"seconds": [0.1], "shared": 1.0}) == "aliases"
    assert SPEC.classify("to_device", {"seconds": [0.1], "shared": 0.0, "bandwidth": 1e9}) == "copies"
    assert SPEC.classify("copy_in", {"shared": 0.0, "shared_aligned": 0.0}) == "copies"
    assert SPEC.classify("copy_in", {"shared": 0.0, "shared_aligned": 1.0}) == "aliases if aligned"
    assert SPEC.classify("copy_in", {"shared": 1.0, "shared_aligned": 1.0}) == "aliases"


def test_what_comes_back_may_be_read_only():
    assert SPEC.classify("copy_out", {"shared": 1.0, "writable": 0.0}) == "aliases, read-only"
    assert SPEC.classify("copy_out", {"shared": 1.0, "writable": 1.0}) == "aliases"
    assert SPEC.classify("copy_out", {"shared": 0.0, "writable": 1.0}) == "copies"


def test_times_alone_have_no_class():
    assert SPEC.classify("to_host_latency", {"seconds": [1e-6]}) == "measured"


def test_arrays_begin_where_they_are_told_to():
    for past in (0, SPEC.OFF):
        array = SPEC.ones(1000, past)
        assert array.ctypes.data % SPEC.LINE == past
        assert array.shape == (1000,)
        assert (array == 1.0).all()
