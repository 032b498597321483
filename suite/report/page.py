"""A whole report as plain data: what the templates are given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from suite.errors import UserError, unknown
from suite.report import answers, figures, summary, surroundings
from suite.report.answers import Headline
from suite.report.outcomes import Failure, MatrixRow, failures
from suite.report.plots import Plot
from suite.report.ratios import Ratios
from suite.report.roof import roof_of
from suite.report.rows import NOT_RUN, Row, unrun
from suite.report.summary import PairRow, SummaryRow, TransferRow
from suite.report.surroundings import BlockRecord, Environment, Fact, Recipe
from suite.report.tables import Comparison, comparisons
from suite.results import Results
from suite.results.store import accepted
from suite.stacks.catalog import STACKS


@dataclass(frozen=True, slots=True)
class Report:
    """Every table and figure of the page, ready to be drawn."""

    set_id: str
    title: str
    facts: tuple[Fact, ...]
    notices: tuple[str, ...]
    baseline: str
    headlines: tuple[Headline, ...]
    summary: tuple[SummaryRow, ...]
    summary_plot: Plot | None
    stacks: tuple[str, ...]
    matrix: tuple[MatrixRow, ...]
    comparisons: tuple[Comparison, ...]
    plots: dict[str, tuple[Plot, ...]]
    pairs: tuple[PairRow, ...]
    transfers: tuple[TransferRow, ...]
    failures: tuple[Failure, ...]
    machine: tuple[Fact, ...]
    environments: tuple[Environment, ...]
    blocks: tuple[BlockRecord, ...]
    recipe: Recipe
    family: int


@dataclass(frozen=True, slots=True)
class Tables:
    """What the page and the console share: every row, the planned ones counted once, and their tables."""

    rows: tuple[Row, ...]
    counted: tuple[Row, ...]
    baseline: str
    ratios: Ratios
    comparisons: tuple[Comparison, ...]
    headlines: tuple[Headline, ...]


def tables(results: Results, baseline: str | None = None) -> Tables:
    """The comparisons of a set against `baseline` (the plan's own if None). Raises UserError if it has none such."""
    attempts = results.plan.attempts if results.plan else ()
    if not results.rows and not attempts:
        raise UserError(f"{results.path} has neither a plan nor a row: there is nothing to report.")
    missing = unrun(results.plan, [Row(raw) for raw in accepted(results.rows)])
    known = {Row(raw).stack for raw in results.rows} | {row.stack for row in missing}
    chosen = baseline or (results.baseline if results.plan or results.rows else min(known))
    if chosen not in known:
        raise unknown("stack in this result set to compare against, no baseline", chosen, known)
    ratios = Ratios(results.rows, chosen, results.protocol)
    # The judged rows: one process that fails the gate makes its whole case wrong.
    counted = (*(Row(raw) for raw in accepted(ratios.rows)), *missing)
    compared = comparisons(counted, ratios, chosen, roof_of(results, counted))
    rows = (*(Row(raw) for raw in results.rows), *missing)
    return Tables(rows, counted, chosen, ratios, compared, answers.headlines(compared, ratios))


def report(results: Results, baseline: str | None = None) -> Report:
    """The whole page of a result set."""
    t = tables(results, baseline)
    plan, protocol = results.plan, results.protocol
    stacks = _ordered({cell.stack for c in t.comparisons for cell in c.cells})
    means = summary.summary(t.comparisons, t.ratios)
    names = {c.id: c.name for c in t.comparisons}
    inputs = results.path / "inputs" if results.path.is_dir() else None
    revision, modified = _source(inputs)
    records = surroundings.block_records(results.blocks)
    set_id = plan.set_id if plan else results.path.stem
    return Report(
        set_id=set_id,
        title=_title(t.comparisons, set_id),
        facts=_facts(results, t),
        notices=_notices(t, records, modified),
        baseline=t.baseline,
        headlines=t.headlines,
        summary=means,
        summary_plot=figures.of_summary(means, t.baseline, protocol.tie_ratio),
        stacks=stacks,
        matrix=tuple(_matrix_row(c, stacks) for c in t.comparisons),
        comparisons=t.comparisons,
        plots={c.anchor: figures.of_comparison(c, t.baseline, protocol.tie_ratio) for c in t.comparisons},
        pairs=summary.pairs(t.comparisons, t.ratios, summary.compiled_pairs(stacks)),
        transfers=summary.transfers(t.comparisons),
        failures=failures(t.rows, names),
        machine=tuple(surroundings.facts_of(results.machine)) if results.machine else (),
        environments=surroundings.environments(t.rows, plan),
        blocks=records,
        recipe=surroundings.recipe(plan, revision, modified),
        family=t.ratios.family,
    )


def _ordered(stacks: set[str]) -> tuple[str, ...]:
    """The catalogue's order: dialects stay together. Unknown stacks come last."""
    order = list(STACKS)
    return tuple(sorted(stacks, key=lambda s: (order.index(b) if (b := s.partition("@")[0]) in order else 99, s)))


def _matrix_row(c: Comparison, stacks: Sequence[str]) -> MatrixRow:
    own = {cell.stack: cell for cell in c.cells}
    return MatrixRow(c.name, c.anchor, tuple(own.get(stack) for stack in stacks))


def _title(compared: Sequence[Comparison], set_id: str) -> str:
    words = sorted({c.name.split()[0] for c in compared})
    return f"{', '.join(words)}: which stack is fastest" if 0 < len(words) <= 6 else f"Result set {set_id}"


def _facts(results: Results, t: Tables) -> tuple[Fact, ...]:
    plan, machine = results.plan, results.machine
    started = min((str(r.fields["started_at"]) for r in t.rows if r.fields.get("started_at")), default="")
    when = (started or (plan.created_at if plan else ""))[:16].replace("T", " ")
    blocks = len({r.integer("block") for r in t.counted if r.outcome != NOT_RUN})
    timed = [r for r in t.counted if r.text("purpose") == "timed"]
    facts = [Fact("Result set", plan.set_id if plan else results.path.stem)]
    facts += [Fact("Measured", f"{when} UTC")] if when else []
    model = machine.get("cpu_model")
    cores = sorted({r.integer("threads") for r in t.counted if r.number("threads") is not None})
    facts += [Fact("Machine", str(model))] if model else []
    facts += [Fact("Sizes", ", ".join(sorted({r.text("size") for r in t.counted})))]
    facts += [Fact("Precision", ", ".join(sorted({r.text("precision") for r in t.counted})))]
    facts += [Fact("Target", ", ".join(sorted({r.text("target") for r in t.counted})))]
    facts += [Fact("Cores each", ", ".join(map(str, cores)))] if cores else []
    facts += [Fact("Processes", f"{sum(r.outcome == 'ok' for r in timed)} ok of {len(timed)} planned")]
    facts += [Fact("Blocks", str(blocks)), Fact("Baseline", t.baseline)]
    return tuple(facts)


def _notices(t: Tables, records: Sequence[BlockRecord], modified: bool) -> tuple[str, ...]:
    """What a reader must know before believing a number."""
    found = []
    unfinished = sum(r.outcome == NOT_RUN for r in t.counted)
    if unfinished:
        found.append(f"This run is not complete: {unfinished} planned processes have no result yet.")
    for c in t.comparisons:
        wrong = [cell.stack for cell in c.cells if cell.outcome == "wrong"]
        if wrong:
            found.append(f"Wrong results, left out of every ratio: {', '.join(wrong)} in {c.name}.")
    noisy = [b for b in records if b.reasons]
    if noisy:
        rejected = sum(b.verdict != "accepted" for b in noisy)
        dropped = f"; {rejected} rejected and not counted" if rejected else ""
        found.append(f"Noisy blocks: {len(noisy)} of {len(records)} runs of a block{dropped}.")
    for c in t.comparisons:
        if c.noise and c.noise.verdict in ("faster", "slower"):
            found.append(f"In {c.name} the A/A twin of {c.noise.stack} differs from itself: doubt its verdicts.")
    if len({r.integer("block") for r in t.counted}) == 1:
        found.append("One block only: no interval exists and every verdict is undecided.")
    if any("unpinned" in r.flags for r in t.counted):
        found.append("Some environments were not installed from the locks (unpinned).")
    if modified:
        found.append("The source was modified when this set was measured; the change is archived with it.")
    return tuple(found)


def _source(inputs: Path | None) -> tuple[str, bool]:
    """(revision, whether the source had been changed)."""
    if inputs is None:
        return "", False
    revision, diff = inputs / "revision.txt", inputs / "diff.patch"
    text = revision.read_text(encoding="utf-8", errors="replace") if revision.is_file() else ""
    return text, diff.is_file() and diff.stat().st_size > 0
