"""Sentences made false: each by one small change that a reader would believe."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tests.sentences.check import Spoken, wrong_in
from tests.sentences.facts.reader import Truth


@dataclass(frozen=True)
class Mutant:
    kind: str
    what: str
    pattern: str
    by: str

    def of(self, sentence: str) -> str:
        return re.sub(self.pattern, self.by, sentence, count=1)


MUTANTS = tuple(
    Mutant(*words)
    for words in (
        ("headline", "leaders swapped", r"(?<=: )(\w+)(, .*faster than )(\w+)", r"\3\2\1"),
        ("headline", "a leader dropped", r"(not shown to be faster than \w+) and \w+", r"\1"),
        ("headline", "a tie told as a win", r"Lowest median (for .*?); not shown to be faster than [^.]*?(?=\.[ $])", r"Fastest \1"),
        ("headline", "a win told as a tie", r"Fastest(.*?\])\.", r"Lowest median\1; not shown to be faster than torch_eager."),
        ("headline", "wrong factor", r"(, )1\.6(\d× as fast)", r"\g<1>1.7\2"),
        ("headline", "interval narrowed", r"\[1\.6\d, ", "[1.65, "),
        ("headline", "wrong baseline", r"as fast as torch_eager", "as fast as numpy"),
        ("headline", "verdict added", r"(as fast as torch_eager \[[^\]]*\])(?=[.;])", r"\1, close"),
        ("headline", "median off by a digit", r"12\.0 ms", "12.1 ms"),
        ("headline", "failed stacks not told", r" 1 of 7 stacks did not end ok\.", ""),
        ("headline", "failed stacks miscounted", r"1 of 7 stacks", "2 of 7 stacks"),
        ("headline", "modes not told", r" Processes of numpy run in two modes: .*?typical one [\d.]+ ms\.", ""),
        ("headline", "modes of another stack", r"Processes of numpy", "Processes of tf_xla"),
        ("headline", "first run not told", r" The first run of jax_jit.*", ""),
        ("headline", "wrong step", r"from step 5(\d\d),", r"from step 4\1,"),
        ("headline", "stand-in not told", r" \(in place of the baseline torch_eager, which has no time that counts\)", " (the baseline)"),
        ("headline", "another track", r"tuned track", "default track"),
        ("headline", "another question", r"gemm forward", "ffn train"),
        ("map", "a leader dropped", r"jax_jit, tf_xla and keras_jax share", "jax_jit and tf_xla share"),
        ("map", "a leader added", r"; jax_jit leads gemm forward", "; jax_jit and tf_xla share the lead on gemm forward"),
        ("map", "a tie told as a win", r"jax_jit, tf_xla and keras_jax share the lead on", "tf_xla leads"),
        ("map", "a tie of many told one by one", r"jax_jit and keras_jax share the lead on all 3 questions", "jax_jit leads all 3 questions"),
        ("map", "a sharer told as a leader", r"tf_xla shares the lead on 2", "tf_xla leads 2"),
        ("map", "range narrowed", r"1\.66 to 2\.00×", "1.66 to 1.99×"),
        ("map", "range of the wrong baseline", r"2\.00× torch_eager", "2.00× numpy"),
        ("map", "range dropped", r" \(2\.00× torch_eager\)", ""),
        ("map", "track dropped", r"default track: ", ""),
        ("map", "tracks swapped", r"default track: (.*); tuned track: (.*)\.", r"tuned track: \1; default track: \2."),
        ("map", "count off by one", r"tf_xla shares the lead on 2", "tf_xla shares the lead on 1"),
        ("map", "leaders miscounted", r"Three stacks", "Four stacks"),
        ("map", "a group dropped", r"; tf_xla shares the lead on 2", ""),
        ("map", "alone dropped", r"both questions alone", "both questions"),
        ("map", "a question dropped", r"; jax_jit leads gemm forward \(2\.00× torch_eager\)", ""),
        ("map", "told as open", r"^jax_jit, tf_xla and keras_jax share the lead on", "None of seven stacks is shown to be faster on"),
        ("behind", "a pair dropped", r"[^ ,]+ < [^ ,]+, ", ""),
        ("behind", "a pair turned", r"([^ ,]+) < ([^ ,]+)", r"\2 < \1"),
        ("summary", "another stack", r"jax_jit 1\.12×", "keras_jax 1.12×"),
        ("summary", "wrong mean", r"1\.12×", "1.22×"),
        ("summary", "questions miscounted", r"\(4\)", "(5)"),
        ("summary", "wrong baseline", r"over torch_eager:", "over numpy:"),
        ("summary", "a track dropped", r"; tuned track, train .*", "."),
        ("summary", "a stack that isn't ranked not told", r" and jax_eager \(1 of 4\)", ""),
        ("comparisons", "count off by one", r"jax_jit on 3", "jax_jit on 2"),
        ("comparisons", "stacks swapped", r"jax_jit on 3 and torch_eager on 2", "torch_eager on 3 and jax_jit on 2"),
        ("latency", "another stack", r"\((\w+) on", "(numpy on"),
        ("latency", "wrong time", r"took (\d)", r"took 1\1"),
        ("latency", "cases without a time not told", r"; 2 cases without a steady time", ""),
        ("break_even", "a stretch dropped", r", then tf_xla up to step \d+", ""),
        ("break_even", "stretches swapped", r"(\w+)( up to step 12, then )(\w+)", r"\3\2\1"),
        ("break_even", "wrong step", r"up to step 12,", "up to step 13,"),
        ("break_even", "comparisons miscounted", r"\(4 more", "(3 more"),
        ("break_even", "first run not told", r" The first run of jax_jit takes [\d.]+ s\.", ""),
        ("break_even", "a missing case not told", r", torch_eager on mha train default track \(wrong result\)", ""),
        ("compiled", "wrong step", r"jax_jit 1 to 1,\d+", "jax_jit 1 to 1,990"),
        ("compiled", "questions miscounted", r"\(2 of 5\)", "(3 of 5)"),
        ("compiled", "wrong eager stack", r"over jax_eager jax_jit", "over torch_eager jax_jit"),
        ("compiled", "told to pay", r"; it isn't shown to pay off for .*\.", "."),
        ("unified", "free miscounted", r"free on 5 of 5", "free on 4 of 5"),
        ("unified", "wrong factor", r"at most 1\.60", "at most 1.50"),
        ("unified", "wrong native stack", r"keras_jax over jax_jit", "keras_jax over torch_eager"),
        ("transfers", "wrong share", r"up to 8", "up to 7"),
        ("transfers", "copies miscounted", r"in 32 of 32", "in 31 of 32"),
        ("transfers", "another stack", r"a step \(torch_eager", "a step (numpy"),
        ("ways", "wrong verdict", r"11 slower", "11 faster"),
        ("ways", "count off by one", r"11 slower", "10 slower"),
        ("peaks", "another stack", r"Lowest peak: numpy", "Lowest peak: torch_eager"),
        ("peaks", "range narrowed", r"\(([\d.]+) MiB to", r"(1\1 MiB to"),
        ("peaks", "count off by one", r"on 4 of 4", "on 3 of 4"),
        ("peaks", "ended miscounted", r"compilers: (\d)", r"compilers: 1\1"),
        ("holders", "wrong category", r"activations", "parameters"),
        ("holders", "wrong size", r": (\d)", r": 1\1"),
        ("holders", "a tie told as a win", r"(\w+) on (\w+ \w+) and .* hold most", r"\1 holds most on \2"),
        ("unified", "close told as undecided", r"close on", "undecided on"),
        ("endings", "count off by one", r"32 of 35", "33 of 35"),
        ("endings", "an outcome dropped", r", 1 wrong result", ""),
        ("endings", "another outcome", r"1 crashed", "1 timeout"),
        ("equivalence", "a wrong case not told", r"; wrong: .*\.", "."),
        ("equivalence", "error off by a digit", r"error is \d\.(\d)", r"error is 5.\1"),
        ("equivalence", "count off by one", r"32 of 35", "33 of 35"),
        ("row", "a frame missing", r" leads", ""),
        ("row", "a frame added", r"slower", "slower leads"),
        ("row", "a ratio off by a digit", r"slower 0\.5(\d)", r"slower 0.6\1"),
        ("row", "another verdict", r"slower", "close"),
        ("row", "another baseline", r"(\w+) baseline(.*; )(\w+) slower [^;]*", r"\1 slower\2\3 baseline"),
        ("means", "a factor off by a digit", r": 2\.0(\d)×", r": 2.1\1×"),
        ("means", "an interval narrowed", r"\[0\.\d+, ", "[0.999, "),
        ("means", "ranked though it lacks a question", r"– \d.of.\d", "1.23×"),
        ("means", "a row dropped", r"\n.*", ""),
        ("means", "questions miscounted", r"questions: 4", "questions: 5"),
        ("aside", "a note dropped", r":.*\(processes in modes\)", ":"),
        ("aside", "a note added", r":$", ": the medians give 1.09× (processes in modes)"),
        ("aside", "a factor off by a digit", r"0\.636×", "0.646×"),
        ("aside", "another reason", r"processes in modes", "processes of other blocks"),
        ("cause", "another stack", r"slows (\w+)", "slows numpy, \\1"),
        ("cause", "doubt dropped", r"; a faster one may reverse the ranking", ""),
        ("cause", "measured, but told as open", r"; with MKL's path.*", "; a faster one may reverse the ranking."),
        ("cause", "another set", r"of set b839632f5c59", "of set 069b23a24959"),
        ("cause", "another set told as this one", r"of set b839632f5c59", "of this set"),
        ("cause", "leaders swapped", r"(torch_eager) leads (.*?): (jax_jit) is", r"\3 leads \2: \1 is"),
        ("cause", "a lead told as a tie", r" leads ffn", " shares the lead on ffn"),
        ("cause", "a lead told as none", r" leads ffn", " doesn't lead ffn"),
        ("cause", "a factor off by a digit", r"0\.880×", "0.890×"),
        ("cause", "at a level that isn't strict", r"\[0\.848, 0\.913\]", "[0.854, 0.907]"),
        ("cause", "a limit dropped", r" as far as a step multiplies matrices", ""),
        ("frontier", "size off by one", r"largest batch: 79", "largest batch: 80"),
        ("frontier", "a stack dropped", r", torch_xla fits 34", ""),
        ("frontier", "a limit dropped", r"Under 6 GiB ", ""),
        ("frontier", "another limit", r"6 GiB", "8 GiB"),
        ("frontier", "out of order", r"(torch_eager fits 53), (tf_xla fits 49)", r"\2, \1"),
        ("frontier", "a tie told as a win", r"jax_jit and tf_xla fit the", "jax_jit fits the"),
        ("frontier", "open, but told as found", r"it is open which stack fits the largest batch; tf_xla fits 9 to 15,", "tf_xla fits the largest batch: 9;"),
        ("frontier", "tried, but told as the largest", r"The largest batch that was tried, 8, fits on jax_jit and tf_xla", "jax_jit and tf_xla fit the largest batch: 8"),
        ("frontier", "a search's failure not told", r" or more \(its search failed[^)]*\)", ""),
        ("frontier", "a range told as found", r"fits 8 to 11", "fits 8"),
        ("noise", "a withdrawn reading counted", r"withdrawn: .*; yes", "78.7 %; no: other programs"),
        ("noise", "another reason for withdrawing", r"withdrawn: .*;", "withdrawn: the machine was busy;"),
        ("headline", "a framework dropped", r" and numpy:solve 11\.7 ms\. The same", ". The same"),
        ("headline", "a formulation's tie told as a win", r"torch_eager:solve and torch_inductor:solve share the lead", "torch_eager:solve leads"),
        ("headline", "a shared formulation not told", r" The same formulation, solve: .*?share the lead\.", " No two frameworks have the same formulation."),
        ("headline", "unlike formulations not told", r" No two frameworks have the same formulation\.", ""),
        ("headline", "formulations not told", r" The best of each framework: .*?\. No two", " No two"),
        ("map", "a formulation of one framework not told", r", a formulation that only JAX was given \([^)]*\)", ""),
        ("map", "another framework's formulation", r"only JAX", "only PyTorch"),
        ("map", "a formulation's tie told as a win", r"torch_eager:solve and torch_inductor:solve share the lead", "torch_eager:solve leads"),
        ("map", "a shared formulation not told", r"\(with solve[^)]*\)", "(no two frameworks share one)"),
        ("summary", "a stack dropped from those not ranked", r", \w+ \(\d of \d\) and", " and"),
        ("summary", "tracks swapped", r"default track(.*); tuned track", r"tuned track\1; default track"),
        ("noise", "a limit dropped", r"Over its limit: .*", "No reading is over its limit."),
        ("noise", "count off by one", r"1 of 5", "2 of 5"),
        ("blocks", "count off by one", r"1 of 5", "0 of 5"),
        ("badge", "told as quiet", r"restless.*", "quiet"),
        ("badge", "another set's badge", r"^quiet$", "restless: wide intervals"),
        ("badge", "another cause", r"noisy blocks", "other programs"),
        ("notices", "a notice dropped", r"1 of 5 block runs exceeded a noise limit\.\n", ""),
        ("notices", "a wrong stack not told", r"Wrong results.*\n", ""),
        ("notices", "another stand-in", r": jax_jit, the fastest", ": keras_jax, the fastest"),
        ("notices", "wrong number of blocks", r"1 of 5", "3 of 5"),
        ("memory", "count off by one", r"38 of 50", "39 of 50"),
        ("thread", "the other way round", r"^Confirmed", "The other way round"),
        ("thread", "a doubt told as sure", r"^Not confirmed", "Confirmed"),
        ("thread", "stacks swapped", r"`([^`]+)`(.*?)`([^`]+)`", r"`\3`\2`\1`"),
        ("thread", "a limit dropped", r"; [^;]+\.$", "."),
        ("thread", "a part told as all", r" in part", ""),
        ("compare", "count off by one", r"^0 of 10", "1 of 10"),
        ("compare", "cases miscounted", r"of 10 cases", "of 11 cases"),
        ("compare", "wrong drift", r"differ by (\d)", r"differ by 2\1"),
        ("compare", "wrong middle", r"is 0\.96\d×", "is 1.04×"),
        ("cell", "wrong verdict", r"faster$", "slower"),
        ("cell", "wrong factor", r": 1\.(\d)", r": 2.\1"),
        ("floor", "narrowed", r"\[0\.9\d\d", "[0.999"),
        ("unified cell", "wrong verdict", r"slower$", "tie"),
    )
)  # fmt: skip


def true_of(spoken: Iterable[Spoken]) -> dict[str, list[tuple[str, Truth]]]:
    """Returns the sentences of each kind that the oracle finds true: only these are worth making false."""
    found: dict[str, list[tuple[str, Truth]]] = {}
    for kind, sentence, truth in spoken:
        if not wrong_in(kind, sentence, truth):
            found.setdefault(kind, []).append((sentence, truth))
    return found


def made(true: dict[str, list[tuple[str, Truth]]]) -> Iterator[tuple[Mutant, str, bool | None]]:
    """Yields every mutant with its first sentence, and whether the oracle catches it; None where no true sentence has
    the words that it changes."""
    for mutant in MUTANTS:
        for sentence, truth in true.get(mutant.kind, []):
            changed = mutant.of(sentence)
            if changed != sentence:
                yield mutant, changed, bool(wrong_in(mutant.kind, changed, truth))
                break
        else:
            yield mutant, "", None
