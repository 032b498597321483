"""The options of the commands on result sets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

from suite.cli.options.shared import ArchiveOptions, JsonOptions, Options, ResultsOptions
from suite.errors import UserError

LATEST = "results/latest"


@dataclass(frozen=True, kw_only=True)
class ReportOptions(Options):
    """The options of `./stackwars report`."""

    WORDS = ("set",)

    def with_words(self, words: Sequence[str]) -> Self:
        """Returns the options with the sets typed without an option: those after --compare, or the one to report."""
        if self.compare:
            return replace(self, compare=(*self.compare, *words))
        if len(words) > 1:
            raise UserError(f"{' '.join(words)}: `report --compare {' '.join(words)}` compares sets.")
        return replace(self, set=words[0])

    set: str = LATEST
    """a result set"""
    baseline: str | None = None
    """the stack that the others are compared with; it is always shown"""
    stack: tuple[str, ...] = ()
    """show only these stacks and the baseline; globs; the figures are still computed from the whole result set"""
    question: tuple[str, ...] = ()
    """show only the questions of these names; globs; the figures are still computed from the whole result set"""
    compare: tuple[str, ...] = ()
    """compare these result sets with the first of them, in place of one set's report: `./stackwars report --compare
    BEFORE AFTER`"""
    format: str = "html"
    """html, md for a comment on a change, csv or json"""
    out: str | None = None
    """the file to write (default for html: report.html in the set's folder, or in this folder with --stack or
    --question; compare.html in this folder with --compare; other formats go to standard output)"""


@dataclass(frozen=True, kw_only=True)
class CompareOptions(Options):
    """The options of `./stackwars compare`."""

    WORDS = ("set",)

    set: tuple[str, ...] = ()
    """a result set; also without --set: `./stackwars compare BEFORE AFTER`"""
    by: str | None = None
    """compare within one set, by this field: cache, track, precision, pass or variant"""
    baseline: str | None = None
    """with --by: the value that the others are compared with"""
    across: bool = False
    """show sets of unlike machines, targets or precisions side by side; no verdict says faster or slower"""
    threshold: float = 1.05
    """a ratio of times: the exit code is 5 if a case is slower by more than this"""
    format: str = "text"
    """text, html, md, csv or json"""
    title: str | None = None
    """the title of the page, like `JAX 0.12 against 0.10` (default: the sets' names)"""
    out: str | None = None
    """the file to write (default for html: compare.html in this folder; other formats go to standard output)"""


@dataclass(frozen=True, kw_only=True)
class PitfallsOptions(Options):
    """The options of `./stackwars pitfalls`."""

    set: str = LATEST
    """a result set of probes, from `./stackwars run --preset=behaviour`"""
    times: str | None = None
    """a result set of the primer's examples, from `./stackwars run --preset=primer`"""
    out: str = "pitfalls.md"
    """the file to write; a summary of its data is written beside it (.json)"""


@dataclass(frozen=True, kw_only=True)
class CollectOptions(ResultsOptions):
    """The options of `./stackwars collect`."""

    WORDS = ("set",)

    set: tuple[str, ...] = ()
    """the result set of a share; also without --set: `./stackwars collect A B`"""
    stack_path: tuple[str, ...] = ()
    """your copy of the shares' own stacks, a file or folder; their code is never taken from the shares"""


@dataclass(frozen=True, kw_only=True)
class PublishOptions(Options):
    """The options of `./stackwars archive`."""

    WORDS = ("set", "to")

    to: str | None = None
    """the archive: a folder, s3://bucket/prefix or gs://bucket/prefix; credentials come from the environment"""
    set: str = LATEST
    """the result set to publish; its run must have finished"""
    sign: str | None = None
    """an OpenSSH private key to sign with, or a public key whose private key is in an SSH agent"""
    with_changes: bool = False
    """publish also the changes to the source that weren't committed"""


@dataclass(frozen=True, kw_only=True)
class SetsOptions(ArchiveOptions, JsonOptions):
    """The options of `./stackwars sets`."""


@dataclass(frozen=True, kw_only=True)
class FetchOptions(ArchiveOptions):
    """The options of `./stackwars fetch`."""

    WORDS = ("set",)

    set: str | None = None
    """the result set's name in the archive; `./stackwars sets --from=ARCHIVE` lists the names"""
    from_: str | None = None
    """the archive that has the set: a folder, s3://bucket/prefix or gs://bucket/prefix; credentials come from the
    environment"""


@dataclass(frozen=True, kw_only=True)
class HistoryOptions(ArchiveOptions, JsonOptions):
    """The options of `./stackwars history`."""

    WORDS = ("workload",)

    workload: str | None = None
    """the workload; globs"""
    stack: str = "*"
    """only these stacks; globs"""
    pass_: tuple[str, ...] = ()
    """only forward or train (default: both)"""
    out: str | None = None
    """also write the history to this file: a page (.html) or a table (.parquet)"""


@dataclass(frozen=True, kw_only=True)
class SiteOptions(ArchiveOptions):
    """The options of `./stackwars site`."""

    out: str = "site"
    """the folder of the site; files that this command didn't write stay as they are"""
    exclude: tuple[str, ...] = ()
    """leave out the sets of these names, such as trials; globs"""


@dataclass(frozen=True, kw_only=True)
class VerifyOptions(JsonOptions):
    """The options of `./stackwars verify`."""

    WORDS = ("set",)

    set: str = LATEST
    """a result set's folder, or its name in an archive"""
    from_: str | None = None
    """the archive that has the set: a folder, s3://bucket/prefix or gs://bucket/prefix; credentials come from the
    environment"""
    signed_by: str | None = None
    """a public key, or an OpenSSH file of allowed signers: one of them must have signed the set"""


@dataclass(frozen=True, kw_only=True)
class IrOptions(JsonOptions):
    """The options of `./stackwars ir`."""

    WORDS = ("case",)

    set: str = LATEST
    """a result set"""
    case: tuple[str, ...] = ()
    """a case's name, or a .mlir file of your own; give two, which are compared"""
    markdown: bool = False
    """print the programs of every question as Markdown"""
