"""The badge of trust, its reason, the notices and the readings of noise are one account."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from suite import results
from suite.answers.noise import exceeded, noise_floors, readings, share_beside
from suite.page.formats.export import export
from suite.page.formats.render import render
from suite.page.notices import QUIET, Account, Notice, Trust, account
from suite.page.report import report
from suite.sets.result_set import ResultSet
from tests.page import synthetic
from tests.page.parts import found as found_
from tests.results.rows import rows_of

SETS = Path(__file__).parents[1] / "results" / "sets"
PUBLISHED = sorted(folder for folder in (Path(__file__).parents[2] / "sets").iterdir() if folder.is_dir())
READING = {"measured_at": "2026-01-15T10:00:00+00:00", "threads": 2, "side": 1024, "flops_per_second": 2e11}


def account_of(loaded: results.Results, ceilings: list[dict[str, Any]]) -> Account:
    """The account of a set without blocks' records, with these readings of the ceiling."""
    analysis = loaded.analysis()
    return account(analysis, None, readings(analysis, (), ceilings))


def test_a_noisy_block_makes_a_set_restless_and_one_block_makes_it_weak(
    loaded: results.Results, tmp_path: Path
) -> None:
    noisy = report(loaded)
    assert noisy.trust == Trust.RESTLESS  # block 2 was rejected once
    assert noisy.account.causes.startswith("noisy blocks")
    assert noisy.notices[0] == "1 of 6 block runs exceeded a noise limit (rejected and not counted: 1)."
    one = report(results.load(synthetic.write(tmp_path / "set", blocks=1)))
    assert one.trust == Trust.WEAK and one.account.causes == "an unfinished run, one block"


@pytest.mark.parametrize(
    ("ceilings", "cause", "notice"),
    [
        ([READING | {"cores_had": 0.87}], "other programs", "got only 87 % of its cores' time"),
        (
            [READING, READING | {"flops_per_second": 1.6e11}],
            "a change of the machine's speed",
            "reached 160 GFLOP/s in f32 when this set was resumed and 200",
        ),
    ],
)
def test_each_reading_of_the_ceiling_beyond_its_limit_makes_a_set_restless(
    ceilings: list[dict[str, Any]], cause: str, notice: str
) -> None:
    loaded = results.load(SETS / "three_questions")
    calm, told = account_of(loaded, [READING | {"cores_had": 0.99}, READING]), account_of(loaded, ceilings)
    assert told.word == Trust.RESTLESS
    [added] = {*told.notices} - {*calm.notices}
    assert added.cause == cause and notice in added.text
    doubted = [READING | {"cores_had": 0.99}, *(reading | {"in_doubt": True} for reading in ceilings)]
    assert account_of(loaded, doubted).notices == calm.notices


def test_a_restless_set_says_which_cause_holds_with_its_figure() -> None:
    decided, open_ = (
        results.Results(Path("wide"), None, rows_of({"numpy": [0.02, 0.021, 0.0205], "jax_jit": other}), [], {})
        for other in ([0.010, 0.0112, 0.0101], [0.019, 0.0215, 0.0203])
    )
    calm = decided.analysis("numpy")
    decided_all = account(calm, None, readings(calm, (), ()))
    assert (decided_all.word, decided_all.causes) == (Trust.RESTLESS, "wide intervals"), "though all is decided"
    assert "Every ratio is decided; smaller differences couldn't be shown because of " in decided_all.reason
    analysis = open_.analysis("numpy")
    told = account(analysis, None, readings(analysis, (), ()))
    assert told.word == Trust.RESTLESS and told.causes == "wide intervals"
    assert re.search(r"the narrowest interval of a ratio is ±[\d.]+\s%\.$", told.notices[0].text)
    assert told.reason == (
        "No reading of the machine is over its limit. Small differences may stay undecided because of this notice:"
    )
    busy = [READING | {"cores_had": 0.87}]
    both = account(analysis, None, readings(analysis, (), busy))
    assert both.reason == "Small differences may stay undecided because of these 2 notices:", "the machine was, too"


def test_the_reason_counts_the_notices_that_decide_the_word() -> None:
    def told(*of: tuple[Trust, str]) -> tuple[Trust, str, str, str]:
        made = Account(tuple(Notice("text", trust, cause) for trust, cause in of))
        return made.word, made.causes, made.counted, made.reason

    restless, weak, plain = ((Trust.RESTLESS, "noise"), (Trust.WEAK, "one block"), (Trust.QUIET, ""))
    assert told() == (Trust.QUIET, "", "", QUIET)
    assert told(plain, plain) == (Trust.QUIET, "", "2 notices", f"{QUIET} Besides, there are these 2 notices:")
    word, causes, counted, reason = told(weak, restless, plain)
    assert (word, causes, counted) == (Trust.WEAK, "one block", "3 notices")
    assert reason.startswith("This set can't carry firm verdicts because of the first of these 3 notices, ")
    many = [(Trust.RESTLESS, name) for name in "abcd"]
    assert told(*many)[1] == "a, b, 2 more"
    assert told(*many, plain)[3] == "Small differences may stay undecided because of the first 4 of these 5 notices:"


@pytest.mark.parametrize("folder", PUBLISHED, ids=lambda folder: folder.name[:23])
def test_the_badge_of_each_published_set_agrees_with_its_readings(folder: Path) -> None:
    made = report(results.load(folder))
    over = exceeded(readings(made.analysis, made.results.blocks, made.results.ceilings))
    assert {reading.notice for reading in over} <= {*made.notices}
    assert made.trust == Trust.WEAK or (made.trust == Trust.RESTLESS) == bool(over)
    undecided = any(speedup.verdict == "undecided" for speedup in made.analysis.speedups)
    if made.trust == Trust.RESTLESS:
        assert ("Every ratio is decided" in made.account.reason) != undecided


@pytest.mark.parametrize("digits", ["7dfeec9f", "91ec4bb0"])
def test_a_withdrawn_reading_is_said_to_be_and_does_not_count(digits: str) -> None:
    [folder] = (each for each in PUBLISHED if f".{digits}" in each.name)
    made = report(results.load(folder))
    assert made.account.causes == "wide intervals" and "other programs were running" not in str(made.facts)
    assert "the reading of their share of the cores' time is withdrawn: Linux books" in made.facts["Machine"]
    [share] = (
        r for r in readings(made.analysis, (), made.results.ceilings) if r.what.startswith("Share of its cores'")
    )
    assert share.found.startswith("withdrawn: Linux books") and not share.notice
    assert not any("got only" in text for text in made.notices)


@pytest.mark.release
def test_badge_notices_and_the_section_on_noise_say_the_same(tmp_path: Path) -> None:
    store = ResultSet.open(synthetic.write(tmp_path / "set"))
    store.ceilings = [READING | {"cores_had": 0.87}]
    store.commit()
    loaded = results.load(store.folder)
    made = report(loaded)
    text = render(store.folder, tmp_path / "page.html").read_text(encoding="utf-8")
    badge = re.search(r'<details class="trust restless">(.*?)</details>', text, re.DOTALL)
    assert badge
    [count] = re.findall(r"(\d+) notices</span></summary>", badge[1])
    assert int(count) == badge[1].count("<li>") == len(made.notices)
    assert badge[1].count("<p") == 1 and f"of these {count} notices:</p>" in badge[1]
    causes = [reading.cause for reading in exceeded(readings(made.analysis, loaded.blocks, loaded.ceilings))]
    assert {"noisy blocks", "other programs"} <= {*causes}
    assert causes == [notice.cause for notice in made.account.deciding]
    section = found_(made, "noise")
    over = section.table.filter(section.table["within"] != "yes")
    assert all(f"{what.lower()}: {found}" in section.sentence for what, found in over.select("reading", "found").rows())
    assert [cause for cause in section.table["within"] if cause != "yes"] == [f"no: {cause}" for cause in causes]
    assert made.account.reason in " ".join(export(loaded).written("md").split())


@pytest.mark.parametrize(
    ("share", "words"), [(0.87, "87 %"), (0.99, "99 %"), (0.9042, "90.4 %"), (0.89996, "89.996 %"), (0.9, "90 %")]
)
def test_a_share_shows_on_which_side_of_its_limit_it_is(share: float, words: str) -> None:
    assert share_beside(share, 0.9) == words


def test_a_wide_noise_floor_is_named_with_its_question() -> None:
    wide, narrow = [0.02, 0.03, 0.018, 0.029, 0.02], [0.02, 0.02001, 0.02002, 0.02001, 0.02]
    rows = [
        row
        for workload, twin in (("gemm", wide), ("selu", narrow))
        for replicate, times in ((1, narrow), (2, twin))
        for row in rows_of({"numpy": times}, workload=workload, replicate=replicate)
    ]
    analysis = results.Results(Path("wide"), None, rows, [], {}).analysis("numpy")
    found = noise_floors(analysis)
    assert found and (found.found, found.limit) == ("1 of 2", "0")
    [named] = [c.name for c in analysis.comparisons if c.name.startswith("gemm")]
    assert f"in 1 of 2 comparisons ({named}): no smaller difference" in found.notice
