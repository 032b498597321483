"""The badge, the notices, the readings of noise, and what MKL's path has to do with the ranking."""

from __future__ import annotations

from typing import Any

from tests.sentences.facts import machine
from tests.sentences.kinds.held import Groups, Held, NotUnderstood, agrees, kind, outcome_of, some

SPEED, OTHERS = "a change of the machine's speed", "other programs"
READINGS = {
    "blocks over a limit of the noise gate": ("noisy blocks", r"{N:some} of {N:of} block runs?", "0"),
    "narrowest interval of a ratio": ("wide intervals", "{P:share}", "±{P:tie}"),
    "noise floors wider than ±10 %": ("a wide noise floor", "{N:some} of {N:of}", "0"),
    machine.OTHERS_SHARE.lower(): (OTHERS, "{P:share}", "at least 90 %"),
    "change of the machine's f32 ceiling": (SPEED, "{P:share}", "±10 %"),
}  # {what was read: (its cause, pattern of what was found, of its limit)}
NOTICES = {
    "wide intervals": r"A tie \(no difference over {P:tie}\) was out of reach: the narrowest interval of a ratio is {P:share}\.",
    "a wide noise floor": r"The noise floor is wider than ±10 % in {N:some} of {N:of} comparisons \({K:where}\): no smaller difference is shown there\.",
    "noisy blocks": r"{N:some} of {N:of} block runs? exceeded a noise limit(?: \(rejected and not counted: \d+\))?\.",
    OTHERS: r"Other programs were running: the measurement of the machine's f32 ceiling got only {P:share} of its cores' time\. If they went on, they widened the intervals\.",
    SPEED: r"The machine reached .+ in f32 when this set was resumed and .+ when it was begun .+",
    "an unfinished run": r"This run is not complete: {N:missing} planned processes have no result yet\..*",
    "a stack that differs from itself": r"Doubt the verdicts of {Q:on}: {S:who} against itself \(A/A\) is {R:ratio} {I:interval}, so equal processes differ by as much\.",
    "one block": r"One block only: no interval exists and every verdict is undecided\.",
    "unpinned environments": r"Some environments were not installed from the lock files \(unpinned\)\.",
    "wrong": r"Wrong results, left out of every ratio: (?P<stacks>.+) in {Q:on}\.",
    "differ": r"Results that differ, and nothing says which is right, left out of every ratio: (?P<stacks>.+) in {Q:on}\.",
    "implausible": r"Times that can't be, left out of every ratio: (?P<stacks>.+) in {Q:on}\.",
    "stand-in": r"On {Q:on} the baseline {S:over} has no time that counts \((?P<why>.+)\): {S:who}, the fastest that has one, stands in for it\.",
}
UNCHECKED = ("The build of ", "The source was modified", "Builds of ", "Left out on request")  # facts outside the rows
CAUSE = (
    r"MKL's default path on this (?P<vendor>AMD )?processor likely slows {X:slowed}(?P<limit> as far as a step "
    r"multiplies matrices)?(?P<may>; a faster one may reverse the ranking)?(?:; with MKL's path for Intel's processors "
    r"\(the tuned track of (?P<set>this set|set \w+)\) (?P<who>[\w@.]+) (?P<verb>leads|shares the lead on|doesn't lead) "
    r"(?P<on>.+): (?P<next>[\w@.:]+) is {R:ratio} ?(?P<interval>{I})? as fast)?\."
)


@kind("noise")
def noise(held: Held) -> None:
    """Holds what is over its limit, and what the table says of the reading that some sets withdraw."""
    told = []
    if held.text.startswith(machine.OTHERS_SHARE):
        share_of_cores(held, *held.text.partition(": ")[2].partition("; "))
        return
    if held.text != "No reading is over its limit.":
        for part in held.read(r"Over its limit: (?P<parts>.+)\.")["parts"].split("; "):
            what, _, rest = part.partition(": ")
            cause, found, limit = READINGS.get(what, ("", "(?!)", ""))
            told.append(cause)
            reading(held, cause, held.read(rf"{found}, limit {limit}", text=rest))
    held.same("over their limits", {*told}, machine.over_limits(held.truth))


def share_of_cores(held: Held, found: str, _: str, within: str) -> None:
    is_over, true = machine.readings(held.truth).get(OTHERS, (False, None))
    held.same("within its limit", within, f"no: {OTHERS}" if is_over else "yes")
    if true is None:
        held.same("withdrawn", found, f"withdrawn: {machine.withdrawn(held.truth)}")
    else:
        reading(held, OTHERS, held.read("{P:share}", text=found))


def reading(held: Held, cause: str, said: Groups) -> None:
    _, true = machine.readings(held.truth)[cause]
    if said["tie"]:
        held.near("a tie's band", said["tie"], held.truth.protocol["tie_ratio"] - 1)
    if isinstance(true, tuple):
        held.same(cause, (said.number("some"), said.number("of")), true[:2])
        held.so("where", not said["where"] or some(said["where"]) == true[2], said["where"], true)
    else:
        text = said["share"].removeprefix("±")
        is_so = agrees(text, true) or text.replace(" ", "") in {f"{true:.{digits}%}" for digits in range(4)}
        held.so(cause, is_so, said["share"], true)


@kind("blocks")
def blocks(held: Held) -> None:
    reading(held, "noisy blocks", held.read(r"{N:some} of {N:of} block runs? exceeded a noise limit\."))


@kind("badge")
def badge(held: Held) -> None:
    word, _, causes = held.text.partition(": ")
    held.same("badge", (word, some(causes)), machine.badge(held.truth))


@kind("notices")
def notices(held: Held) -> None:
    """Holds all notices, one a line: what each says, and that none is missing."""
    told = set()
    for line in held.text.splitlines():
        if not line.startswith(UNCHECKED):
            cause, said = next(
                ((cause, said) for cause, each in NOTICES.items() if (said := held.maybe(each, text=line)) is not None),
                ("", Groups()),
            )
            if not cause:
                raise NotUnderstood(line)
            told.add((cause, said["on"]))
            notice(held, cause, said)
    held.same("notices", told, machine.noticed(held.truth))


def notice(held: Held, cause: str, said: Groups) -> None:
    truth, on = held.truth, said["on"]
    if said["share"] or said["some"]:
        reading(held, cause, said)
    elif said["missing"]:
        held.same(cause, said.number("missing"), sum(row["outcome"] == "not run" for row in truth.rows))
    elif said["stacks"]:
        held.same(cause, frozenset(said["stacks"].split(", ")), machine.invalid(truth)[cause][on])
    elif said["ratio"]:
        held.ratio(cause, said, truth.twin_of(on))
    elif said["over"]:
        told = said["who"], said["over"], outcome_of(said["why"])
        held.same(cause, told, (truth.base(on), truth.own(on), truth.cells[on][truth.own(on)].outcome))


@kind("cause")
def cause(held: Held) -> None:
    """Holds whom MKL's path slows, and what was measured with its other path; where it was, nothing may be left open."""
    said, found = held.read(CAUSE), machine.slowed(held.truth)
    held.same("slowed", some(said["slowed"]), frozenset(found.stacks))
    held.same("as far as a step multiplies", bool(said["limit"]), found.limited)
    known = machine.measured(held.truth, found)
    held.same("open", bool(said["may"]), not known and found.is_amd)
    held.same("measured", bool(said["set"]), bool(known))
    if said["set"]:
        led(held, said, known)


def led(held: Held, said: Groups, known: dict[str, Any]) -> None:
    """Holds who leads with MKL's other path, in the set that is named."""
    held.so("set that measured it", said["set"] in known, said["set"], [*known])
    truth, stacks, on = known[said["set"]]
    who = said["who"]
    leaders, others = truth.leaders(on), [each for each in truth.counting(on) if each != who]
    held.so("a stack with MKL's other path", who in stacks, who, stacks)
    held.same("question", said["on"], " ".join(on.split()[:2]))
    verb = "leads" if leaders == [who] else "shares the lead on" if who in leaders else "doesn't lead"
    held.same("who leads", said["verb"], verb)
    ratios = {each: ratio for each in others if (ratio := truth.ratio(on, each, who))}
    held.same("next", said["next"], max(ratios, key=lambda each: ratios[each].value))
    held.ratio("ratio", said, ratios.get(said["next"]))
