"""Questions whose frameworks were given different formulations: who leads with each that several share, so that a lead
by formulation isn't read as a lead by framework."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from suite.answers.sentences import listed
from suite.stacks.catalog import STACKS
from suite.verdicts.grouping import grouped
from suite.verdicts.leads import Behind, leaders


def framework(column: str) -> str:
    """Returns the framework in whose language the function of `jax_jit@0.9:solve` is written."""
    name = column.partition(":")[0].partition("@")[0]
    dialect = STACKS[name].dialect if name in STACKS else name
    return next((stack.framework for stack in STACKS.values() if stack.dialect == dialect), dialect)


def formulation(column: str) -> str:
    return column.partition(":")[2]


@dataclass(frozen=True, slots=True)
class Shared:
    """A formulation that several frameworks have: its stacks, the lowest median first, and those that lead among
    them."""

    name: str
    stacks: tuple[str, ...]
    leaders: tuple[str, ...]

    @property
    def words(self) -> str:
        """`with solve numpy:solve leads`."""
        if len(self.leaders) == len(self.stacks):
            return f"with {self.name} nobody leads"
        return f"with {self.name} {listed(self.leaders)} {'leads' if len(self.leaders) == 1 else 'share the lead'}"


def shared(stacks: Sequence[str], behind: Behind) -> list[Shared]:
    """Returns the formulations that several frameworks have, of stacks with times; the lowest median comes first."""
    by_name = {name: tuple(group) for name, group in grouped(stacks, formulation).items() if name}
    several = {name: group for name, group in by_name.items() if len({*map(framework, group)}) > 1}
    return [Shared(name, group, leaders(group, behind)) for name, group in several.items()]


def only_given(leading: Collection[str], stacks: Sequence[str]) -> str:
    """Returns the framework that alone was given the formulations of all stacks that lead; empty if there is none, or
    only one framework at all."""
    mine = {formulation(stack) for stack in leading}
    having = {framework(stack) for stack in stacks if formulation(stack) in mine}
    return having.pop() if len(having) == 1 and "" not in mine and len({*map(framework, stacks)}) > 1 else ""


def own_words(leading: Collection[str], stacks: Sequence[str], behind: Behind) -> str:
    """Returns what a reader must know of a lead that only one framework's formulation has: `, a formulation that only
    JAX was given (with solve numpy:solve leads)`; empty otherwise."""
    owner = only_given(leading, stacks)
    told = "; ".join(each.words for each in shared(stacks, behind)) or "no two frameworks share one"
    return f", a formulation that only {owner} was given ({told})" if owner else ""
