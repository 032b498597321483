"""async_dispatch: where a queue of calls is full."""

from suite.workloads.catalog import HOME, load

SPEC = load(HOME / "probes" / "async_dispatch").spec
CALL = 0.02
QUEUE = [1e-4] * 32 + [CALL] * 96


def test_the_first_call_that_blocks_is_counted_from_one():
    assert SPEC.blocked_at(QUEUE, CALL) == 33
    assert SPEC.blocked_at([1e-4] * 128, CALL) is None


def test_one_long_call_is_another_process_s_doing():
    assert SPEC.blocked_at([1e-4] * 5 + [3 * CALL] + QUEUE[6:], CALL) == 33


def test_a_queue_that_drains_in_batches_is_found_by_its_mean():
    batches = [1e-4] * 16 + ([8 * CALL] + [1e-4] * 7) * 14
    assert SPEC.blocked_at(batches, CALL) == 17
