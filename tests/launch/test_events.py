"""Reading events: everything a worker may say, and everything else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suite.case import PHASES, Flag
from suite.launch import events
from suite.launch.events import Account, parse

seconds = st.floats(0, 1e6)
words = st.text(max_size=8)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=5,
)
valid_event = st.one_of(
    st.builds(lambda phase: {"event": "phase", "phase": phase}, st.sampled_from([*PHASES])),
    st.builds(lambda columns: {"event": "facts", "columns": columns}, st.dictionaries(words, json_values, max_size=3)),
    st.builds(
        lambda pairs: {
            "event": "samples",
            "clock": "synced",
            "synced_seconds": [a for a, _ in pairs],
            "dispatch_seconds": [b for _, b in pairs],
        },
        st.lists(st.tuples(seconds, seconds), max_size=4),
    ),
    st.builds(
        lambda values: {"event": "samples", "clock": "fetch", "fetch_seconds": values}, st.lists(seconds, max_size=4)
    ),
    st.builds(lambda flag: {"event": "flag", "flag": str(flag)}, st.sampled_from(list(Flag))),
    st.builds(
        lambda name, values: {"event": "metric", "name": name, "unit": "s", "kind": "time", "values": values},
        words,
        st.lists(seconds, max_size=3),
    ),
    st.builds(lambda text: {"event": "exception", "type": "E", "message": text, "traceback": text}, words),
    st.builds(lambda text: {"event": "wrong", "reason": text}, words),
)


def encode(found: list[Any], first: int = 0) -> bytes:
    lines = [json.dumps({"v": 1, "seq": first + n, "t_ns": n, **event}) for n, event in enumerate(found)]
    return "".join(f"{line}\n" for line in lines).encode()


@given(st.lists(valid_event, max_size=8), st.booleans(), st.data())
@settings(max_examples=150, deadline=None)
def test_every_prefix_of_a_valid_file_is_consistent(found: list[Any], ends: bool, data: st.DataObject) -> None:
    file = encode(found + ([{"event": "end"}] if ends else []))
    whole = parse(file)
    assert whole.problem is None and whole.ended == ends
    shorter: Account = Account()
    for cut in [*sorted(data.draw(st.lists(st.integers(0, len(file)), max_size=6))), len(file)]:
        longer = parse(file[:cut])
        assert longer.problem is None
        for column, values in shorter.samples.items():
            assert longer.samples[column][: len(values)] == values
        assert len(longer.samples["synced_seconds"]) == len(longer.samples["dispatch_seconds"])
        assert longer.flags[: len(shorter.flags)] == shorter.flags
        assert longer.metrics[: len(shorter.metrics)] == shorter.metrics
        assert longer.columns.keys() >= shorter.columns.keys()
        assert longer.ended >= shorter.ended
        shorter = longer
    assert repr(shorter) == repr(whole)  # not ==: NaN is allowed in a fact


@given(st.binary(max_size=300))
def test_arbitrary_bytes_never_raise(data: bytes) -> None:
    parse(data)


KEYS = (
    "phase columns clock synced_seconds dispatch_seconds fetch_seconds "
    "flag name unit kind values type message traceback reason"
)
strange_event = st.fixed_dictionaries(
    {"event": st.sampled_from(sorted(kind.__struct_config__.tag for kind in get_args(events.EVENT)))},
    optional=dict.fromkeys(KEYS.split(), json_values),
)


@given(st.lists(strange_event, max_size=3))
def test_events_with_arbitrary_data_never_raise(found: list[Any]) -> None:
    parse(encode(found))


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b"\xff\xfe\x00garbage", "not JSON"),
        (b"[1, 2]", "Expected `object`, got `array`"),
        (b'{"v": 2, "seq": 1, "event": "end"}', "version 2 instead of 1"),
        (b'{"v": 1, "seq": 5, "event": "end"}', "sequence number 5 instead of 1"),
        (b'{"v": 1, "seq": 1, "event": "party"}', "'party'"),
        (b'{"v": 1, "seq": 1, "event": ["end"]}', "Expected `str`"),
        (b'{"v": 1, "seq": 1, "event": "phase", "phase": "lunch"}', "$.phase"),
        (b'{"v": 1, "seq": 1, "event": "samples", "clock": "fetch", "fetch_seconds": [-1]}', "$.fetch_seconds"),
        (b'{"v": 1, "seq": 1, "event": "samples", "clock": "fetch", "fetch_seconds": [1e999]}', "$.fetch_seconds"),
        (b'{"v": 1, "seq": 1, "event": "samples", "clock": "fetch", "fetch_seconds": [true]}', "$.fetch_seconds"),
        (
            b'{"v": 1, "seq": 1, "event": "samples", "clock": "synced", "synced_seconds": [1],"dispatch_seconds": []}',
            "unequal number",
        ),
        (b'{"v": 1, "seq": 1, "event": "samples", "clock": "fetch"}', "too few"),
        (b'{"v": 1, "seq": 1, "event": "phase", "phase": "first\\n"}', "$.phase"),
        (b'{"v": 1, "seq": 1, "event": "flag", "flag": "red"}', "'red'"),
        (b"[" * 100_000, "not JSON"),
    ],
)
def test_garbage_ends_the_reading_and_keeps_what_came_before(line: bytes, problem: str) -> None:
    before = encode([{"event": "facts", "columns": {"import_seconds": 1.5}}])
    found = parse(before + line + b"\n" + encode([{"event": "end"}], first=2))
    assert found.problem is not None and found.problem.startswith("line 2: ") and problem in found.problem
    assert found.columns == {"import_seconds": 1.5}
    assert not found.ended


def test_later_facts_override_and_samples_add_up() -> None:
    found = parse(
        encode(
            [
                {"event": "facts", "columns": {"a": 1, "b": 1}},
                {"event": "samples", "clock": "pipelined", "pipelined_seconds": [1]},
                {"event": "facts", "columns": {"b": 2}},
                {"event": "samples", "clock": "pipelined", "pipelined_seconds": [2.5]},
                {"event": "flag", "flag": "noisy"},
                {"event": "flag", "flag": "noisy"},
                {"event": "unsupported", "reason": "no such thing"},
            ]
        )
    )
    assert found.columns == {"a": 1, "b": 2}
    assert found.samples["pipelined_seconds"] == [1.0, 2.5]
    assert (found.flags, found.unsupported, found.problem) == (["noisy"], "no such thing", None)


def test_half_a_surrogate_pair_becomes_text_that_can_be_stored() -> None:
    found = parse(encode([{"event": "wrong", "reason": "file \ud83d.bin, \U0001f600"}]))
    assert found.wrong == "file ?.bin, \U0001f600"


def test_a_missing_an_unreadable_and_an_overlong_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert events.read(tmp_path / "none.jsonl") == Account()
    assert "cannot be read" in (events.read(tmp_path).problem or "")
    monkeypatch.setattr(events, "EVENTS_BYTES_MAX", 2**20)
    file = tmp_path / "events.jsonl"
    file.write_bytes(encode([{"event": "flag", "flag": "noisy"}] * 30_000))
    found = events.read(file)
    assert (found.problem, found.flags) == ("longer than 1 MiB", ["noisy"])


def samples_of(**fields: Any) -> Account:
    event = {"event": "samples", "clock": "synced", "synced_seconds": [3.0, 2.0, 2.0], "dispatch_seconds": [1.0] * 3}
    return parse(encode([event | fields]))


def test_samples_know_their_round_but_for_those_that_lead_into_it() -> None:
    assert samples_of().samples[events.ROUNDS] == [0, 0, 0]
    assert samples_of(round=7, leading=1).samples[events.ROUNDS] == [0, 7, 7]


@pytest.mark.parametrize("fields", [{"round": -1}, {"round": "1"}, {"round": 10**9}, {"round": True}, {"leading": 4}])
def test_samples_of_a_round_that_is_none_end_the_reading(fields: dict[str, Any]) -> None:
    found = samples_of(**fields)
    assert found.problem and found.samples["synced_seconds"] == []
