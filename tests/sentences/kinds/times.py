"""The sections on times: lowest medians, first calls, total times, pairs of stacks, clocks, settings."""

from __future__ import annotations

import re
from collections import Counter, defaultdict

from tests.sentences.facts import processes, totals
from tests.sentences.facts.contrasts import FIELDS, TITLES, settings
from tests.sentences.facts.reader import EAGER, NATIVE
from tests.sentences.kinds.held import Groups, Held, Some, agrees, kind, outcome_of, some


@kind("comparisons")
def comparisons(held: Held) -> None:
    truth = held.truth
    said = held.read(
        r"Of {N:of} questions?, the lowest median of a step is that of (?P<shares>.+)\.",
        r"No stack has a time that counts\.",
    )
    times = Counter(counting[0] for on in truth.cells if (counting := truth.counting(on)))
    shares = re.split(r", | and ", said["shares"]) if said["shares"] else []
    others = int(shares.pop().split()[0]) if shares and shares[-1].endswith("others") else 0
    told = {
        one["who"]: one.number("count") for part in shares for one in [held.read("{S:who} on {N:count}", text=part)]
    }
    held.same("lowest medians", told, {who: times[who] for who in told})
    held.same("stacks with a lowest median", len(told) + others, len(times))
    held.same("questions", said.number("of"), len(truth.cells) if times else 0)


@kind("latency")
def latency(held: Held) -> None:
    said = held.read(
        r"The longest first call took {T:first} \({S:who} on {Q:on}\)(?:; {N:without} cases? without a steady time)?\.",
        r"No case has a time\.",
    )
    cells = {(on, who): cell for on, of in held.truth.cells.items() for who, cell in of.items()}
    firsts = {case: cell.call("first") or 0.0 for case, cell in cells.items()}
    case = max(firsts, key=lambda each: firsts[each]) if any(firsts.values()) else ("", "")
    held.same("longest first call", (said["on"], said["who"]), case)
    if said["who"]:
        held.near("first call", said["first"], firsts[case])
        held.same("without a time", said.number("without"), sum(not cell.used for cell in cells.values()))


@kind("break_even")
def break_even(held: Held) -> None:
    truth, text = held.truth, held.text
    several = [on for on in truth.cells if len(totals.calls(truth, on)) > 1]
    if text.startswith("Not in the table: "):
        told = held.every(r"(?:Not in the table: |, ){S:who} on {Q:on} \((?P<why>[^)]*)\)", text)
        ends = {(one["who"], one["on"]): outcome_of(one["why"]) for one in told}
        lacking = {
            (w, on): cell for on in several for w, cell in truth.cells[on].items() if w not in totals.calls(truth, on)
        }
        held.same("without a total", ends, {case: cell.outcome for case, cell in lacking.items()})
        return
    one = held.read(
        r"The least total time on {Q:on}(?P<whole>, the first call included,)? is of (?P<legs>.+?)"
        r"(?: \({N:more} more comparisons? below\))?\.(?: The first run of {S:last} takes {T:first}\.)?"
    )
    leg = r"{S:who}(?: up to step {N:step}| from the first step on)?"
    legs = [held.read(leg, text=each) for each in one["legs"].split(", then ")]
    stretches = totals.least(truth, one["on"])
    held.same("least total", [leg["who"] for leg in legs], [who for _, who in stretches])
    for said, (since, _) in zip(legs, [*stretches[1:], (0, "")], strict=True):
        held.so("last step", agrees(said["step"], since - 1) if since else not said["step"], said["step"], since - 1)
    last, first = legs[-1]["who"], totals.long_first(truth, one["on"], legs[-1]["who"])
    held.same("long first run", one["last"], last if first else "")
    if first:
        held.near("first run", one["first"], first)
    if one["whole"]:
        held.same("more comparisons", one.number("more"), len(several) - 1)


@kind("compiled")
def compiled(held: Held) -> None:
    truth = held.truth
    one = held.read(
        r"(?:First runs included, (?:these overtake their eager stacks after these steps: )?(?P<paid>.+?)\.)?"
        r"(?: ?Compiling isn't shown to pay off for (?P<never>.+)\.)?"
    )
    said = re.split(r", | and ", one["never"]) if one["never"] else []
    others = int(said.pop().split()[0]) if said and said[-1].endswith("others") else 0
    pairs = {who: totals.paid(truth, who) for who in truth.upon(EAGER)}
    never = frozenset(who for who, (steps, _) in pairs.items() if not steps)
    held.same("never pays off", Some(frozenset(said), others), never)
    pair = (
        r"{S:who}(?: overtakes its eager stack after)? {N:low}(?: to {N:high})?(?: steps)?"
        r"(?: \({N:paid} of {N:of}(?: questions)?\))?"
    )
    told = [held.read(pair, text=each) for each in filter(None, (one["paid"] or "").split(", "))]
    held.same("pays off", sorted(each["who"] for each in told), sorted(w for w, (steps, _) in pairs.items() if steps))
    for each in told:
        steps, of = pairs[each["who"]]
        held.ends("step", each["low"], each["high"], steps)
        paid = (each.number("paid"), each.number("of")) if each["paid"] else (of, of)
        held.same("questions on which it pays off", paid, (len(steps), of))


@kind("unified")
def unified(held: Held) -> None:
    parts = [
        held.read(
            r"{S:who} over {S:over}: free on {N:free} of {N:of} questions?(?: \({K:where}\))?"
            r"(?:, at most {X:worst} times as long \({Q:worst_on}\))?(?:, close on {N:close})?(?:, undecided on {N:open})?",
            text=part,
        )
        for part in held.text.removesuffix(".").split("; ")
    ]
    held.same("pairs", {one["who"]: one["over"] for one in parts}, held.truth.upon(NATIVE))
    for one in parts:
        free(held, one)


def free(held: Held, said: Groups) -> None:
    """Holds on how many questions a stack costs nothing over the one below it, and where it costs most."""
    asked = [on for on, cells in held.truth.cells.items() if {said["who"], said["over"]} <= cells.keys()]
    known = [(on, ratio) for on in asked if (ratio := held.truth.ratio(on, said["who"], said["over"]))]
    words = Counter(ratio.word for _, ratio in known)
    counts = tuple(said.number(name) for name in ("free", "of", "close", "open"))
    true = words["tie"] + words["faster"], len(asked), words["close"], words["undecided"]
    held.same("free, of, close, undecided", counts, true)
    on_which = frozenset(on for on, ratio in known if ratio.word in ("tie", "faster"))
    held.same("free on", some(said["where"]), frozenset(() if len(on_which) == len(asked) else on_which))
    most, on = max(((1 / ratio.value, on) for on, ratio in known if ratio.word == "slower"), default=(0.0, ""))
    held.same("worst on", said["worst_on"], on)
    if on:
        held.near("worst", said["worst"], most)


@kind("transfers")
def transfers(held: Held) -> None:
    if held.text.startswith("Not in the table: ") or held.text == "No stack has times by other clocks than synced.":
        return
    one = held.read(
        r"(?:Timing the call alone would miss up to {P:early} of a step \({S:early_who} on {Q:early_on}\)\. ?)?"
        r"(?:(?P<none>No copy of a result to host memory is shown to add time: no difference is above its noise)\.|"
        r"Copying the result to host memory adds time in {N:copied} of {N:of} cases?, at most {T:most} "
        r"\({S:who} on {Q:on}\)\.|What the copy of a result to host memory adds has no interval.*\.)?"
    )
    early = {case: share for case, share in processes.early(held.truth).items() if share > 0}
    case = max(early, key=lambda each: early[each], default=("", ""))
    held.same("early on", (one["early_on"], one["early_who"]), case)
    known = processes.copies(held.truth)
    sure = {each: gap for each, (gap, low) in known.items() if low > 0}
    held.so("no copies", not one["none"] or (known and not sure), one["none"], sure)
    counts = (len(sure), len(known)) if sure else (0, 0)
    held.same("copies", (one.number("copied"), one.number("of")), counts)
    slowest = max(sure, key=lambda each: sure[each], default=("", ""))
    held.same("most copied on", (one["on"], one["who"]), slowest)
    for said, true in ((one["early"], early.get(case)), (one["most"], sure.get(slowest))):
        held.so("most", agrees(said, true) if said else true is None, said, true)


@kind("ways")
def ways(held: Held) -> None:
    parts = [part.partition(": ") for part in held.text.removesuffix(".").split("; ")]
    fields = {field for field in FIELDS if settings(held.truth, field)}
    held.same("fields", {TITLES[title.lower()] for title, *_ in parts}, fields)
    for title, _, said in parts:
        counts, found = defaultdict[str, dict[str, int]](dict), defaultdict[str, Counter[str]](Counter)
        value = ""
        for *name, number, verdict in map(str.split, said.split(", ")):
            value = name[0] if name else value
            counts[value][verdict] = int(number)
        for by_value in settings(held.truth, TITLES[title.lower()]).values():
            for each, ratio in by_value.items():
                found[each][ratio.word] += 1
        held.same(title, counts, found)
