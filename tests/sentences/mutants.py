"""Sentences made false, each by one small change that a reader would believe: any number, any stack's name, and what
the table below has by kind."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from tests.sentences.check import Spoken, wrong_in
from tests.sentences.facts.reader import Truth
from tests.sentences.kinds.machine import UNCHECKED

MOST = 25  # sentences of a kind whose every number and name is changed
NUMBER = re.compile(r"(?<![\w.@])(?<!e[+-])\d(?:[\d.,]*\d)?(?!\w)")
AS_TRUE = {"aside", "equivalence", "cell"}  # kinds of which another stack may say as much


class Mutant(NamedTuple):
    kind: str
    what: str
    sentence: str
    caught: bool


MUTANTS = {
    "headline": (
        ("leaders swapped", r"(?<=: )(\w+)(, .*faster than )(\w+)", r"\3\2\1"),
        ("a leader dropped", r"(not shown to be faster than \w+) and \w+", r"\1"),
        ("a tie told as a win", r"Lowest median (for .*?); not shown to be faster than [^.]*?(?=\.[ $])", r"Fastest \1"),
        ("a win told as a tie", r"Fastest(.*?\])\.", r"Lowest median\1; not shown to be faster than torch_eager."),
        ("verdict added", r"(as fast as torch_eager \[[^\]]*\])(?=[.;])", r"\1, close"),
        ("failed stacks not told", r" 1 of 7 stacks did not end ok\.", ""),
        ("modes not told", r" Processes of numpy run in two modes: .*?typical one [\d.]+ ms\.", ""),
        ("first run not told", r" The first run of jax_jit.*", ""),
        ("stand-in not told", r" \(in place of the baseline torch_eager, which has no time that counts\)", " (the baseline)"),
        ("another track", r"tuned track", "default track"),
        ("another question", r"gemm forward", "ffn train"),
        ("a framework dropped", r" and numpy:solve 11\.7 ms\. The same", ". The same"),
        ("a formulation's tie told as a win", r"torch_eager:solve and torch_inductor:solve share the lead", "torch_eager:solve leads"),
        ("a shared formulation not told", r" The same formulation, solve: .*?share the lead\.", " No two frameworks have the same formulation."),
        ("unlike formulations not told", r" No two frameworks have the same formulation\.", ""),
        ("formulations not told", r" The best of each framework: .*?\. No two", " No two"),
    ),
    "map": (
        ("a leader dropped", r"jax_jit, tf_xla and keras_jax share", "jax_jit and tf_xla share"),
        ("a leader added", r"; jax_jit leads gemm forward", "; jax_jit and tf_xla share the lead on gemm forward"),
        ("a tie told as a win", r"jax_jit, tf_xla and keras_jax share the lead on", "tf_xla leads"),
        ("a tie of many told one by one", r"jax_jit and keras_jax share the lead on all 3 questions", "jax_jit leads all 3 questions"),
        ("a sharer told as a leader", r"tf_xla shares the lead on 2", "tf_xla leads 2"),
        ("range dropped", r" \(2\.00× torch_eager\)", ""),
        ("track dropped", r"default track: ", ""),
        ("tracks swapped", r"default track: (.*); tuned track: (.*)\.", r"tuned track: \1; default track: \2."),
        ("leaders miscounted", r"Three stacks", "Four stacks"),
        ("a group dropped", r"; tf_xla shares the lead on 2", ""),
        ("alone dropped", r"both questions alone", "both questions"),
        ("a question dropped", r"; jax_jit leads gemm forward \(2\.00× torch_eager\)", ""),
        ("told as open", r"^jax_jit, tf_xla and keras_jax share the lead on", "None of seven stacks is shown to be faster on"),
        ("a formulation of one framework not told", r", a formulation that only JAX was given \([^)]*\)", ""),
        ("another framework's formulation", r"only JAX", "only PyTorch"),
        ("a formulation's tie told as a win", r"torch_eager:solve and torch_inductor:solve share the lead", "torch_eager:solve leads"),
        ("a shared formulation not told", r"\(with solve[^)]*\)", "(no two frameworks share one)"),
    ),
    "behind": (
        ("a pair dropped", r"[^ ,]+ < [^ ,]+, ", ""),
        ("a pair turned", r"([^ ,]+) < ([^ ,]+)", r"\2 < \1"),
    ),
    "summary": (
        ("a track dropped", r"; tuned track, train .*", "."),
        ("a stack that isn't ranked not told", r" and jax_eager \(1 of 4\)", ""),
        ("a stack dropped from those not ranked", r", \w+ \(\d of \d\) and", " and"),
        ("tracks swapped", r"default track(.*); tuned track", r"tuned track\1; default track"),
    ),
    "comparisons": (
        ("stacks swapped", r"jax_jit on 3 and torch_eager on 2", "torch_eager on 3 and jax_jit on 2"),
    ),
    "latency": (
        ("cases without a time not told", r"; 2 cases without a steady time", ""),
    ),
    "break_even": (
        ("a stretch dropped", r", then tf_xla up to step \d+", ""),
        ("stretches swapped", r"(\w+)( up to step 12, then )(\w+)", r"\3\2\1"),
        ("first run not told", r" The first run of jax_jit takes [\d.]+ s\.", ""),
        ("a missing case not told", r", torch_eager on mha train default track \(wrong result\)", ""),
    ),
    "compiled": (
        ("told to pay", r"; it isn't shown to pay off for .*\.", "."),
    ),
    "ways": (
        ("wrong verdict", r"11 slower", "11 faster"),
    ),
    "holders": (
        ("wrong category", r"activations", "parameters"),
        ("a tie told as a win", r"(\w+) on (\w+ \w+) and .* hold most", r"\1 holds most on \2"),
    ),
    "unified": (
        ("close told as undecided", r"close on", "undecided on"),
    ),
    "endings": (
        ("an outcome dropped", r", 1 wrong result", ""),
        ("another outcome", r"1 crashed", "1 timeout"),
    ),
    "equivalence": (
        ("a wrong case not told", r"; wrong: .*\.", "."),
    ),
    "row": (
        ("a frame missing", r" leads", ""),
        ("a frame added", r"slower", "slower leads"),
        ("another verdict", r"slower", "close"),
        ("another baseline", r"(\w+) baseline(.*; )(\w+) slower [^;]*", r"\1 slower\2\3 baseline"),
    ),
    "means": (
        ("ranked though it lacks a question", r"– \d.of.\d", "1.23×"),
        ("a row dropped", r"\n.*", ""),
    ),
    "aside": (
        ("a note dropped", r":.*\(processes in modes\)", ":"),
        ("a note added", r":$", ": the medians give 1.09× (processes in modes)"),
        ("another reason", r"processes in modes", "processes of other blocks"),
    ),
    "cause": (
        ("doubt dropped", r"; a faster one may reverse the ranking", ""),
        ("measured, but told as open", r"; with MKL's path.*", "; a faster one may reverse the ranking."),
        ("another set", r"of set b839632f5c59", "of set 069b23a24959"),
        ("another set told as this one", r"of set b839632f5c59", "of this set"),
        ("leaders swapped", r"(torch_eager) leads (.*?): (jax_jit) is", r"\3 leads \2: \1 is"),
        ("a lead told as a tie", r" leads ffn", " shares the lead on ffn"),
        ("a lead told as none", r" leads ffn", " doesn't lead ffn"),
        ("a limit dropped", r" as far as a step multiplies matrices", ""),
    ),
    "frontier": (
        ("a stack dropped", r", torch_xla fits 34", ""),
        ("a limit dropped", r"Under 6 GiB ", ""),
        ("out of order", r"(torch_eager fits 53), (tf_xla fits 49)", r"\2, \1"),
        ("a tie told as a win", r"jax_jit and tf_xla fit the", "jax_jit fits the"),
        ("open, but told as found", r"it is open which stack fits the largest batch; tf_xla fits 9 to 15,", "tf_xla fits the largest batch: 9;"),
        ("tried, but told as the largest", r"The largest batch that was tried, 8, fits on jax_jit and tf_xla", "jax_jit and tf_xla fit the largest batch: 8"),
        ("a search's failure not told", r" or more \(its search failed[^)]*\)", ""),
        ("a range told as found", r"fits 8 to 11", "fits 8"),
    ),
    "noise": (
        ("a withdrawn reading counted", r"withdrawn: .*; yes", "78.7 %; no: other programs"),
        ("another reason for withdrawing", r"withdrawn: .*;", "withdrawn: the machine was busy;"),
        ("a limit dropped", r"Over its limit: .*", "No reading is over its limit."),
    ),
    "badge": (
        ("told as quiet", r"restless.*", "quiet"),
        ("another set's badge", r"^quiet$", "restless: wide intervals"),
        ("another cause", r"noisy blocks", "other programs"),
    ),
    "notices": (
        ("a notice dropped", r"1 of 5 block runs exceeded a noise limit\.\n", ""),
        ("a wrong stack not told", r"Wrong results.*\n", ""),
    ),
    "thread": (
        ("the other way round", r"^Confirmed", "The other way round"),
        ("a doubt told as sure", r"^Not confirmed", "Confirmed"),
        ("stacks swapped", r"`([^`]+)`(.*?)`([^`]+)`", r"`\3`\2`\1`"),
        ("a limit dropped", r"; [^;]+\.$", "."),
        ("a part told as all", r" in part", ""),
    ),
    "cell": (
        ("wrong verdict", r"faster$", "slower"),
    ),
    "unified cell": (
        ("wrong verdict", r"slower$", "tie"),
    ),
}  # fmt: skip


def true_of(spoken: Iterable[Spoken]) -> dict[str, list[tuple[str, Truth]]]:
    """Returns the sentences of each kind that the oracle finds true: only these are worth making false."""
    found = defaultdict[str, list[tuple[str, Truth]]](list)
    for kind, sentence, truth in spoken:
        if not wrong_in(kind, sentence, truth):
            found[kind].append((sentence, truth))
    return found


def made(true: dict[str, list[tuple[str, Truth]]]) -> Iterator[Mutant]:
    """Yields every mutant, and whether the oracle catches it; one without a sentence where no true one has the words
    that it changes."""
    for kind, said in true.items():
        for what, pattern, by in MUTANTS.get(kind, ()):
            changed = ((re.sub(pattern, by, text, count=1), text, truth) for text, truth in said)
            first = next(((new, truth) for new, text, truth in changed if new != text), None)
            yield Mutant(kind, what, first[0] if first else "", bool(first and wrong_in(kind, *first)))
        for text, truth in said[:: len(said) // MOST + 1]:
            named = () if kind in AS_TRUE else names(text, truth.stacks)
            for what, changes in (("another number", numbers(text)), ("another stack", named)):
                yield from (Mutant(kind, what, new, bool(wrong_in(kind, new, truth))) for new in changes)


def numbers(text: str) -> Iterator[str]:
    """Yields a text with each of its numbers changed in its third digit that counts."""
    for found in NUMBER.finditer(text):
        digits = [at for at in range(*found.span()) if text[at].isdigit()]
        lead = next((place for place, at in enumerate(digits) if text[at] != "0"), 0)
        at = digits[min(lead + 2, len(digits) - 1)]
        if is_checked(text, at):
            yield f"{text[:at]}{(int(text[at]) + 2) % 10}{text[at + 1 :]}"


def names(text: str, stacks: list[str]) -> Iterator[str]:
    """Yields a text with each name of a stack changed into the next one of its set."""
    one = "|".join(map(re.escape, sorted(stacks, key=len, reverse=True)))
    for found in re.finditer(rf"(?<![\w@:.])(?:{one})(?![\w@:])", text) if len(stacks) > 1 else ():
        if is_checked(text, found.start()):
            other = stacks[(stacks.index(found[0]) + 1) % len(stacks)]
            yield f"{text[: found.start()]}{other}{text[found.end() :]}"


def is_checked(text: str, at: int) -> bool:
    return not text[text.rfind("\n", 0, at) + 1 :].startswith(UNCHECKED)
