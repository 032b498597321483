"""Writes docs/findings/published.md: the times that other documents published, which are impossible, and why.

`.venv/bin/python -m tools.published > docs/findings/published.md`; a test compares the two.
"""

from __future__ import annotations

from collections.abc import Iterator

from suite import units
from suite.machine.published_peaks import PublishedPeaks
from suite.machine.roofline import MARGIN, TIMES_MOVED
from suite.report.tables import Table, markdown
from suite.results.documents.figures import Document, PublishedTime, documents
from suite.results.documents.reach import IMPOSSIBLE, POSSIBLE, chip_of, dims_of, possible_work
from suite.workloads import catalog

HEAD = """# What others published

This suite grew from a few documents. The files in [published/](../published/) have the times that they published, \
with sources. If a set has their questions, its page shows these times beside its own ("Published elsewhere"), and \
says which are too short for a whole step on the chip that the document names. This page is written from the files by \
`.venv/bin/python -m tools.published`; a test compares the two.

A time is compared with the least time that its chip needs: FLOPs over the published peak, or bytes over the published \
bandwidth, whichever is longer. The chip may keep bytes in its own memory from step to step, so twice the size of that \
memory isn't counted (each byte would be read and written). A time counts as impossible only if it is {margin} times \
too short. What chips reach is in [published_peaks.toml](../../suite/machine/published_peaks.toml), each figure \
with its source.
"""


def page() -> str:
    """Returns the text of docs/findings/published.md."""
    parts = [HEAD.format(margin=MARGIN), *(section for document in documents() for section in sections(document))]
    return "\n".join(parts)


def sections(document: Document) -> Iterator[str]:
    """Yields the parts of one document: how it measured, its times, its verdicts, and the arithmetic of each time whose
    chip is known."""
    yield f"## {document.title}\n\n{f'<{document.url}>{chr(10)}{chr(10)}' if document.url else ''}{document.known}\n"
    yield markdown(Table("", ["question", "stack", "on", "time", "where the result was"], [*map(line, document.times)]))
    if document.verdicts:
        lines = [
            [
                title(verdict.workload),
                verdict.device,
                *("fits" if fits else "out of memory" for fits in verdict.fits.values()),
            ]
            for verdict in document.verdicts
        ]
        yield markdown(Table("", ["training step", "on", *document.verdicts[0].fits], lines))
    for time in document.times:
        if (chip := chip_of(time)) is not None and possible_work(time):
            yield arithmetic(time, chip)


def title(workload: str) -> str:
    """Returns a workload's name for people."""
    return str(catalog.find()[workload].spec.TITLE)


def line(time: PublishedTime) -> list[str]:
    """Returns a published time as a line of its table."""
    given = ", ".join(f"{name} {value:,}" for name, value in time.dims.items())
    question = f"{title(time.workload)}, {time.pass_}, {given}"
    return [question, time.stack, time.device, units.seconds(time.seconds), time.ends]


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
        f"### {title(time.workload)}, {units.seconds(time.seconds)}: the arithmetic\n\n"
        f"{parameters:,} parameters; {chip.title}: {rate / 1e12:.3g} TB/s. In {units.seconds(time.seconds)} its memory "
        f"moves {rate * time.seconds / 1e9:.3g} GB, {(rate * time.seconds + cache) / parameters:.3g} bytes a parameter "
        f"with what stays on the chip. The least time of the first line is ({whole.moved / 1e9:.3g} GB − "
        f"{cache / 1e9:.3g} GB) / {rate / 1e12:.3g} TB/s = {units.seconds(whole.least)}; without the chip's own memory "
        f"it would be {units.seconds(whole.moved / rate)}.\n\n"
        + markdown(Table("", heads, lines, numbers=heads[1:4]))
        + conclusion(time)
    )


def conclusion(time: PublishedTime) -> str:
    """Returns what a published time can be the time of, and what it can't."""
    first, *others = possible_work(time)
    if first.verdict(time.seconds) != IMPOSSIBLE:
        return "\nThe time can be that of a whole step.\n"
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
