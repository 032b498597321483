"""async_dispatch's classifier."""

from suite.workloads.catalog import HOME, load

SPEC = load(HOME / "probes" / "async_dispatch").spec
CALL = 0.02
QUEUE = [1e-4] * 32 + [CALL] * 96


def depth_of(dispatched):
    return SPEC.classify("depth", {"dispatch_seconds": dispatched, "completed_seconds": [CALL] * 3})


def test_a_call_that_returns_far_before_its_result_is_asynchronous():
    assert SPEC.classify("dispatch", {"seconds": [1e-4] * 3, "completed_seconds": [CALL] * 3}) == "asynchronous"
    assert SPEC.classify("dispatch", {"seconds": [CALL] * 3, "completed_seconds": [CALL] * 3}) == "synchronous"


def test_the_first_call_that_blocks_is_counted_from_one():
    assert SPEC.blocked_at(QUEUE, CALL) == 33
    assert depth_of(QUEUE) == "blocks at a depth"


def test_calls_that_all_block_have_no_queue_and_calls_that_never_do_have_no_end():
    assert depth_of([CALL] * 128) == "synchronous"
    assert depth_of([1e-4] * 128) == "never blocked in 128 calls"
    assert SPEC.blocked_at([1e-4] * 128, CALL) is None


def test_one_long_call_is_another_process_s_doing():
    assert SPEC.blocked_at([1e-4] * 5 + [3 * CALL] + QUEUE[6:], CALL) == 33


def test_a_queue_that_drains_in_batches_is_found_by_its_mean():
    batches = [1e-4] * 16 + ([8 * CALL] + [1e-4] * 7) * 14
    assert SPEC.blocked_at(batches, CALL) == 17


def test_a_benchmark_that_forgets_to_wait_is_told_from_one_that_need_not():
    completed = [CALL] * 3
    assert SPEC.classify("forgotten", {"reported_seconds": [1e-3] * 3, "completed_seconds": completed}) == "flatters"
    assert SPEC.classify("forgotten", {"reported_seconds": completed, "completed_seconds": completed}) == "honest"
