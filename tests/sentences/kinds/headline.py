"""The answer to one question."""

from __future__ import annotations

from tests.sentences.facts import totals
from tests.sentences.facts.blocks import seconds
from tests.sentences.kinds.formulations import formulations
from tests.sentences.kinds.held import Groups, Held, kind, some

TIME = (
    r" \((?P<itself>the baseline)\)"
    r"| \(in place of the baseline {S:place}, which has no time that counts\)"
    r"| \((?P<level>a tie with|close to) {S:beside}: {R:size} {I:reach}\)"
    r"|; there is no ratio, because (?:the baseline {S} has no time that counts|no block has it and the baseline {S})"
    r"|, (?:undecided \((?P<why>[^)]*)\): )?{R:ratio} as fast as {S:over}(?P<interval> {I})?(?P<open>, undecided)?"
)
COMPARED = (
    rf"(?P<lead>Fastest|Lowest median|So far the lowest median) for {{Q:on}}: {{S:who}}, {{T:time}}(?:{TIME})"
    r"(?: \((?P<ended>[^)]*)\))?(?:; not shown to be faster than {L:rivals})?"
    r"(?:; {S:lower} has a lower median, {T:lower_time}, but is slower inside the blocks)?"
    r"(?:; by averages {S:ahead} is ahead \({T:ahead_time}, {S:behind} {T:behind_time}\))?"
    r"(?P<alone>; sure by its question alone, not among all of the set)?\."
)
NOTHING = r"No answer(?: so far)? for {Q:on}: no stack (?:produced|has) a time that counts\."
ONLY = (
    r"{Q:on}: {S:who} (?:takes {T:time}(?: so far)?; (?P<sole>no other stack) (?:was measured|is shown)"
    r"|alone has a valid time(?: so far)?, {T:valid})\."
)
FAILED = r"(?: {N:lost} of {N:of} stacks did not end ok\.)?"
DIFFER = r"(?:run in two modes|differ widely, so other programs disturbed them)"
MODES = (
    rf" Processes of {{S:who}} {DIFFER}: the slowest takes {{R:spread}} as long as the fastest\. "
    r"The fastest process has a median of {T:best}, the typical one {T:typical}\."
)
MANY = rf" Processes of {{N:count}} stacks {DIFFER} \({{L:who}}\): the slowest takes {{R:low}} to {{R:high}} as long as the fastest\."
FIRST = (
    r"(?: The first run of {S:who} takes {T:first}(?:; by the averages it is ahead of {S:than} in total time from step "
    r"{N:step} on|; by the averages {S:last} has the least total time in the end)?\.)?"
)


@kind("headline")
def headline(held: Held) -> None:
    truth = held.truth
    said, rest = held.start(held.text, NOTHING, ONLY, COMPARED)
    on, who = said["on"], said["who"]
    counting = truth.counting(on)
    lost, rest = held.start(rest, FAILED)
    failed = sum(cell.failed for cell in truth.cells[on].values())
    true = (failed, len(truth.cells[on])) if failed else (0, 0)
    held.same("stacks that did not end ok", (lost.number("lost"), lost.number("of")), true)
    if not who:
        held.same("nothing that counts, and nothing after it", (0, ""), (len(counting), rest))
        return
    if said["lead"]:
        compared(held, said, on, who)
    else:
        held.so("alone", len(truth.cells[on] if said["sole"] else counting) == 1, who, counting)
    held.near("median", said["time"] or said["valid"], truth.time(on, who) if who in counting else None)
    first_run(held, on, who, modes(held, on, formulations(held, on, rest)))


def compared(held: Held, said: Groups, on: str, who: str) -> None:
    truth, leaders, lowest = held.truth, held.truth.leaders(on), held.truth.counting(on)[0]
    unfinished = any(row["outcome"] == "not run" for row in truth.rows)
    average = {each: truth.cells[on][each].average() for each in truth.counting(on)}
    least = min(average, key=lambda each: average[each])
    ahead = least if least not in leaders else ""
    is_fastest = len(leaders) == 1 and not ahead
    word = "So far the lowest median" if unfinished else "Fastest" if is_fastest else "Lowest median"
    held.same("who leads", (said["lead"], who), (word, leaders[0]))
    held.same("rivals", some(said["rivals"]), frozenset(leaders) - {who})
    held.same("lower median", said["lower"], lowest if lowest != leaders[0] else "")
    if said["lower"]:
        held.near("lower median", said["lower_time"], truth.time(on, lowest))
    held.same("ahead by averages", (said["ahead"], said["behind"]), (ahead, who if ahead else ""))
    if ahead:
        held.near("average", said["ahead_time"], average[ahead])
        held.near("average of the first", said["behind_time"], average[who])
    held.same("partly failed", bool(said["ended"]), truth.cells[on][who].failed)
    against(held, said, on, who)


def against(held: Held, said: Groups, on: str, who: str) -> None:
    """Holds the ratio of the first stack, or why it has none."""
    truth = held.truth
    base = truth.base(on)
    ratio = truth.ratio(on, who, base)
    sure = ratio and ratio.word in ("faster", "slower") and ratio.in_set != ratio.word and not ratio.reason
    held.same("sure by its question alone", bool(said["alone"]), bool(sure))
    held.same("is the baseline", bool(said["itself"]), who == base == truth.own(on))
    if said["place"]:
        held.same("stands in", (said["place"], who), (truth.own(on), base if base != truth.own(on) else ""))
    elif said["over"] or said["level"]:
        word = {"": "", "a tie with": "tie", "close to": "close"}[said["level"]]
        word = word or ("undecided" if said["why"] or said["open"] else "faster")
        true = "faster" if ratio and ratio.word == "slower" else ratio and ratio.word  # the size says which
        held.same("verdict over the baseline", (word, said["beside"] or said["over"]), (true, base))
        shown = {"ratio": said["ratio"] or said["size"], "interval": said["interval"] or said["reach"]}
        held.ratio("ratio", Groups(shown), ratio)
        has_reason = ratio is not None and ratio.word == "undecided" and ratio.low is not None
        held.same("reason", said["why"], (ratio.reason or "the interval contains 1×") if ratio and has_reason else "")
    elif not said["itself"]:
        held.so("no ratio", ratio is None, "", base)


def modes(held: Held, on: str, rest: str) -> str:
    truth, who = held.truth, list[str]()
    while held.names.pattern(MODES).match(rest):
        said, rest = held.start(rest, MODES)
        who.append(said["who"])
        held.near("spread", said["spread"], truth.spread(on, said["who"]))
        held.near("fastest process", said["best"], min(seconds(truth.processes(on, said["who"]))))
        held.near("typical process", said["typical"], truth.time(on, said["who"]))
    said, rest = held.start(rest, f"(?:{MANY})?")
    true = frozenset(each for each in truth.counting(on) if truth.modes(on, each))
    if said["count"]:
        who = [*some(said["who"]).names]
        held.same("stacks in modes", said.number("count"), len(true))
        held.ends("spread", said["low"], said["high"], [truth.spread(on, each) for each in true])
    held.same("in modes", frozenset(who), true)
    return rest


def first_run(held: Held, on: str, fastest: str, rest: str) -> None:
    said, seconds_ = held.read(FIRST, text=rest), totals.long_first(held.truth, on, fastest)
    held.same("long first run", said["who"], fastest if seconds_ else "")
    if not said["who"]:
        return
    held.near("first run", said["first"], seconds_)
    stretches = totals.least(held.truth, on)
    since, last = stretches[-1]
    is_ahead = last == fastest and since > 1
    held.same(
        "ahead of", (said["than"], said["last"]), (stretches[-2][1], "") if is_ahead else ("", last * (last != fastest))
    )
    if is_ahead:
        held.near("ahead from step", said["step"], since)
