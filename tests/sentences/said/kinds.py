"""The kinds of sentences, each with its reader."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tests.sentences.said.grammar import Fact, Grammar, simple
from tests.sentences.said.headline import headline
from tests.sentences.said.leads import behind, leads, map_sentence
from tests.sentences.said.machine import badge, noise, notices
from tests.sentences.said.processes import endings, equivalence, frontier, peaks
from tests.sentences.said.times import break_even, comparisons, compiled, summary, transfers, unified, ways

THREAD = (
    r"(?P<claim>Confirmed(?: in part)?|The other way round|Not confirmed)(?P<far>, larger|, smaller)?: `{S:who}` takes "
    r"(?P<times>[\d.,]+) times as long (?:as `{S:over}`|on {N:more} cores? as on {N:fewer}) \((?P<low>[\d.,]+) to "
    r"(?P<high>[\d.,]+)(?:, (?P<word>\w+))?\) here(?:; the thread says (?P<factor>[\w .]+) times)?(?:; (?P<limit>.+))?\."
)


PARSERS: dict[str, Callable[[str, Grammar], Iterable[Fact]]] = {
    "headline": headline,
    "map": map_sentence,
    "frames": leads,
    "behind": behind,
    "summary": summary,
    "comparisons": comparisons,
    "latency": simple(
        r"The longest first call took {T:first} \({S:who} on {Q:on}\)(?:; {N:without} cases? without a steady time)?\.",
        r"No case has a time\.",
        what="latency",
    ),
    "break_even": break_even,
    "compiled": compiled,
    "unified": unified,
    "transfers": transfers,
    "ways": ways,
    "peaks": peaks,
    "holders": simple(
        r"{S:who} holds most on {Q:on}: {B:held}(?:, of which {B:part} (?P<kind>.+?))?\.",
        r"No stack keeps a record of what it holds\.",
        what="held",
    ),
    "endings": endings,
    "equivalence": equivalence,
    "noise": noise,
    "blocks": simple(
        r"{N:some} of {N:of} block runs? exceeded a noise limit\.",
        what="noisy",
        value=lambda f: (int(f["some"]), int(f["of"])),
    ),
    "badge": badge,
    "notices": notices,
    "cause": simple(
        r"MKL's default path on this (?P<vendor>AMD )?processor likely slows {L:slowed}(?P<may>; a faster one may reverse the ranking)?\.",
        what="mkl",
    ),
    "frontier": frontier,
    "memory": simple(r"{N:ok} of {N:of} cases? fit\.", what="fit", value=lambda f: (int(f["ok"]), int(f["of"]))),
    "thread": simple(THREAD, r"Can't be compared: (?P<apart>.+)\.", what="thread"),
    "compare": simple(
        r"{N:changed} of {N:of} cases changed; {N:worse} (?:is|are) worse by more than (?P<limit>[\d.]+ %), or no longer ok\.",
        r"The sets differ in (?P<unlike>.+): nothing is called faster\.",
        r"The machine's f32 ceilings in the two runs differ by {P:drift}: a smaller change of a case may come from the machine\.",
        r"The median of all ratios is {R:shift}: if all cases changed alike, the machine may have changed, and not the stacks\.",
        r"Versions that differ, first and second set: (?P<versions>.+)\.",
        what="compare",
    ),
    "cell": simple(
        r"{Q:on} \| `{S:who}` over `{S:over}`: {R:ratio} ?(?P<interval>{I})?(?P<word> \w+)?(?P<why>: .+)?",
        r"{Q:on} \| `{S:who}`: {T:time}",
        what="cell",
    ),
    "unified cell": simple(
        r"{Q:on} \| `{S:over}` \| `{S:who}` \| {T:under} \| {T:time} \| {R:ratio} (?P<interval>{I}) \| (?P<word>\w+).*",
        what="unified cell",
    ),
    "floor": simple(r"{Q:on} {R:ratio} ?(?P<interval>{I})?", what="floor"),
}


def facts_in(kind: str, text: str, grammar: Grammar) -> list[Fact]:
    """Returns all that a sentence says. Raises NotUnderstood for one that no pattern of its kind fits."""
    return [*PARSERS[kind](" ".join(text.split(" ")), grammar)]
