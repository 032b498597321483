"""Whether the badge, the notices and the readings are so."""

from __future__ import annotations

from tests.sentences.checks.found import Found, names_of, shown
from tests.sentences.facts import machine
from tests.sentences.facts.reader import Truth
from tests.sentences.said.grammar import Fact, Some
from tests.sentences.kinds.shown import agrees


def reading(truth: Truth, fact: Fact) -> Found:
    _, true = machine.readings(truth)[fact.on or fact.what.removeprefix("notice of ")]
    said = fact.value
    if isinstance(true, tuple):
        some = [Some(names_of_questions(said[2]))] if len(said) > 2 and len(true) > 2 else []
        return tuple(map(int, said[:2])) == true[:2] and (not some or some[0] == true[2]), true
    text = said[-1].removeprefix("±")
    return agrees(text, true) or f"{true:.0%}" == text.replace(" ", ""), true


def names_of_questions(listed: str) -> frozenset[str]:
    return frozenset(listed.replace(" and ", ", ").split(", ")) if "others" not in listed else frozenset()


def over_limits(truth: Truth, fact: Fact) -> frozenset[str]:
    return frozenset(cause for cause, (is_over, _) in machine.readings(truth).items() if is_over)


def badge(truth: Truth, fact: Fact) -> Found:
    word, causes = machine.badge(truth)
    return fact.value[0] == word and fact.value[1] == causes, (word, causes)


def notices(truth: Truth, fact: Fact) -> Found:
    true = {(cause, "") for cause in over_limits(truth, fact)}
    causes = {cause for cause, has in machine.weak(truth).items() if has}
    doubted = {on for on in truth.cells if (twin := truth.twin_of(on)) and twin.p <= truth.pairs.doubt}
    true |= {(cause, "") for cause in causes - {"a stack that differs from itself"}}
    true |= {("a stack that differs from itself", on) for on in doubted}
    true |= {(outcome, on) for outcome, of in machine.invalid(truth).items() for on in of}
    true |= {("stand-in", on) for on in truth.cells if truth.base(on) != truth.baseline}
    return fact.value == true, true


def notice_of_stand_in(truth: Truth, fact: Fact) -> Found:
    return (fact.who, fact.over) == (truth.base(fact.on), truth.baseline), truth.base(fact.on)


def notice_of_invalid(truth: Truth, fact: Fact) -> Found:
    outcome = fact.what.removeprefix("notice of ")
    true = machine.invalid(truth)[outcome][fact.on]
    return frozenset((fact.who or fact.value[0]).split(", ")) == true, true


def notice_of_twin(truth: Truth, fact: Fact) -> Found:
    return shown((fact.value[0], fact.value[1]), truth.twin_of(fact.on))


def missing(truth: Truth, fact: Fact) -> Found:
    true = sum(row["outcome"] == "not run" for row in truth.rows)
    return int(fact.value[0]) == true, true


def mkl(truth: Truth, fact: Fact) -> Found:
    slowed, untested = machine.mkl(truth)
    said = Some(names_of(fact.value["slowed"]))
    return said == slowed and bool(fact.value["may"]) == untested, (slowed, untested)
