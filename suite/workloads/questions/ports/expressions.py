"""The expressions of WEIGHTS: a leaf of a port's model in terms of the first model's, like `fc1.weight.T`. Nothing is
ever run as Python: a text is parsed, and its forms are the few that FORMS names."""

from __future__ import annotations

import ast
import difflib
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suite.errors import UserError

Array = NDArray[Any]
FORMS = (
    "x (a leaf's name, in quotes if it is a number), x.T, x.transpose(1, 0), x.reshape(64, 4, 16), x[0:64], x + y, "
    "2 * x, concatenate(x, y, axis=0)"
)


def value_of(expression: str, values: Mapping[str, Array]) -> Array:
    """Returns an expression's value, from those of the first model's leaves. Raises UserError for a text that isn't an
    expression, an unknown leaf, and shapes that don't fit. An expression is linear, so it also gives by how much a leaf
    of the port moves where the first's leaves move; for gradients see `gradients_of`."""
    tree = parsed(expression, values)
    try:
        return np.asarray(computed(tree, lambda leaf: values[leaf.value]))
    except (ValueError, IndexError, TypeError, OverflowError, RecursionError) as broken:
        raise UserError(f"WEIGHTS: `{expression}` has no value: {str(broken).splitlines()[0].rstrip('.')}.") from broken


def shape_of(expression: str, shapes: Mapping[str, tuple[int, ...]]) -> tuple[int, ...]:
    """Returns the shape of an expression's value; raises as `value_of` does."""
    return value_of(expression, {name: np.broadcast_to(np.float32(0), shape) for name, shape in shapes.items()}).shape


def leaves_in(expression: str, known: Collection[str]) -> list[str]:
    return [place.value for place in places(parsed(expression, known))]


def places(tree: Any) -> list[Any]:
    """Returns where an expression has a leaf."""
    return [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]


def gradients_of(
    weights: Mapping[str, str], gradients: Mapping[str, Array], shapes: Mapping[str, tuple[int, ...]]
) -> dict[str, Array]:
    """Returns the gradients of the first model's leaves, by the chain rule from those of the port's. `value_of` of the
    first's gradients would be twice what it should be for a sum of two biases, and both uses' for a leaf that the port
    has twice. `shapes` are those of the first's leaves."""
    found = {name: np.zeros(shape) for name, shape in shapes.items()}
    for name, expression in weights.items():
        for leaf, which, factor in uses(expression, shapes):
            used = factor != 0
            np.add.at(found[leaf].reshape(-1), which, factor[used] * gradients[name][used])
    return found


def shared(weights: Mapping[str, str], shapes: Mapping[str, tuple[int, ...]]) -> set[str]:
    """Returns the first model's leaves of which the port has some element more than once."""
    leaves = {name: leaves_in(expression, shapes) for name, expression in weights.items()}
    # At one place an expression has no element twice.
    places_of = Counter(leaf for found in leaves.values() for leaf in found)
    times = {leaf: np.zeros(shapes[leaf], int) for leaf, count in places_of.items() if count > 1}
    for name, found in leaves.items():
        for leaf, which, _ in uses(weights[name], shapes) if not times.keys().isdisjoint(found) else ():
            if leaf in times:
                np.add.at(times[leaf].reshape(-1), which, 1)
    return {leaf for leaf, counts in times.items() if (counts > 1).any()}


def uses(expression: str, shapes: Mapping[str, tuple[int, ...]]) -> Iterator[tuple[str, Array, Array]]:
    """Yields each leaf in an expression: its name, the number of each of its elements that the value has, in the
    value's order, and for each element of the value by what it is multiplied (0 where it isn't this leaf's)."""
    tree = parsed(expression, shapes)
    for place in places(tree):
        ones = np.ones(shapes[place.value])
        # Each element of the value has at most one element of the leaf at this place: which, and times what?
        factor, count = (
            computed(tree, lambda leaf: probe if leaf is place else 0 * np.ones(shapes[leaf.value]))  # noqa: B023
            for probe in (ones, ones.cumsum().reshape(ones.shape))
        )
        used = factor != 0
        yield place.value, np.rint(count[used] / factor[used]).astype(int) - 1, factor


def parsed(expression: str, known: Collection[str]) -> Any:
    """Returns the syntax tree of an expression, in which leaves are string constants: names such as
    `layers.0.if.kernel` aren't Python. Raises UserError for a name that isn't known."""
    names = "|".join(re.escape(name) for name in sorted(known, key=len, reverse=True) if not is_number(name))
    either = rf"'[^']*'|\"[^\"]*\"|(?<![\w.])(?:{names or '(?!)'})(?!\w)"
    text = re.sub(either, lambda found: repr(found[0].strip("'\"")), expression.strip())
    for word in re.findall(r"(?<![\w.])\w+(?:\.\w+)*", re.sub(r"'[^']*'|\"[^\"]*\"", "''", text)):
        if not is_number(word) and word not in ("concatenate", "axis"):
            raise unknown_leaf(expression, re.sub(r"\.(T|transpose|reshape)$", "", word), known)
    try:
        tree = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError) as broken:
        raise UserError(f"WEIGHTS: `{expression}` isn't an expression; its forms are {FORMS}.") from broken
    for place in places(tree):
        if place.value not in known:
            raise unknown_leaf(expression, place.value, known)
    return tree


def computed(node: Any, of: Callable[[Any], Array]) -> Any:
    match node:
        case ast.Constant(str()):
            return of(node)
        case ast.BinOp(left, ast.Add(), right):
            one, other = computed(left, of), computed(right, of)
            if one.shape != other.shape:
                raise ValueError(f"{one.shape} and {other.shape} can't be added")
            return one + other
        case ast.BinOp(ast.Constant(int() | float() as factor), ast.Mult(), right):
            return factor * computed(right, of)
        case ast.Attribute(inner, "T"):
            return computed(inner, of).T
        case ast.Subscript(inner, ast.Tuple(items)):
            return computed(inner, of)[tuple(map(window, items))]
        case ast.Subscript(inner, item):
            return computed(inner, of)[window(item)]
        case ast.Call(ast.Attribute(inner, "transpose" | "reshape" as method), arguments, []):
            return getattr(computed(inner, of), method)(tuple(map(whole, arguments)))
        case ast.Call(ast.Name("concatenate"), arguments, [] | [ast.keyword("axis")] as axis) if arguments:
            return np.concatenate([computed(each, of) for each in arguments], whole(axis[0].value) if axis else 0)
    raise ValueError(f"`{ast.unparse(node)}` is none of the forms {FORMS}")


def window(node: ast.expr) -> Any:
    if isinstance(node, ast.Slice):
        return slice(*(None if end is None else whole(end) for end in (node.lower, node.upper, node.step)))
    return whole(node)


def whole(node: ast.expr) -> int:
    value = ast.literal_eval(node) if isinstance(node, ast.Constant | ast.UnaryOp) else None
    if type(value) is not int:
        raise ValueError(f"`{ast.unparse(node)}` isn't a whole number")
    return value


def is_number(name: str) -> bool:
    """Whether a name can't be told from a number, as in a model that is a list of arrays."""
    return re.fullmatch(r"[\d.]*", name) is not None


def unknown_leaf(where: str, name: str, known: Collection[str], model: str = "the first model") -> UserError:
    near = difflib.get_close_matches(name, known, n=3, cutoff=0)
    return UserError(f"WEIGHTS: `{where}`: {model} has no leaf {name}. Nearest: {', '.join(near)}.")
