"""Renders one table of README.md or docs/, as docs/figures.toml defines it, from the result sets that it names."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from suite.answers.answer import ASKED
from suite.answers.comparisons import compared, equal_words, short
from suite.answers.noise import noisy_blocks
from suite.answers.show import rows_of
from suite.case import Flag
from suite.environments.locks import names as environment_names
from suite.environments.locks import newest
from suite.errors import COMMAND, UserError
from suite.page.formats.render import environment
from suite.page.sections import registry  # noqa: F401  # which knows all answers
from suite.page.sections.timed.headlines import headlines
from suite.results import Results
from suite.results.analysis import Analysis, Comparison
from suite.results.frame import Frame
from suite.sets import manifest
from suite.units import UNKNOWN
from suite.verdicts.verdicts import ALONE
from tools.figures import definitions, facts
from tools.figures.definitions import Definition
from tools.figures.markers import Origin, PublishedTable
from tools.figures.rules import PACKAGES, in_words, lock_problems, named_versions, noise_problems, older_locks
from tools.figures.threads import Example
from tools.figures.wrong import Wrong

DIGITS = 12  # of the digest in a set's name
TARGETS = ("cpu", "cuda", "tpu")


@dataclass(frozen=True, slots=True)
class Source:
    """One result set of a table: its name with digest, `named` with a link to it, the command that made it, and its
    analysis."""

    set_name: str
    named: str
    results: Results
    analysis: Analysis

    @classmethod
    def of(cls, results: Results, page: str) -> Source:
        """Returns the source of a loaded set. Raises UserError if the set isn't whole: it must have a digest, by which
        readers of the table find it."""
        if not (results.path / manifest.NAME).is_file():
            raise UserError(
                f"{results.path} isn't a whole result set. `{COMMAND} run --resume={results.path}` completes it."
            )
        known = manifest.read(results.path)
        name = known.called(DIGITS)
        place = f"{'../' * page.count('/')}{definitions.KEPT}/{known.name}/{manifest.NAME}"
        return cls(name, f"[`{name}`]({place})", results, results.analysis())

    @property
    def command(self) -> str:
        file = self.results.plan_file
        words = shlex.split(file.command)[1:] if file else []
        # A question's file is named twice, once with the path that it had on the machine.
        named = [word for word in words if not (word.startswith("--workload-path=") and word.endswith(".py"))]
        return shlex.join([COMMAND, *named]) if words else ""

    @property
    def outcomes(self) -> str:
        """Returns how the processes ended: `440 processes in 5 blocks, 435 of them ok (5 wrong)`, and how many
        weren't run because the same case had already ended as it would again."""
        rows = [row for row in self.analysis.counted if row["provenance"] not in (None, "inferred")]
        ended = Counter(row.outcome for row in rows)
        ok = ended.pop("ok", 0)
        settled = sum(row["provenance"] == "inferred" for row in self.analysis.counted)
        after = (
            f"; {settled} more weren't run, because the same case had already ended as it would again"
            if settled
            else ""
        )
        blocks = f" in {len(self.analysis.blocks)} blocks" if self.analysis.blocks else ""
        others = ", ".join(f"{count} {outcome}" for outcome, count in sorted(ended.items()))
        return (
            f"{len(rows)} processes{blocks}, "
            + (f"{ok} of them ok ({others})" if others else "all ok")
            + after
            + self.noisy_blocks
        )

    @property
    def noisy_blocks(self) -> str:
        """Returns `; 2 of 3 block runs exceeded a noise limit`, as the report says it; empty if none did."""
        reading = noisy_blocks(self.results.blocks)
        return f"; {reading.notice.rstrip('.')}" if reading and reading.notice else ""

    def said(self, name: str) -> str:
        """Returns an answer's sentence."""
        found = ASKED[name].function(Frame(self.results, self.analysis))
        return found.sentence if found else ""

    def answer(self, name: str) -> list[tuple[str, list[dict[str, Any]]]]:
        """Returns an answer's table in its parts, each with its title; a table without parts has none."""
        asked = ASKED[name]
        if not (found := asked.function(Frame(self.results, self.analysis))):
            return []
        groups = found.table.group_by(asked.parts or pl.lit(""), maintain_order=True)
        return [(str(name), group.to_dicts()) for (name,), group in groups]


def published(definition: Definition, sets: Mapping[str, Results]) -> PublishedTable:
    """Returns a table rendered from `sets`, {name in docs/figures.toml: loaded set}.

    Raises UserError if a set is missing, isn't whole, or may not be published: versions that no lock has, wide noise
    floors, a processor that the table isn't for.
    """
    if missing := [name for name in definition.sets if name not in sets]:
        raise UserError(
            f"The figures '{definition.name}' need the set '{missing[0]}' too: --set {missing[0]}=results/…"
        )
    sources = [Source.of(sets[name], definition.page) for name in definition.sets]
    for source in sources:
        check_processor(definition, source)
    origin = origin_of(sources)
    problems = [*lock_problems(origin), *noise_problems(origin)] if sources else []
    if problems:
        raise UserError(f"The figures '{definition.name}' can't be published: {'; '.join(problems)}.")
    return PublishedTable(definition.name, origin, text(definition, sources, origin))


def check_processor(definition: Definition, source: Source) -> None:
    """Raises UserError if a set was measured on a processor that the table isn't for."""
    machine = source.results.machine
    if not definition.is_for(machine):
        numbers = machine.get("cpu_family_model_stepping") or "of an unknown family"
        raise UserError(
            f"The figures '{definition.name}' are for {definition.processors}; the set ran on "
            f"{machine.get('cpu_model') or 'an unknown processor'} (family/model/stepping {numbers})."
        )


def origin_of(sources: Sequence[Source]) -> Origin:
    versions: dict[str, dict[str, str]] = {}
    for source in sources:
        for row in source.analysis.counted:
            if row["versions"] is not None and (named := named_versions(row.mapping("versions"))):
                versions[row.text("environment")] = named
    floors = [noise.ratio.value for source in sources for c in source.analysis.comparisons if (noise := c.noise)]
    return Origin(
        sets=tuple(source.set_name for source in sources),
        versions=versions,
        noise=(round(min(floors), 4), round(max(floors), 4)) if floors else None,
        target=next((file.target for source in sources if (file := source.results.plan_file)), "cpu"),
    )


def text(definition: Definition, sources: Sequence[Source], origin: Origin) -> str:
    """Returns the Markdown of a table, rendered by its template. Raises UserError for a question that the sets lack."""
    comparisons = {c.name: c for source in sources for c in source.analysis.comparisons}
    if unknown := [name for name in definition.questions if name not in comparisons]:
        raise UserError(f"The figures '{definition.name}' show {unknown[0]}, a question that the set doesn't have.")
    used_comparisons = [c for source in sources for c in source.analysis.comparisons]
    names = dict.fromkeys(name for target in TARGETS for name in environment_names(target))
    template = environment().get_template(f"figures/{definition.template}.md.j2")
    rendered = template.render(
        definition=definition,
        facts=facts,
        origin=origin,
        sources=sources,
        comparisons=[comparisons[name] for name in definition.questions or comparisons],
        answers={answer.question: answer.text for source in sources for answer in headlines(source.analysis)},
        processors=definition.processors,
        alone=ALONE,
        versions=in_words(origin),
        older_locks=older_locks(origin),
        with_page_faults=[c.name for c in used_comparisons if has_page_faults(c)],
        example=Example.of(definition.name) if definition.template == "gallery" else None,
        wrong=Wrong.of,
        lines=lambda comparison: [*rows_of(short(stacks_of(sources, comparison)))],
        equal=lambda comparison: equal_words(stacks_of(sources, comparison)),
        locks=[(name, [newest_lock(name, target) for target in TARGETS]) for name in names],
    )
    rows_joined = re.sub(r"\|[ ]*\n\s*\n(?=\|)", "|\n", rendered)  # a loop in a template leaves blank lines
    return re.sub(r"\n\s*\n", "\n\n", rows_joined).strip() + "\n"


def stacks_of(sources: Sequence[Source], comparison: Comparison) -> pl.DataFrame:
    """Returns the stacks of a question, which one of the sources has."""
    source = next(source for source in sources if comparison in source.analysis.comparisons)
    return compared(Frame(source.results, source.analysis)).filter(question=comparison.name)


def has_page_faults(comparison: Comparison) -> bool:
    """Whether page faults may have cost some stack of this question more than 5 % of its processor time, by its
    flag."""
    return any(flag == Flag.PAGE_FAULTS for figures in comparison.timed for flag, _ in figures.flags)


def newest_lock(environment: str, target: str) -> str:
    """Returns `JAX 0.12.0.1, optax 0.2.8, Python 3.13` of an environment's newest lock; a dash where it has none."""
    pinned = newest(environment, target).pins
    if not pinned:
        return UNKNOWN
    versions = [f"{PACKAGES[name]} {version}" for name, version in named_versions(pinned).items()]
    versions = versions[:-1] or versions  # every lock pins the same NumPy, so only its own environment names it
    versions += [f"{name} {pinned[name]}" for name in ("optax", "libtpu") if name in pinned]
    runtime = next((pinned[name] for name in sorted(pinned) if name.startswith("nvidia-cuda-runtime")), "")
    versions += [f"CUDA {'.'.join(runtime.split('.')[:2])}"] * (target == "cuda" and bool(runtime))
    return ", ".join([*versions, f"Python {pinned['python']}"])
