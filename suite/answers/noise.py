"""The readings of a set's noise, each beside its limit: the one rule behind the page's badge, its notices, and its
section on noise."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from suite import units
from suite.answers.answer import Answer, answer
from suite.answers.sentences import counted, listed
from suite.machine.description import CHANGE_MAX, furthest, moved
from suite.machine.roofline import HAD_MIN
from suite.results.analysis import Analysis
from suite.results.frame import Frame
from suite.stats import FLOOR_MAX, reach

# Causes that lie in the set's own figures: they don't say that the machine was noisy.
WIDE_INTERVALS, WIDE_FLOOR = "wide intervals", "a wide noise floor"
DECIMALS_MOST = 4  # of a share that is near its limit


@dataclass(frozen=True, slots=True)
class Reading:
    """One reading of a set's noise: `what` was read, what was `found`, and its `limit`, in words. `cause` is what the
    badge calls it. `notice` says what follows from a reading over its limit; it is empty within the limit."""

    what: str
    found: str
    limit: str
    cause: str
    notice: str


@answer("Noise", terms=("restless", "noisy"), grows=False, in_markdown=False, on_console=False)
def noise(frame: Frame) -> Answer | None:
    """What the badge at the top goes by: one reading over its limit makes the set restless."""
    read = readings(frame.analysis, frame.results.blocks, frame.results.ceilings)
    if not read:
        return None
    over = [f"{reading.what.lower()}: {reading.found}, limit {reading.limit}" for reading in exceeded(read)]
    return Answer(
        f"Over its limit: {'; '.join(over)}." if over else "No reading is over its limit.",
        pl.DataFrame(
            [
                {
                    "reading": reading.what,
                    "found": reading.found,
                    "limit": reading.limit,
                    "within": f"no: {reading.cause}" if reading.notice else "yes",
                }
                for reading in read
            ]
        ),
    )


def readings(
    analysis: Analysis, blocks: Sequence[Mapping[str, Any]], ceilings: Sequence[Mapping[str, Any]]
) -> tuple[Reading, ...]:
    """Returns the readings that the set has; `ceilings` are those of the machine's f32 ceiling."""
    known = (
        noisy_blocks(blocks),
        narrowest_interval(analysis),
        noise_floors(analysis),
        cores_had(ceilings),
        own_speed(ceilings),
    )
    return tuple(reading for reading in known if reading is not None)


def exceeded(all_: Iterable[Reading]) -> list[Reading]:
    return [reading for reading in all_ if reading.notice]


def noisy_blocks(blocks: Sequence[Mapping[str, Any]]) -> Reading | None:
    """Returns how many runs of blocks exceeded a limit of the noise gate."""
    over = [block for block in blocks if block.get("reasons")]
    rejected = sum(block.get("verdict") != "accepted" for block in over)
    aside = f" (rejected and not counted: {rejected})" if rejected else ""
    found = f"{len(over)} of {counted(len(blocks), 'block run')}"
    notice = f"{found} exceeded a noise limit{aside}." if over else ""
    return Reading("Blocks over a limit of the noise gate", found, "0", "noisy blocks", notice) if blocks else None


def narrowest_interval(analysis: Analysis) -> Reading | None:
    """Returns the reach of the narrowest interval of a ratio, which a tie needs to be within the tie's band; None for a
    run until decided, which ends as soon as wider intervals show what they can."""
    if analysis.protocol.until_decided:
        return None
    widths = [width for speedup in analysis.speedups if (width := reach(speedup.ratio))]
    if not widths:
        return None
    tie, least = analysis.protocol.tie_ratio, min(widths)
    found, limit = (f"±{units.percent(width - 1)}" for width in (least, tie))
    notice = (
        f"A tie (no difference over {units.percent(tie - 1)}) was out of reach: the narrowest interval of a ratio is "
        f"{found}."
    )
    return Reading("Narrowest interval of a ratio", found, limit, WIDE_INTERVALS, notice if least > tie else "")


def noise_floors(analysis: Analysis) -> Reading | None:
    """Returns how many noise floors are wider than FLOOR_MAX."""
    noise = [(comparison.name, comparison.noise.ratio) for comparison in analysis.comparisons if comparison.noise]
    floors = [(name, width) for name, ratio in noise if (width := reach(ratio))]
    wide = [name for name, width in floors if width > FLOOR_MAX]
    limit = f"±{units.percent(FLOOR_MAX - 1)}"
    notice = (
        f"The noise floor is wider than {limit} in {len(wide)} of {len(floors)} comparisons ({listed(wide)}): no "
        "smaller difference is shown there."
    )
    found = f"{len(wide)} of {len(floors)}"
    what = f"Noise floors wider than {limit}"
    return Reading(what, found, "0", WIDE_FLOOR, notice if wide else "") if floors else None


def cores_had(ceilings: Sequence[Mapping[str, Any]]) -> Reading | None:
    """Returns the least share of its cores' time that a measurement of the ceiling got before or between blocks: the
    rest went to other programs."""
    what, limit = (
        "Share of its cores' time that the f32 ceiling's measurement got",
        f"at least {units.percent(HAD_MIN)}",
    )
    shares = [reading["cores_had"] for reading in ceilings if "cores_had" in reading and not reading.get("in_doubt")]
    if not shares:
        reasons = [reading["withdrawn"] for reading in ceilings if "withdrawn" in reading]
        return Reading(what, f"withdrawn: {reasons[0]}", limit, "other programs", "") if reasons else None
    found = share_beside(min(shares), HAD_MIN)
    notice = (
        f"Other programs were running: the measurement of the machine's f32 ceiling got only {found} of its cores' "
        "time. If they went on, they widened the intervals."
    )
    return Reading(what, found, limit, "other programs", notice if min(shares) < HAD_MIN else "")


def share_beside(share: float, limit: float) -> str:
    """Returns a share as `87 %`, with as many decimals as show on which side of its limit it is: `90.4 %`."""
    for decimals in range(DECIMALS_MOST):
        shown = f"{share:.{decimals}%}"
        if shown != f"{limit:.{decimals}%}" or share == limit:
            break
    return shown.replace("%", " %")


def own_speed(ceilings: Sequence[Mapping[str, Any]]) -> Reading | None:
    """Returns how far the machine's ceiling was from its first reading when the set was resumed; None without two
    readings that had their cores alone."""
    far = furthest(ceilings)
    if far is None:
        return None
    what, limit = "Change of the machine's f32 ceiling", f"±{units.percent(CHANGE_MAX)}"
    return Reading(
        what, f"{far:+.0%}".replace("%", " %"), limit, "a change of the machine's speed", moved(ceilings) or ""
    )
