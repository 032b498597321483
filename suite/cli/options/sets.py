"""The options of the commands on result sets."""

from __future__ import annotations

from dataclasses import dataclass

from suite.cli.options.shared import ArchiveOptions, JsonOptions, Options, ResultsOptions

LATEST = "results/latest"


@dataclass(frozen=True, kw_only=True)
class ReportOptions(Options):
    """The options of `./stackwars report`."""

    WORDS = "compare"
    WORDS_NEED_OPTION = True

    set: str = LATEST
    """a result set"""
    baseline: str | None = None
    """the stack to compare with, which is always shown"""
    stack: tuple[str, ...] = ()
    """show only these stacks; globs; figures stay those of the whole set"""
    question: tuple[str, ...] = ()
    """show only these questions, by their names; globs; figures stay those of the whole set"""
    compare: tuple[str, ...] = ()
    """sets against the first of them, in place of one set: `./stackwars report --compare BEFORE AFTER`"""
    format: str = "html"
    """html, md for a comment on a change, csv or json"""
    out: str | None = None
    """the file to write (default: report.html in the set, with --stack or --question here; compare.html here; others
    on standard output)"""


@dataclass(frozen=True, kw_only=True)
class CompareOptions(Options):
    """The options of `./stackwars compare`."""

    WORDS = "set"

    set: tuple[str, ...] = ()
    """a result set; named without --set too: `./stackwars compare BEFORE AFTER`"""
    by: str | None = None
    """within one set: cache, track, precision, pass or variant"""
    baseline: str | None = None
    """with --by: the value that the others are compared with"""
    across: bool = False
    """show sets of unlike machines, targets or precisions side by side; nothing is called faster"""
    threshold: float = 1.05
    """a ratio of times: exit code 5 if a case is slower by more"""
    format: str = "text"
    """text, html, md, csv or json"""
    out: str | None = None
    """the file to write (default: compare.html here for html; others on standard output)"""


@dataclass(frozen=True, kw_only=True)
class PitfallsOptions(Options):
    """The options of `./stackwars pitfalls`."""

    set: str = LATEST
    """a set of probes: `./stackwars run --preset=behaviour`"""
    times: str | None = None
    """a set of the primer's examples: `./stackwars run --preset=primer`"""
    out: str = "pitfalls.md"
    """the file to write; a summary of its data is written beside it (.json)"""


@dataclass(frozen=True, kw_only=True)
class CollectOptions(ResultsOptions):
    """The options of `./stackwars collect`."""

    WORDS = "set"

    set: tuple[str, ...] = ()
    """a share; named without --set too: `./stackwars collect A B`"""
    stack_path: tuple[str, ...] = ()
    """the file, or a folder, of the shares' own stacks, which are never taken from them"""


@dataclass(frozen=True, kw_only=True)
class PublishOptions(Options):
    """The options of `./stackwars archive`."""

    to: str | None = None
    """a folder, s3://bucket/prefix or gs://bucket/prefix; credentials come from the environment"""
    set: str = LATEST
    """a whole result set"""
    sign: str | None = None
    """a private key of OpenSSH, or a public one whose private one an agent has"""
    with_changes: bool = False
    """publish also the changes to the source that weren't committed"""


@dataclass(frozen=True, kw_only=True)
class SetsOptions(ArchiveOptions, JsonOptions):
    """The options of `./stackwars sets`."""


@dataclass(frozen=True, kw_only=True)
class FetchOptions(ArchiveOptions):
    """The options of `./stackwars fetch`."""

    set: str | None = None
    """an archive's name (./stackwars sets)"""


@dataclass(frozen=True, kw_only=True)
class HistoryOptions(ArchiveOptions, JsonOptions):
    """The options of `./stackwars history`."""

    workload: str | None = None
    """the workload; globs"""
    stack: str = "*"
    """only these stacks; globs"""
    pass_: tuple[str, ...] = ()
    """only forward or train (default: both)"""
    out: str | None = None
    """a file to write it to, too: a page (.html) or a table (.parquet)"""


@dataclass(frozen=True, kw_only=True)
class SiteOptions(ArchiveOptions):
    """The options of `./stackwars site`."""

    out: str = "site"
    """the folder of the site; what another command put there is left alone"""


@dataclass(frozen=True, kw_only=True)
class VerifyOptions(JsonOptions):
    """The options of `./stackwars verify`."""

    set: str = LATEST
    """a result set's folder, or an archive's name"""
    from_: str | None = None
    """the archive that has it: a folder, s3://bucket/prefix or gs://bucket/prefix; credentials come from the
    environment"""
    signed_by: str | None = None
    """a public key, or a file of allowed signers: one of them must have signed it"""


@dataclass(frozen=True, kw_only=True)
class IrOptions(JsonOptions):
    """The options of `./stackwars ir`."""

    set: str = LATEST
    """a result set"""
    case: tuple[str, ...] = ()
    """the name of a case, or a .mlir file of yours; give two"""
    markdown: bool = False
    """print every question as Markdown"""
