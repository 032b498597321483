"""What typed words mean, and which are refused."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suite.case import PASSES, PRECISIONS, TARGETS, Purpose
from suite.cli.measure.ask import AskOptions
from suite.cli.options import FrontierOptions, RunOptions
from suite.cli.values import parse_dims, parse_outcomes, parse_quantity
from suite.errors import UserError, unknown_word
from suite.stacks.catalog import STACKS
from suite.units import BYTES, SECONDS
from tests.typed import parsed


@pytest.mark.parametrize(
    ("text", "value"), [("2GiB", 2 * 2**30), ("1.5 gb", 1.5e9), ("512MiB", 2**29), ("1k", 1024), ("100b", 100)]
)
def test_bytes(text: str, value: float) -> None:
    assert parse_quantity(text, BYTES, "limit-memory", "2GiB") == value


@pytest.mark.parametrize(("text", "value"), [("90", 90), ("10min", 600), ("1.5h", 5400), ("3 s", 3)])
def test_seconds(text: str, value: float) -> None:
    assert parse_quantity(text, SECONDS, "timeout", "10min") == value


@pytest.mark.parametrize("text", ["2", "0GiB", "-1GiB", "GiB", "2 apples", "", "1e9b"])
def test_what_is_no_quantity_of_memory(text: str) -> None:
    with pytest.raises(UserError, match=r"--limit-memory=.* Write it like --limit-memory=2GiB\."):
        parse_quantity(text, BYTES, "limit-memory", "2GiB")


def test_a_number_without_its_unit_is_not_bytes() -> None:
    with pytest.raises(UserError, match="A number needs its unit"):
        parse_quantity("2", BYTES, "limit-memory", "2GiB")


@given(st.dictionaries(st.from_regex(r"[a-z_]{1,8}", fullmatch=True), st.integers(0, 10**9), min_size=1, max_size=5))
def test_dims_come_back(dims: dict[str, int]) -> None:
    assert parse_dims(", ".join(f"{name} = {value}" for name, value in dims.items())) == dims


@pytest.mark.parametrize("text", ["", "n", "n=", "=3", "n=1.5", "n=-1", "n=2;m=3", "n=2,,m=3"])
def test_what_is_no_dim(text: str) -> None:
    with pytest.raises(UserError, match="a name and a whole number"):
        parse_dims(text)


def test_each_dims_is_a_comparison_of_its_own() -> None:
    selection = RunOptions(dims=("n=512", "n=1024,m=2")).selection([0, 1])
    assert selection.dims == ({"n": 512}, {"n": 1024, "m": 2})
    with pytest.raises(UserError, match="--dims n=512 --dims n=1024"):
        parse_dims("n=512,n=1024")


def test_warm_means_cold_too() -> None:
    assert RunOptions(cache="warm").selection([0]).caches == ("cold", "warm")
    assert RunOptions().selection([0]).caches == ("cold",)


def test_sampling_is_the_presets_or_asked_for_by_a_word() -> None:
    assert RunOptions(preset="quick").chosen_preset().protocol.sampling == "rounds"
    assert RunOptions(preset="tiny").chosen_preset().protocol.sampling == "alone"
    assert RunOptions(preset="quick", sampling="alone").chosen_preset().protocol.sampling == "alone"
    assert RunOptions(preset="tiny", sampling="rounds").chosen_preset().protocol.sampling == "rounds"
    with pytest.raises(UserError, match=r"no sampling 'round'.*Did you mean 'rounds'"):
        RunOptions(sampling="round").chosen_preset()


@pytest.mark.parametrize("target", ["cuda", "tpu"])
def test_on_an_accelerator_processes_are_sampled_alone_unless_rounds_are_asked_for(target: str) -> None:
    assert RunOptions(preset="quick", target=target).chosen_preset().protocol.sampling == "alone"
    assert RunOptions(preset="quick", target=target, sampling="rounds").chosen_preset().protocol.sampling == "rounds"


def test_repeats_are_exactly_so_many_blocks() -> None:
    protocol = RunOptions(preset="ops", repeats=7).chosen_preset().protocol
    assert (protocol.blocks, protocol.blocks_max, protocol.noisy_retries) == (7, 7, 0)
    with pytest.raises(UserError, match="at least one block"):
        RunOptions(repeats=0).chosen_preset()


def test_quick_and_ask_run_until_decided_and_repeats_fix_the_plan() -> None:
    for options in (RunOptions(), RunOptions(file=("mine.py",)), RunOptions(preset="full", until="decided")):
        assert options.chosen_preset().protocol.until_decided
    for options in (
        RunOptions(repeats=3),
        RunOptions(preset="full"),
        RunOptions(until="blocks"),
        RunOptions(shard="1/2"),
    ):
        assert not options.chosen_preset().protocol.until_decided
    assert RunOptions(at_most="90").chosen_preset().protocol.at_most_seconds == 90
    assert RunOptions(preset="full", until="decided").chosen_preset().protocol.costly_blocks == 0
    refused = [
        {"repeats": 3, "until": "decided"},
        {"repeats": 3, "at_most": "1min"},
        {"until": "sure"},
        {"at_most": "x"},
    ]
    for words in (*refused, {"shard": "1/2", "until": "decided"}):
        with pytest.raises(UserError):
            RunOptions(**words).chosen_preset()  # type: ignore[arg-type]


def test_a_time_limit_limits_compiling_too() -> None:
    protocol = RunOptions(timeout="5min").chosen_preset().protocol
    assert (protocol.timeout_seconds, protocol.compile_timeout_seconds) == (300, 300)


def test_cores_are_some_of_those_that_are_here() -> None:
    assert RunOptions(cores=("2", "1", "2")).selection((4, 5, 6)).threads == (2, 1)
    assert RunOptions().selection((4, 5, 6)).threads == (3,)
    for text in ("0", "4", "-1", "1.5", "two", ""):
        with pytest.raises(UserError, match="from 1 to 3"):
            RunOptions(cores=(text,)).selection((4, 5, 6))


def test_what_was_given_asks_the_same_again() -> None:
    options = RunOptions(
        preset="ops",
        stack=("jax_*", "torch_eager"),
        dims=("n=2",),
        pass_=("train",),
        limit_memory=("2GiB", "3GiB"),
        purpose="memory",
        exhaustive=True,
    )
    given = options.given(engine="local")
    assert given[0] == "run" and {"--stack=jax_*", "--stack=torch_eager", "--limit-memory=3GiB"} <= {*given}
    assert parsed(given)[1] == dataclasses.replace(options, engine="local")
    assert dataclasses.replace(options, results="/a/folder/of/this/machine").given(engine="local") == given
    search = FrontierOptions(vary="seq", limit_memory=("6GiB",), tolerance="5%", force=True, dry_run=True)
    assert search.given() == ("frontier", "--vary=seq", "--limit-memory=6GiB", "--tolerance=5%")


@pytest.mark.parametrize(("text", "share"), [("2%", 0.02), ("0.02", 0.02), (" 12.5 %", 0.125), ("0", 0.0), ("0%", 0.0)])
def test_a_tolerance_is_a_share(text: str, share: float) -> None:
    options = FrontierOptions(tolerance=text)
    assert options.chosen_preset().protocol.search_tolerance == pytest.approx(share)


@pytest.mark.parametrize("text", ["2", "100%", "-1%", "two", "1.5.2", ""])
def test_what_is_no_share_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(UserError, match=r"--tolerance=0\.02"):
        FrontierOptions(tolerance=text).chosen_preset()


def test_a_search_has_the_tolerance_of_its_preset() -> None:
    assert FrontierOptions().chosen_preset().protocol.search_tolerance == 0.02


def test_a_search_takes_a_question_file_in_its_own_size_and_its_first_pass_unless_told() -> None:
    asked = FrontierOptions().with_words(["net.py"]).selection([0])
    assert (asked.workloads, asked.sizes, asked.passes) == (("net",), ("asked",), ())
    trained = FrontierOptions(pass_=("train",)).with_words(["net.py"])
    assert trained.selection([0]).passes == ("train",) and [path.name for path in trained.workload_paths] == ["net.py"]
    ours = FrontierOptions().with_words(["gpt2,bert"]).selection([0])
    assert (ours.workloads, ours.sizes, ours.passes) == (("gpt2", "bert"), ("full",), ("train",))


def test_workloads_and_question_files_are_run_apart() -> None:
    with pytest.raises(UserError, match="gemm and question files like"):
        RunOptions().with_words(["gemm", "a.py"]).chosen_preset()
    assert RunOptions().with_words(["a.py", "b.py"]).chosen_preset().protocol.until_decided


def test_a_purpose_replaces_the_preset_s() -> None:
    assert RunOptions(preset="tiny").chosen_preset().purpose is Purpose.TIMED
    assert RunOptions(preset="tiny", purpose="memory", explain=True).chosen_preset().protocol.explain
    assert RunOptions(preset="oom").chosen_preset().purpose is Purpose.MEMORY
    assert RunOptions(preset="oom", purpose="timed").chosen_preset().purpose is Purpose.TIMED
    with pytest.raises(UserError, match="prime"):
        RunOptions(purpose="prime").chosen_preset()


def test_outcomes() -> None:
    _, resumed = parsed(["run", "--resume=x", "--again=timeout, error", "--again=wrong"])
    assert parse_outcomes(resumed.again) == {"timeout", "error", "wrong"}
    with pytest.raises(UserError, match="'timeout'"):
        parse_outcomes(["timout"])


def test_lists_and_words_without_an_option() -> None:
    _, run = parsed(["run", "gemm,ffn", "mine.py", "--stack=numpy, jax_*", "--stack=tf_xla", "--dims", "m=2,n=3"])
    assert isinstance(run, RunOptions)
    assert (run.workload, run.file) == (("gemm", "ffn"), ("mine.py",))
    assert (run.stack, run.dims) == (("numpy", "jax_*", "tf_xla"), ("m=2,n=3",))
    _, frontier = parsed(["frontier", "gpt2", "--limit-memory=2GiB,4GiB"])
    assert isinstance(frontier, FrontierOptions) and len(frontier.selection([0]).limits) == 2
    _, ask = parsed(["ask", "mine.py"])
    assert isinstance(ask, AskOptions) and ask.file == ("mine.py",)
    assert parsed(["archive", "results/x", "s3://bucket/a"])[1] == {"set": "results/x", "to": "s3://bucket/a"}
    assert parsed(["verify", "results/x"])[1] == {"set": "results/x"}
    assert parsed(["report", "results/x", "--format=md"])[1] == {"set": "results/x", "format": "md"}
    assert parsed(["report", "--compare", "a", "b", "c"])[1] == {"compare": ("a", "b", "c")}
    for words in ("a --by=x b", "--by x a b", "--set=a --set b --by=x", "--set a b --by=x"):
        assert parsed(["compare", *words.split()])[1] == {"set": ("a", "b"), "by": "x"}
    with pytest.raises(UserError, match="'more'"):
        parsed(["verify", "results/x", "more"])


@pytest.mark.parametrize(
    ("kind", "typed", "known", "meant"),
    [
        ("target", "GPU", TARGETS, "'cuda'"),
        ("precision", "fp16", PRECISIONS, "'bf16'"),
        ("workload", "matmul", ("ffn", "gemm", "mha"), "'gemm'"),
        ("stack", "torch", STACKS, "torch_eager, torch_inductor"),
        ("stack", "torch_compile", STACKS, "'torch_inductor'"),
        ("pass", "training", PASSES, "'train'"),
        ("pass", "backward", PASSES, "'gradient'"),
    ],
)
def test_a_word_of_the_same_meaning_is_proposed(kind: str, typed: str, known: Sequence[str], meant: str) -> None:
    assert meant in unknown_word(kind, typed, known).partition("Did you mean ")[2]


@pytest.mark.parametrize(("target", "at_once"), [("cpu", True), ("cuda", False)])
def test_a_check_shares_no_accelerator(target: str, at_once: bool) -> None:
    options = RunOptions(preset="check", target=target)
    assert options.chosen_preset().protocol.at_once is at_once
