"""Frameworks that were given different formulations of a question: a lead by formulation isn't one by framework."""

from __future__ import annotations

import re
from collections import defaultdict

from tests.sentences.facts.reader import Truth
from tests.sentences.kinds.held import Held, some

TIMES = r"{S} {T}(?:(?:, | and ){S} {T})*(?: and \d+ others)?"
BEST = rf" The best of each framework: (?P<best>{TIMES})\."
LED = r"with (?P<name>\w+) (?:{L:lead} (?P<verb>leads|share the lead)|nobody leads)"
SAME = rf" The same formulation, (?P<same>\w+): (?P<times>{TIMES}); {LED}\."
UNLIKE = " No two frameworks have the same formulation."
UNSHARED = "no two frameworks share one"
FRAMEWORKS = {"jax": "JAX", "torch": "PyTorch", "torchax": "PyTorch", "onnxruntime": "PyTorch", "tf": "TensorFlow",
              "numpy": "NumPy", "keras": "Keras", "numba": "Numba"}  # fmt: skip


def framework(who: str) -> str:
    plain = re.split("[:@]", who)[0]
    return FRAMEWORKS.get(plain.partition("_")[0], plain)


def formulation(who: str) -> str:
    return who.partition(":")[2]


def given(stacks: list[str]) -> dict[str, set[str]]:
    """Returns {framework: the formulations that it was given}."""
    found = defaultdict(set)
    for who in stacks:
        found[framework(who)].add(formulation(who))
    return found


def shared(stacks: list[str]) -> list[str]:
    """Returns the formulations that several frameworks have, in the order of their stacks."""
    names = [name for name in dict.fromkeys(map(formulation, stacks)) if name]
    return [name for name in names if sum(name in of for of in given(stacks).values()) > 1]


def only_given(truth: Truth, on: str) -> str:
    """Returns the only framework that was given the formulations that lead; empty if there is none, or if all lead."""
    leaders, counting = truth.leaders(on), truth.counting(on)
    mine = {*map(formulation, leaders)}
    having = [name for name, of in given(counting).items() if of & mine]
    is_open = len(leaders) == len(counting)
    return "" if is_open or "" in mine or len(having) > 1 or len(given(counting)) < 2 else having[0]


def formulations(held: Held, on: str, rest: str) -> str:
    """Holds what a headline says of a question's formulations; returns the text after it."""
    counting = held.truth.counting(on)
    unlike = len({*map(frozenset, given(counting).values())}) > 1
    said, rest = held.start(rest, f"(?:{BEST})?")
    held.same("different formulations", bool(said["best"]), unlike)
    if not said["best"]:
        return rest
    best: dict[str, str] = {}
    for who in counting:
        best.setdefault(framework(who), who)
    in_order(held, on, said["best"], [*best.values()])
    told = []
    while held.names.pattern(SAME).match(rest):
        said, rest = held.start(rest, SAME)
        told.append(said["name"])
        held.same("one formulation", said["same"], said["name"])
        in_order(held, on, said["times"], [who for who in counting if formulation(who) == said["name"]])
        led_with(held, on, said["name"], said["lead"], said["verb"])
    held.same("formulations of several frameworks", told, shared(counting))
    held.same("none is shared", rest.startswith(UNLIKE), not told)
    return rest.removeprefix(UNLIKE)


def in_order(held: Held, on: str, said: str, stacks: list[str]) -> None:
    """Holds a list of stacks, in this order, with their medians; it may count the last ones."""
    each, others = held.every("{S:who} {T:time}", said), re.search(r" and (\d+) others$", said)
    names, hidden = [one["who"] for one in each], int(others[1]) if others else 0
    held.same("stacks in order", (names, hidden), (stacks[: len(each)], len(stacks) - len(each)))
    for one in each:
        held.near(f"median of {one['who']}", one["time"], held.truth.time(on, one["who"]))


def led_with(held: Held, on: str, name: str, lead: str, verb: str) -> None:
    stacks, behind = [who for who in held.truth.counting(on) if formulation(who) == name], held.truth.behind(on)
    leading = [who for who in stacks if not any((who, other) in behind for other in stacks)]
    is_open = len(leading) == len(stacks)
    held.same(f"who leads with {name}", some(lead), frozenset(() if is_open else leading))
    held.same("leads or shares", verb, "" if is_open else "leads" if len(leading) == 1 else "share the lead")


def told_beside(held: Held, on: str, told: str) -> None:
    """Holds what stands in parentheses after a lead that only one framework's formulation has."""
    each = [held.read(LED, text=part) for part in told.split("; ") if told != UNSHARED]
    held.same("formulations beside the lead", [one["name"] for one in each], shared(held.truth.counting(on)))
    for one in each:
        led_with(held, on, one["name"], one["lead"], one["verb"])
