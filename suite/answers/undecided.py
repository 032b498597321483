"""Why a run until decided has left questions undecided, and what would decide them."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from dataclasses import replace
from statistics import fmean

from msgspec import convert

from suite import units
from suite.answers.sentences import counted, listed
from suite.case import Flag
from suite.results import Results
from suite.results.analysis import Analysis
from suite.sets.blocks import Block
from suite.sets.rows import Row
from suite.verdicts.looks import Standing, blocks_to_go, standings


def undecided(loaded: Results, analysis: Analysis) -> list[str]:
    """Returns a sentence for each question of a run until decided that has an undecided ratio; none for other runs."""
    if not analysis.protocol.until_decided or loaded.plan_file is None:
        return []
    ends = {record["block"]: convert(record, Block).seconds for record in loaded.blocks}
    pairing = replace(analysis.pairing, names={each.id: each.name for each in analysis.all_comparisons})
    return [sentence(one, analysis, ends, loaded.plan_file.command) for one in standings(pairing) if one.unsure]


def sentence(one: Standing, analysis: Analysis, seconds: dict[int, float], command: str) -> str:
    """Returns why a question is undecided, and what would decide it; `seconds` are those that each block took."""
    last = max(max(speedup.log_ratios) for speedup in one.unsure)
    stacks = listed([speedup.stack for speedup in one.unsure])
    who = f"On {one.name} the verdict on {stacks} is undecided after {counted(last, 'block')}"
    if one.waits:
        return f"{who}; {others(analysis.counted, {one.comparison_id})}. Once those have ended, run again: {command}"
    known = [found for speedup in one.unsure if (found := blocks_to_go(speedup))]
    if not known:
        return f"{who}; {listed(sorted({speedup.why or 'one block has no interval' for speedup in one.unsure}))}."
    width, more = max(width for width, _ in known), max(1, math.ceil(max(more for _, more in known)))
    takes = more * seconds.get(last, 0.0)
    most = math.ceil((sum(seconds.values()) + takes) / 60)
    how = f"about {units.duration(takes)} more (--at-most={most}min)"
    if last + more > analysis.protocol.looks_max:
        how = f"{last + more} blocks (--repeats={last + more})"
    return f"{who}; an interval of ±{units.percent(round(width - 1, 2))} would take {how}."


def others(rows: Iterable[Row], questions: Collection[str]) -> str:
    """Returns how much of the cores' time other programs took in the processes of some questions (comparison_ids) that
    they disturbed to the end."""
    hit = [row for row in rows if row["comparison_id"] in questions and Flag.DISTURBED in row.flags]
    shares = [share for row in hit for share in row["synced_others"] or () if share is not None]
    share = f" {units.percent(round(fmean(shares), 2))} of the cores" if shares else " the cores"
    return f"other programs took{share} of {counted(len(hit), 'process')}"
