"""The readings of a set's noise, each beside its limit: the one rule behind the page's badge, its notices, and the
section Environment."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from suite import units
from suite.answers.sentences import counted, listed
from suite.machine.description import CHANGE_MAX, furthest, moved
from suite.machine.roofline import HAD_MIN
from suite.results.analysis import Analysis
from suite.stats import FLOOR_MAX, reach

# Causes that lie in the set's own figures: they don't say that the machine was noisy.
WIDE_INTERVALS, WIDE_FLOOR = "wide intervals", "a wide noise floor"
DECIMALS_MOST = 4  # of a share that is near its limit
OF_A_BLOCK = ("steal_share", "throttled", "load_before", "load_after", "mhz_before", "mhz_after")


@dataclass(frozen=True, slots=True)
class Reading:
    """One reading of a set's noise: `what` was read, what was `found`, and its `limit`, in words. `cause` is what the
    badge calls it. `notice` says what follows from a reading over its limit; it is empty within the limit."""

    what: str
    found: str
    limit: str
    cause: str
    notice: str


@dataclass(frozen=True, slots=True)
class BlockRecord:
    """One run of a block, with its noise readings: `steal_share` is between 0 and 1, frequencies are in MHz. `shard` is
    the part of the plan that the block belongs to, if several machines ran the plan; else empty."""

    block: int
    retry: int
    verdict: str
    reasons: tuple[str, ...]
    canary_before: float | None
    canary_after: float | None
    steal_share: float | None
    throttled: bool | None
    load_before: float | None
    load_after: float | None
    mhz_before: float | None
    mhz_after: float | None
    started_at: str
    shard: str

    @property
    def drift(self) -> float | None:
        """Returns how much slower the canary was after the block than before it, as a share."""
        if not self.canary_before or self.canary_after is None:
            return None
        return self.canary_after / self.canary_before - 1


def readings(
    analysis: Analysis, records: Sequence[BlockRecord], ceilings: Sequence[Mapping[str, Any]]
) -> tuple[Reading, ...]:
    """Returns the readings that the set has; `ceilings` are those of the machine's f32 ceiling."""
    known = (
        noisy_blocks(records),
        narrowest_interval(analysis),
        noise_floors(analysis),
        cores_had(ceilings),
        own_speed(ceilings),
    )
    return tuple(reading for reading in known if reading is not None)


def exceeded(all_: Iterable[Reading]) -> list[Reading]:
    """Returns the readings over their limits."""
    return [reading for reading in all_ if reading.notice]


def noisy_blocks(records: Sequence[BlockRecord]) -> Reading | None:
    """Returns how many runs of blocks exceeded a limit of the noise gate."""
    over = [record for record in records if record.reasons]
    rejected = sum(record.verdict != "accepted" for record in over)
    aside = f" (rejected and not counted: {rejected})" if rejected else ""
    found = f"{len(over)} of {counted(len(records), 'block run')}"
    notice = f"{found} exceeded a noise limit{aside}." if over else ""
    return Reading("Blocks over a limit of the noise gate", found, "0", "noisy blocks", notice) if records else None


def narrowest_interval(analysis: Analysis) -> Reading | None:
    """Returns the reach of the narrowest interval of a ratio, which a tie needs to be within the tie's band."""
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
    shares = [reading["cores_had"] for reading in ceilings if "cores_had" in reading and not reading.get("in_doubt")]
    if not shares:
        return None
    found, limit = share_beside(min(shares), HAD_MIN), f"at least {units.percent(HAD_MIN)}"
    notice = (
        f"Other programs were running: the measurement of the machine's f32 ceiling got only {found} of its cores' "
        "time. If they went on, they widened the intervals."
    )
    what = "Share of its cores' time that the f32 ceiling's measurement got"
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


def block_records(blocks: Iterable[Mapping[str, Any]]) -> tuple[BlockRecord, ...]:
    """Returns the runs of blocks, sorted by shard, block and retry."""
    return tuple(sorted(map(block_record, blocks), key=lambda record: (record.shard, record.block, record.retry)))


def block_record(record: Mapping[str, Any]) -> BlockRecord:
    """Returns one run of a block from its record in the set."""
    canary: Sequence[float | None] = record.get("canary_seconds") or ()
    before, after, *_ = [*canary, None, None]
    return BlockRecord(
        block=int(record["block"]),
        retry=int(record["retry"]),
        verdict=str(record.get("verdict", "unknown")),
        reasons=tuple(str(reason) for reason in record.get("reasons") or ()),
        canary_before=before,
        canary_after=after,
        shard=str(record.get("shard", "")),
        started_at=str(record.get("started_at") or "")[:19].replace("T", " "),
        **{name: record.get(name) for name in OF_A_BLOCK},
    )
