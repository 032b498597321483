"""The answer by frameworks: each by its best stack, over the best one of the baseline's framework."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import NamedTuple

from tests.sentences.facts.estimates import Ratio
from tests.sentences.facts.reader import Truth
from tests.sentences.kinds.formulations import formulation
from tests.sentences.kinds.held import Groups, Held, interval_agrees, kind, shares

# docs/reference: the framework of each stack, and how it executes.
STACKS = {"numpy": ("NumPy", ""), "jax_eager": ("JAX", "op by op"), "jax_jit": ("JAX", "jit"),
          "torch_eager": ("PyTorch", "eager"), "torch_inductor": ("PyTorch", "torch.compile"),
          "torch_xla": ("PyTorch/XLA", ""), "torchax_jit": ("torchax", "jit"), "tf_eager": ("TensorFlow", "eager"),
          "tf_graph": ("TensorFlow", "tf.function"), "tf_xla": ("TensorFlow", "XLA"), "keras_jax": ("Keras", "on JAX"),
          "keras_torch": ("Keras", "on PyTorch, eager"), "keras_tf": ("Keras", "on TensorFlow"),
          "onnxruntime": ("ONNX Runtime", "")}  # fmt: skip
F = f"(?:{'|'.join(sorted({re.escape(name) for name, _ in STACKS.values()}, key=len, reverse=True))})"
WAYS = {who: way or who for who, (_, way) in STACKS.items()}
VERBS = {"train": "trains", "forward": "runs", "gradient": "differentiates"}
LEVEL = r"(?P<interval>{I})(?P<level>, (?:tie|close|undecided))?"
TIMES = r"\((?P<first>[\d.,]+(?: (?:s|ms|µs|ns))?) against {T:second}, (?P<way>.+?) against (?P<other>[^;]+?)\)"
FIRST = rf"(?P<one>{F}) (?P<does>\w+ .+?) {{R:ratio}} as fast as (?P<two>{F}) {LEVEL} {TIMES}"
OPEN = rf"[Ii]t is (?P<open>undecided) whether (?P<one>{F}) (?P<does>\w+ .+?) faster than (?P<two>{F}): {{R:ratio}} (?P<interval>{{I}}) {TIMES}"
LEFT = r"(?P<level>, (?:tie|close|undecided))?"
AHEAD = rf"(?:, | and )(?P<one>{F}) {{R:ratio}}{LEFT}"
AFTER = rf"(?:, | and ){{R:ratio}} as fast as (?P<two>{F}){LEFT}"
COUNT = (
    rf"(?P<one>{F}) is (?:shown to be )?(?P<word>faster|slower|neither faster nor slower) than (?P<two>{F}) on (?P<share>"
    r"both questions|all {N} questions|{N} of {N}(?: questions)?)(?: of the (?P<track>\w+) track)? \((?P<span>[^)]*)\)"
)
MORE = r"(?:, | and )(?P<word>faster|slower|neither faster nor slower) on {N:some} \((?P<span>[^)]*)\)"


class Best(NamedTuple):
    """A framework's best stack `who`, and the baseline framework's, which the ratio is over."""

    who: str
    base: str
    ratio: Ratio


def plain(who: str) -> str:
    return re.split("[:@]", who)[0]


def framework(who: str) -> str:
    return STACKS[plain(who)][0]


def way(who: str) -> str:
    return WAYS[plain(who)] + "".join(re.findall("@[^:]*", who))


def bests(truth: Truth, on: str) -> list[Best]:
    counting, base = truth.counting(on), truth.base(on)
    if base not in counting or len({*map(formulation, counting)}) > 1 or not truth.decided:
        return []
    own = next(who for who in counting if framework(who) == framework(base))
    judged = {who: of for who in counting if (of := truth.ratio(on, who, own)) and of.low is not None}
    found: dict[str, Best] = {}
    for who, of in judged.items():
        if framework(who) != framework(own):
            found.setdefault(framework(who), Best(who, own, of))
    return sorted(found.values(), key=lambda best: (best.ratio.word == "undecided", -best.ratio.value))


@kind("frameworks")
def frameworks(held: Held) -> None:
    truth = held.truth
    asked = {on: found for on in truth.cells if (found := bests(truth, on))}
    if not asked:
        held.same("nothing is judged", held.text, "")
        return
    place = re.match(rf"On this (\d+)-core (.+?) (?=(?:{F}|it is undecided) )", held.text)
    machine = truth.file("machine.json")
    known = (str(len(machine.get("cores_usable", ()))), machine.get("cpu_model", ""))
    held.same("machine", place.groups() if place else ("0", known[1]), known)
    parts = re.split(rf"\. (?=(?:{F}|It is undecided) )", held.text[place.end() if place else 0 :].removesuffix("."))
    if len(asked) <= 3:
        held.same("questions", len(parts), len(asked))
        for part, (on, found) in zip(parts, asked.items(), strict=True):
            of_question(held, part, on, found)
        return
    tracks = sorted({row["track"] for row in truth.timed if row["asked"] in {truth.ids[on] for on in asked}})
    held.same("tracks", len(parts), len(tracks))
    for part, track in zip(parts, tracks, strict=True):
        some = {on: found for on, found in asked.items() if len(tracks) == 1 or f"{track} track" in on}
        counted(held, part, some, track if len(tracks) > 1 else "")


def of_question(held: Held, text: str, on: str, found: list[Best]) -> None:
    first, *others = found
    is_ahead = first.ratio.value >= 1
    said, text = held.start(text, OPEN if first.ratio.word == "undecided" else FIRST)
    of_first(held, said, on, first, is_ahead=is_ahead)
    for best in others:
        said, text = held.start(text, AHEAD if is_ahead else AFTER)
        value = best.ratio.value
        held.near("ratio", said["ratio"], value if is_ahead else 1 / value)
        held.same("framework", said["one" if is_ahead else "two"], framework(best.who))
        held.same("verdict", said["level"], level(best.ratio))
    held.same("nothing after it", text, "")


def level(ratio: Ratio) -> str:
    return "" if ratio.word in ("faster", "slower") else f", {ratio.word}"


def of_first(held: Held, said: Groups, on: str, best: Best, *, is_ahead: bool) -> None:
    ratio, sides = best.ratio, [best.who, best.base] if is_ahead else [best.base, best.who]
    value, low, high = ratio.value, ratio.low, ratio.high
    if not is_ahead:
        value, low, high = 1 / value, 1 / high if high else None, 1 / low if low else None
    held.near("ratio", said["ratio"], value)
    held.so("interval", interval_agrees(said["interval"], low, high), said["interval"], (low, high))
    held.same("verdict", (said["open"] and ", undecided") or said["level"], level(ratio))
    held.same("frameworks", (said["one"], said["two"]), tuple(map(framework, sides)))
    pass_ = next(row["pass"] for row in held.truth.timed if row["asked"] == held.truth.ids[on])
    workload, _, rest = on.partition(f" {pass_}")
    rest = rest.strip(" ()").replace(" (", ", ")
    held.same("does", said["does"], f"{VERBS[pass_]} {workload}{f' ({rest})' * bool(rest)}")
    unit = said["second"].partition(" ")[2]
    first = said["first"] if " " in said["first"] else f"{said['first']} {unit}"
    held.near("time", first, held.truth.time(on, sides[0]))
    held.near("other time", said["second"], held.truth.time(on, sides[1]))
    held.same("ways", (said["way"], said["other"]), tuple(map(way, sides)))


def counted(held: Held, text: str, asked: dict[str, list[Best]], track: str) -> None:
    true: dict[tuple[str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for best in [each for found in asked.values() for each in found]:
        word = best.ratio.word if best.ratio.word in ("faster", "slower") else "neither faster nor slower"
        true[framework(best.who), framework(best.base)][word].append(best.ratio.value)
    told: dict[tuple[str, str], set[str]] = {}
    for number, clause in enumerate(text.split("; ")):
        said, rest = held.start(clause, COUNT)
        key = said["one"], said["two"]
        of = sum(map(len, true[key].values()))
        held.same("share", shares(said["share"]), (len(true[key][said["word"]]), of))
        held.same("track", said["track"], "" if number else track)
        told[key] = set()
        while True:
            values = true[key][said["word"]]
            least, _, most = said["span"].removesuffix("×").partition(" to ")
            held.ends(f"{said['word']} {key}", least, most, values)
            told[key].add(said["word"])
            if not rest:
                break
            said, rest = held.start(rest, MORE)
            held.same("some", said.number("some"), len(true[key][said["word"]]))
    held.same("all told", told, {key: {word for word, of in words.items() if of} for key, words in true.items()})
