"""Writes docs/findings/published.md: what other documents published, and what can be said to it.

`.venv/bin/python -m tools.published > docs/findings/published.md`; a test compares the two.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from suite import units
from suite.machine.published_peaks import PublishedPeaks, peaks_of
from suite.machine.roofline import MARGIN, TIMES_MOVED
from suite.page.tables import Table, markdown
from suite.results.documents.figures import Document, PublishedFigure, PublishedTime, PublishedVerdict, documents
from suite.results.documents.reach import IMPOSSIBLE, POSSIBLE, dims_of, least_seconds, possible, possible_work
from suite.workloads import catalog
from tools.figures.markers import published_tables
from tools.figures.threads import Example

GALLERY = Path(__file__).parents[1] / "docs" / "findings" / "gallery.md"
WORDS = {"Confirmed": "confirmed", "The other way round": "contradicted"}  # {the gallery's: this page's}
HEADS = ("what", "by", "on", "published", "possible from")

HEAD = """# What others published

Documents with figures of these frameworks, and what can be said to each. They were read where they stand, the study \
as it was quoted. The data are in [published/](../published/). A claim is \
*confirmed* or *contradicted* by a set of the [gallery](gallery.md), on the machine and with the versions that it \
names: who is slower, and by what factor (*larger* or *smaller* than the claim's), but not why. It is \
*confirmed in part* where the set answers less than the claim says, *not confirmed* where the sides are close or \
undecided, *impossible by arithmetic*, *not comparable*, or *not measured yet*. Every factor is one of time. \
The page of a set with the same question shows published times beside its own ("Published elsewhere"). This page is \
written by `.venv/bin/python -m tools.published`.

A time is impossible if it is {margin} times shorter than the chip needs: FLOPs over the published peak, or bytes over \
the published bandwidth. Twice the bytes that the chip can keep in its own memory from step to step aren't counted. \
What chips reach: [published_peaks.toml](../../suite/machine/published_peaks.toml).
"""


def page() -> str:
    """Returns the text of docs/findings/published.md."""
    found = documents()
    index = "".join(f"- [{each.title}](#{anchor(each.title)}): **{verdict(each)[0]}**\n" for each in found)
    return "\n".join([HEAD.format(margin=MARGIN), index, *(part for each in found for part in section(each))])


def verdict(document: Document) -> tuple[str, str]:
    """Returns the verdict on a claim in a word, and why. The gallery's set decides on a claim with a question."""
    impossible = [time for time in document.times if possible(time) == IMPOSSIBLE]
    if impossible:
        return "impossible by arithmetic", "; ".join(map(too_short, impossible))
    example = Example.of(document.question) if document.question else None
    if example is None or example.thread.apart:
        return "not comparable", example.thread.apart if example else document.apart
    sides = re.escape(example.thread.held("TIMES")).replace("TIMES", "[^ ]+")
    table = published_tables(GALLERY.read_text(encoding="utf-8")).get(f"gallery-{example.name.replace('_', '-')}")
    said = re.search(rf"\*\*([^*:]+): ({sides}[^*]+)\.\*\*", table.text if table else "")
    if said is None:
        return "not measured yet", f"whether {example.thread.held()} will be held against it"
    return WORDS.get(said[1], said[1].lower()), said[2]


def too_short(time: PublishedTime) -> str:
    """Returns why a published time can't be that of a whole step."""
    least = units.seconds(least_seconds(time))
    step = f"a training step in {time.precision} with AdamW" if time.pass_ == "train" else f"a pass in {time.precision}"
    of = f"{title(time.workload)} on one {time.device}"
    return f"{step} of {of} takes at least {least}, not {units.seconds(time.seconds)}"


def section(document: Document) -> Iterator[str]:
    """Yields the parts of one document: the verdict, what it says and how it measured, the command that measures the
    nearest here, its figures, and the arithmetic of each time that is impossible."""
    word, why = verdict(document)
    source = f"[Source]({document.url})" if document.url else "No public copy was found"
    known = [
        f"It says that {document.claim}. {source}{f', {document.date}' if document.date else ''}.",
        *[f"On {document.hardware}."] * bool(document.hardware),
        *[f"{document.versions}."] * bool(document.versions),
        document.conditions,
        *map(memory, document.verdicts),
    ]
    again = document.rerun or (f"./stackwars ask examples/{document.question}.py" if document.question else "")
    yield f"## {document.title}\n\n**{word.capitalize()}: {why}.**{f' Here: `{again}`' if again else ''}\n"
    yield f"{' '.join(known)}\n"
    impossible = [time for time in document.times if possible(time) == IMPOSSIBLE]
    lines = [*(line(time) for time in document.times if time not in impossible), *map(figure, document.figures)]
    shown = [place for place in range(len(HEADS)) if any(cells[place] for cells in lines)]
    if lines:
        yield markdown(Table("", [HEADS[place] for place in shown], [[cells[at] for at in shown] for cells in lines]))
    for time in impossible:
        if (chip := peaks_of(time.device)) is not None and possible_work(time):
            yield arithmetic(time, chip)


def memory(verdict: PublishedVerdict) -> str:
    """Returns which frameworks' training step fits into a device's memory, as a sentence."""
    fits = ", ".join(f"{by} {'fits' if whole else 'runs out of memory'}" for by, whole in verdict.fits.items())
    return f"{title(verdict.workload)}: {fits}."


def anchor(heading: str) -> str:
    """Returns the address of a heading within its page."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def title(workload: str) -> str:
    return str(catalog.find()[workload].spec.TITLE)


def line(time: PublishedTime) -> list[str]:
    """Returns a published time as a line of its table, with the least time that is possible on its chip."""
    given = ", ".join(f"{name} {value:,}" for name, value in time.dims.items())
    ended = f", result on the {time.ends}" if time.ends != "not said" else ""
    least = least_seconds(time)
    return [
        f"{title(time.workload)}, {time.pass_}, {given}{ended}",
        time.stack,
        time.device if time.device != "not said" else "",
        units.seconds(time.seconds),
        units.seconds(least) if least is not None else "",
    ]


def figure(published: PublishedFigure) -> list[str]:
    """Returns a figure as a line of its table."""
    value = units.seconds(published.value) if published.unit == "s" else f"{published.value:.4g} {published.unit}"
    return [published.of, published.by, "", value, ""]


def arithmetic(time: PublishedTime, chip: PublishedPeaks) -> str:
    """Returns the readings of a published time as a table: what its step may have been, with the bytes and the least
    time of each reading."""
    spec, dims = catalog.find()[time.workload].spec, dims_of(time)
    parameters = sum(tensor.size for tensor in spec.parameters(dims).values())
    cache = TIMES_MOVED * chip.on_chip_bytes
    rate = chip.bytes_per_second
    whole = possible_work(time)[0]
    lines = [
        [
            work.words,
            f"{work.moved / parameters:.3g}" if work.moved else "0",
            f"{work.moved / 1e9:.3g} GB",
            units.seconds(work.least) if work.least else "none",
            work.verdict(time.seconds),
        ]
        for work in possible_work(time)
    ]
    heads = ["what a step is", "bytes a parameter", "bytes", "least time", f"{units.seconds(time.seconds)} is"]
    return (
        f"{parameters:,} parameters; {chip.title}: {rate / 1e12:.3g} TB/s. In {units.seconds(time.seconds)} its memory "
        f"moves {rate * time.seconds / 1e9:.3g} GB, {(rate * time.seconds + cache) / parameters:.3g} bytes a parameter "
        f"with what stays on the chip. The least time of the first line is ({whole.moved / 1e9:.3g} GB − "
        f"{cache / 1e9:.3g} GB) / {rate / 1e12:.3g} TB/s = {units.seconds(whole.least)}; without the chip's own memory "
        f"it would be {units.seconds(whole.moved / rate)}.\n\n"
        + markdown(Table("", heads, lines, numbers=heads[1:4]))
        + conclusion(time)
    )


def conclusion(time: PublishedTime) -> str:
    """Returns what an impossible time can be the time of."""
    first, *others = possible_work(time)
    times = units.digits(first.least / time.seconds)
    listed = "; ".join(work.words for work in others if work.verdict(time.seconds) == POSSIBLE)
    return (
        f"\nA whole training step in float32, with the optimizer's update, takes at least {times} times as long if its "
        f"end is waited for. So the published time isn't that. It can be the time of one of these: {listed}. The "
        "figure alone doesn't say which. Where a time of this suite's own is too short in this way, it is flagged as "
        "`implausible` and left out of every ratio.\n"
    )


if __name__ == "__main__":
    print(page(), end="")
