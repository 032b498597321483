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

MOST = 25  # sentences of a kind of which every number, name, word and clause is changed
NUMBER = re.compile(r"(?<![\w.@])(?<!e[+-])\d(?:[\d.,]*\d)?(?!\w)")
CLAUSE = re.compile(r"(?:; |, | and |(?<=\.) |\n| \()[^;,.()\n]*(?:\.\d[^;,.()\n]*)*(?:\([^)]*\))?\)?")
WORDS = (("faster", "slower"), ("slower", "faster"), ("slower", "close"), ("close", "undecided"), ("a tie", "close"),
         ("undecided", "close"), ("leads", "shares the lead on"), ("share the lead on", "leads"), ("leads", "doesn't lead"),
         ("shares the lead on", "leads"), ("slower", "slower leads"), (" leads", ""), (" alone", ""), ("JAX", "PyTorch"),
         ("Fastest", "Lowest median"), ("Lowest median", "Fastest"), ("So far the", "The"), ("Three", "Four"),
         ("default", "tuned"), ("tuned", "default"), ("gemm", "ffn"), ("activations", "parameters"), ("restless", "quiet"),
         ("crashed", "timeout"), ("wrong", "crashed"), ("Confirmed", "The other way round"), ("Not confirmed", "Confirmed"),
         ("in part", ""), ("in modes", "of other blocks"), ("noisy blocks", "other programs"))  # fmt: skip
SILENT = re.compile(r":\s*$")  # no pairs, no note: as true of others
AS_TRUE = {"equivalence", "cell"}  # kinds of which another stack may say as much


class Mutant(NamedTuple):
    kind: str
    what: str
    sentence: str
    caught: bool


MUTANTS = (
    ("headline", "a tie told as a win", r"Lowest median (for .*?); not shown to be faster than [^.]*?(?=\.[ $])", r"Fastest \1"),
    ("headline", "a win told as a tie", r"Fastest(.*?\])\.", r"Lowest median\1; not shown to be faster than torch_eager."),
    ("headline", "verdict added", r"(as fast as torch_eager \[[^\]]*\])(?=[.;])", r"\1, close"),
    ("headline", "modes not told", r" Processes of numpy run in two modes: .*?typical one [\d.]+ ms\.", ""),
    ("headline", "stand-in not told", r" \(in place of the baseline torch_eager, which has no time that counts\)", " (the baseline)"),
    ("headline", "a formulation's tie told as a win", r"torch_eager:solve and torch_inductor:solve share the lead", "torch_eager:solve leads"),
    ("headline", "a shared formulation not told", r" The same formulation, solve: .*?share the lead\.", " No two frameworks have the same formulation."),
    ("headline", "formulations not told", r" The best of each framework: .*?\. No two", " No two"),
    ("map", "a leader added", r"; jax_jit leads gemm forward", "; jax_jit and tf_xla share the lead on gemm forward"),
    ("map", "a tie told as a win", r"jax_jit, tf_xla and keras_jax share the lead on", "tf_xla leads"),
    ("map", "a tie of many told one by one", r"jax_jit and keras_jax share the lead on all 3 questions", "jax_jit leads all 3 questions"),
    ("map", "track dropped", r"default track: ", ""),
    ("map", "tracks swapped", r"default track: (.*); tuned track: (.*)\.", r"tuned track: \1; default track: \2."),
    ("map", "told as open", r"^jax_jit, tf_xla and keras_jax share the lead on", "None of seven stacks is shown to be faster on"),
    ("map", "a formulation's tie told as a win", r"torch_eager:solve and torch_inductor:solve share the lead", "torch_eager:solve leads"),
    ("map", "a shared formulation not told", r"\(with solve[^)]*\)", "(no two frameworks share one)"),
    ("behind", "a pair turned", r"([^ ,]+) < ([^ ,]+)", r"\2 < \1"),
    ("summary", "a track dropped", r"; tuned track, train .*", "."),
    ("summary", "tracks swapped", r"default track(.*); tuned track", r"tuned track\1; default track"),
    ("compiled", "told to pay", r" Compiling isn't shown to pay off for .*\.", ""),
    ("holders", "a tie told as a win", r"(\w+) on (\w+ \w+) and .* hold most", r"\1 holds most on \2"),
    ("row", "another baseline", r"(\w+) baseline(.*; )(\w+) slower [^;]*", r"\1 slower\2\3 baseline"),
    ("means", "ranked though it lacks a question", r"– \d.of.\d", "1.23×"),
    ("means", "a row dropped", r"\n.*", ""),
    ("aside", "a note dropped", r":.*\(processes in modes\)", ":"),
    ("aside", "a note added", r":$", ": the medians give 1.09× (processes in modes)"),
    ("cause", "measured, but told as open", r"; with MKL's path.*", "; a faster one may reverse the ranking."),
    ("cause", "another set", r"of set b839632f5c59", "of set 069b23a24959"),
    ("cause", "another set told as this one", r"of set b839632f5c59", "of this set"),
    ("cause", "a limit dropped", r" as far as a step multiplies matrices", ""),
    ("frontier", "a limit dropped", r"Under 6 GiB ", ""),
    ("frontier", "out of order", r"(torch_eager fits 53), (tf_xla fits 49)", r"\2, \1"),
    ("frontier", "a tie told as a win", r"jax_jit and tf_xla fit the", "jax_jit fits the"),
    ("frontier", "open, but told as found", r"it is open which stack fits the largest batch; tf_xla fits 9 to 15,", "tf_xla fits the largest batch: 9;"),
    ("frontier", "tried, but told as the largest", r"The largest batch that was tried, 8, fits on jax_jit and tf_xla", "jax_jit and tf_xla fit the largest batch: 8"),
    ("frontier", "a search's failure not told", r" or more \(its search failed[^)]*\)", ""),
    ("frontier", "a range told as found", r"fits 8 to 11", "fits 8"),
    ("noise", "a withdrawn reading counted", r"withdrawn: .*; yes", "78.7 %; no: other programs"),
    ("noise", "another reason for withdrawing", r"withdrawn: .*;", "withdrawn: the machine was busy;"),
    ("noise", "a limit dropped", r"Over its limit: .*", "No reading is over its limit."),
    ("badge", "told as quiet", r"restless.*", "quiet"),
    ("badge", "another set's badge", r"^quiet$", "restless: wide intervals"),
    ("notices", "a notice dropped", r"1 of 5 block runs exceeded a noise limit\.\n", ""),
    ("thread", "stacks swapped", r"`([^`]+)`(.*?)`([^`]+)`", r"`\3`\2`\1`"),
    ("thread", "a limit dropped", r"; [^;]+\.$", "."),
)  # fmt: skip


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
    for kind, what, pattern, by in MUTANTS:
        changed = ((re.sub(pattern, by, text, count=1), text, truth) for text, truth in true[kind])
        first = next(((new, truth) for new, text, truth in changed if new != text), None)
        yield Mutant(kind, what, first[0] if first else "", bool(first and wrong_in(kind, *first)))
    for kind, said in true.items():
        spoken = [(text, truth) for text, truth in said if not SILENT.search(text)]
        for text, truth in spoken[:: len(spoken) // MOST + 1]:
            named = () if kind in AS_TRUE else names(text, truth.stacks)
            for what, changes in (
                ("number", numbers(text)),
                ("name", named),
                ("word", words(text)),
                ("less", less(text)),
            ):
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


def words(text: str) -> Iterator[str]:
    for word, other in WORDS:
        for found in re.finditer(rf"(?<!\w){re.escape(word)}(?!\w)", text):
            if is_checked(text, found.start()):
                yield text[: found.start()] + other + text[found.end() :]


def less(text: str) -> Iterator[str]:
    """Yields a text without each of its clauses, items of lists, sentences and lines."""
    for found in CLAUSE.finditer(text):
        if is_checked(text, found.start() + 1):
            yield text[: found.start()] + text[found.end() :]


def is_checked(text: str, at: int) -> bool:
    return not text[text.rfind("\n", 0, at) + 1 :].startswith(UNCHECKED)
