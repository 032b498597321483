"""Published tables, threads, comparisons of two sets, and what stands beside a verdict."""

from __future__ import annotations

import math
import re
import tomllib
from statistics import median
from typing import Any

from tests.sentences.facts.contrasts import Two, settings
from tests.sentences.facts.estimates import Ratio
from tests.sentences.facts.reader import ARCHIVE, NATIVE, Truth, archived
from tests.sentences.facts.rows import turns
from tests.sentences.kinds.frameworks import bests, framework, of_first, plain
from tests.sentences.kinds.held import Groups, Held, kind

THREADS = ARCHIVE.parent / "examples" / "threads.toml"
TRACKS, MODELS, GPT2 = "2026-11-27.cpu.b839632f5c59", "2026-11-28.cpu.ab402eff7f8e", "2026-11-28.cpu.91ec4bb0bcce"
LSTM, WRONG = "2026-11-28.cpu.2c911dfa5d19", "2026-11-29.cpu.1e6394f68f26"
THREAD = (
    r"(?P<claim>Confirmed(?: in part)?|The other way round|Not confirmed)(?P<far>, larger|, smaller)?: `{S:who}` takes "
    r"(?P<times>[\d.,]+) times as long (?:as `{S:over}`|on {N:more} cores? as on {N:fewer}) \((?P<low>[\d.,]+) to "
    r"(?P<high>[\d.,]+)(?:, (?P<word>\w+))?\) here(?:; the thread says (?P<factor>[\w .]+) times)?(?:; (?P<limit>.+))?\."
)


@kind("cell")
def cell(held: Held) -> None:
    said = held.read(
        r"{Q:on} \| `{S:who}` over `{S:over}`: {R:ratio} ?(?P<interval>{I})?(?P<word> \w+)?(?P<why>: .+)?",
        r"{Q:on} \| `{S:who}`: {T:time}",
    )
    truth, on, who = held.truth, said["on"], said["who"]
    if said["time"]:
        held.near("median", said["time"], truth.time(on, who))
        return
    ratio = truth.ratio(on, who, said["over"])
    held.near("ratio", said["ratio"], ratio.value if ratio else None)
    if said["interval"]:
        held.ratio("interval", said, ratio)
    held.same("over", said["over"], truth.base(on))
    word = said["word"].strip()
    held.so("verdict", not word or (ratio and ratio.word == word), word, ratio and ratio.word)


@kind("aside")
def aside(held: Held) -> None:
    """Holds that a row says what its medians, or else its averages, give where, and only where, these lie outside the
    ratio's interval or contradict its verdict; and why."""
    said = held.read(r"{Q:on} \| {S:who} over {S:over}:(?: the (?P<which>\w+) give {R:given}(?: \((?P<why>.+)\))?)?")
    cells, who = held.truth.cells[said["on"]], said["who"]
    base, cell, ratio = cells[said["over"]], cells[who], held.truth.ratio(said["on"], who, said["over"])
    by_medians, by_averages = (base.mean() or 0.0) / (cell.mean() or 1.0), base.average() / cell.average()
    outside = ratio is not None and ratio.low is not None and not ratio.low <= by_medians <= (ratio.high or 0.0)
    against = ratio is not None and (ratio.word, by_averages < 1) in (("faster", True), ("slower", False))
    which = "medians" if outside else "averages" if against else ""
    held.same("which say otherwise", said["which"], which)
    if not which:
        return
    held.near("they give", said["given"], by_medians if outside else by_averages)
    times = [[*turns(row).values()] for row in cell.used]
    slow = sum(sum(each > 1.3 * median(of) for each in of) for of in times if of)
    bursts = f"{slow} of {sum(map(len, times))} turns over 1.3 times their median" * bool(slow)
    why = "processes in modes" if held.truth.modes(said["on"], who) else bursts or "processes of other blocks"
    held.same("why", said["why"], why if outside else bursts)


@kind("unified cell")
def unified_cell(held: Held) -> None:
    said = held.read(
        r"{Q:on} \| `{S:over}` \| `{S:who}` \| {T:under} \| {T:time} \| {R:ratio} (?P<interval>{I}) \| (?P<word>\w+)(?:, .*)?"
    )
    truth, on, ratio = held.truth, said["on"], held.truth.ratio(said["on"], said["who"], said["over"])
    held.same("native", said["over"], truth.upon(NATIVE).get(said["who"]))
    held.near("native", said["under"], truth.time(on, said["over"]))
    held.near("unified", said["time"], truth.time(on, said["who"]))
    held.ratio("ratio", said, ratio)
    held.same("verdict", said["word"], ratio and ratio.word)


@kind("floor")
def floor(held: Held) -> None:
    said = held.read(r"{Q:on} {R:ratio} ?(?P<interval>{I})?")
    held.ratio("noise floor", said, held.truth.twin_of(said["on"]))


@kind("thread")
def thread(held: Held) -> None:
    """Holds the word on a thread: its two stacks alone are a family, named before anything was timed."""
    truth, said = held.truth, held.read(THREAD, r"Can't be compared: (?P<apart>.+)\.")
    asked = tomllib.loads(THREADS.read_text(encoding="utf-8"))[next(iter(truth.cells)).split()[0]]
    held.same("can't be compared", said["apart"], asked.get("apart", ""))
    if said["apart"]:
        return
    over = (said["number"], said["over"]) if "cores" not in asked else ("", [said["more"], said["fewer"] or "1"])
    sides = ("", asked["than"]) if "cores" not in asked else ("", [*map(str, asked["cores"])])
    held.same("sides", (said["who"], over), (asked["slower"], sides))
    ratio = of_thread(truth, asked)
    word = {"slower": "Confirmed", "faster": "The other way round"}.get(ratio.word, "Not confirmed")
    times, low, high = (1 / each if each else None for each in (ratio.value, ratio.high, ratio.low))
    first, *_, last = [*asked.get("factor", [times])] * 2
    far = ", larger" if (times or 0) > 2 * last else ", smaller" if (times or 0) < first / 2 else ""
    in_part = " in part" * ("limit" in asked)
    claim = (word + in_part, far) if word == "Confirmed" else (word, "")
    held.same("claim", (said["claim"], said["far"]), claim)
    held.same("limit", said["limit"], asked.get("limit", ""))
    for name, true in (("times", times), ("low", low), ("high", high)):
        held.near(name, said[name], true)
    ends = [f"{each:g}" for each in dict.fromkeys((first, last))]
    words = f"more than {ends[0]}" if math.isinf(last) else " to ".join(ends)
    held.same("the thread's factor", said["factor"], words if "factor" in asked else "")
    held.same("verdict", said["word"], ratio.word if word == "Not confirmed" else "")


def of_thread(truth: Truth, asked: dict[str, Any]) -> Ratio:
    """Returns the ratio of the two sides that a thread names."""
    if "cores" in asked:
        by_value = {who: of for (_, who), of in settings(truth, "threads").items()}
        return by_value[asked["slower"]][str(asked["cores"][0])]
    found = truth.ratio(next(iter(truth.cells)), asked["slower"], asked["than"])
    assert found
    return found


@kind("compare")
def compare(held: Held) -> None:
    """Holds one sentence on two sets."""
    assert isinstance(held.truth, Two)
    two = held.truth.changes
    said = held.read(
        r"{N:changed} of {N:of} cases changed; {N:worse} (?:is|are) worse by more than (?P<limit>[\d.]+ %), or no longer ok\.",
        r"The sets differ in (?P<unlike>.+): nothing is called faster\.",
        r"The machine's f32 ceilings in the two runs differ by {P:drift}: a smaller change of a case may come from the machine\.",
        r"The median of all ratios is {R:shift}: if all cases changed alike, the machine may have changed, and not the stacks\.",
        r"Differences, first and second set: (?P<also>.+)\.",
    )
    if said["changed"]:
        counts = said.number("changed"), said.number("of"), said.number("worse")
        held.same("changes", (counts, said["limit"], []), (two.counted, "5 %", two.unlike))
    if said["unlike"]:
        held.same("differ", said["unlike"].split(", "), two.unlike)
    if said["also"]:
        listed = {*said["also"].split(", ")}
        held.same("also", {each for each in listed if re.sub(r" \S+ → \S+$", "", each) in two.named}, two.also)
    if said["drift"]:
        held.near("drift", said["drift"], two.drift and two.drift - 1)
    if said["shift"]:
        held.near("shift", said["shift"], two.shift)


RANGE = r"(?P<low>[\d.]+) to (?P<high>[\d.]+)"
SOME = r"(?P<some>\d+) of (?P<of>\d+)"
TOLD = {"BERT": (MODELS, "bert train"), "GPT-2": (GPT2, "gpt2 train"), "an LSTM": (LSTM, "rnn train")}
TRAINS = (
    rf"(?P<one>JAX|PyTorch) trains (?P<what>{'|'.join(TOLD)}) (?P<ratio>[\d.]+×) as fast as (?P<two>JAX|PyTorch) "
    r"(?P<interval>\[[^\]]+\]) \((?P<first>[\d.]+) against (?P<second>[\d.]+ m?s), (?P<way>[\w.]+) against (?P<other>[\w.]+)\)"
)
CLAIMS = (
    TRAINS,
    rf"JAX is (?P<word>slower) on {SOME} operations \({RANGE}×\)",
    rf"JAX is (?P<word>faster) on {SOME} \({RANGE}×\)",
    r"(?P<who>PyTorch \(torch\.compile\), TensorFlow and PyTorch/XLA) return (?P<got>\S+) in place of (?P<right>\w+)",
    r"found this and \[(?P<more>\d+) other wrong results",
)


@kind("bullet")
def bullet(held: Held) -> None:
    """Holds a claim of README's findings against the set behind it."""
    said = held.read(*CLAIMS)
    if said["what"]:
        name, on = TOLD[said["what"]]
        held.truth = archived(name)
        found = next(best for best in bests(held.truth, on) if framework(best.who) == "JAX")
        is_ahead = found.ratio.value >= 1
        held.so("is shown apart", found.ratio.word in ("faster", "slower"), "apart", found.ratio.word)
        held.same("does", said["one"], "JAX" if is_ahead else "PyTorch")
        does = f"trains {on.partition(' ')[0]}"
        of_first(held, Groups(said | {"does": does}), on, found, is_ahead=is_ahead)
    elif said["word"]:
        track = "tuned" if said["word"] == "slower" else "default"
        truth = archived(TRACKS)
        ratios = [truth.ratio(on, "jax_jit", "torch_eager") for on in truth.cells if f"{track} track" in on]
        known = [ratio for ratio in ratios if ratio]
        held.ends("range", said["low"], said["high"], [ratio.value for ratio in known])
        some = sum(ratio.word == said["word"] for ratio in known)
        held.same(said["word"], (said.number("some"), said.number("of")), (some, len(known)))
    else:
        wrong(held, said, archived(WRONG))


def wrong(held: Held, said: Groups, truth: Truth) -> None:
    """Holds who returns what in place of what, and how many other questions have a wrong result."""
    rows = [row for row in truth.timed if row["outcome"] == "wrong"]
    if said["more"]:
        held.same("others", said.number("more"), len({row["workload"] for row in rows}) - 1)
        return
    asked = [row for row in truth.timed if row["workload"] == "floor_division"]
    failed = {plain(row["who"]) for row in asked if row["outcome"] == "wrong"}
    held.same("who", failed, {"torch_inductor", "torch_xla", "tf_eager", "tf_graph", "tf_xla"})
    told = {found for row in asked for found in re.findall(r"(\S+) in place of (\w+)", row["reason"] or "")}
    held.same("result", {(said["got"], said["right"])}, told)
