"""Recognises regions of a program's forward pass by their structure: embeddings, norms, attention and GELU. For each it
says in which form the stack handed it to its compiler."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from suite.ir.graph import LAYOUT, Graph, Op, Value, ancestors, made_by, source

SCALES = ("multiply", "divide")
PRODUCTS = ("dot_general", "dot")
INDEXING = frozenset({
    "add", "subtract", "multiply", "compare", "select", "clamp", "minimum", "maximum", "iota", "constant",
    "concatenate", "remainder", "and", "or", "slice",
})  # fmt: skip
# Operations that make indices valid before rows are looked up by them, and what they do to indices.
GUARDS = {"select": "negative ones wrapped", "clamp": "clamped", "minimum": "clamped", "maximum": "clamped"}


@dataclass(frozen=True, slots=True)
class Region:
    """A part of a program: what it computes, and in which form."""

    kind: str
    form: str


# (region, the value that identifies it): a backward pass may compute a region again from the same value.
FoundRegions = Iterator[tuple[Region, Value]]


def recognised(graph: Graph) -> Counter[Region]:
    """Returns how many regions of each kind and form a program has. A region that is computed again from the same
    values counts once."""
    counts: Counter[Region] = Counter()
    seen: set[tuple[str, Value]] = set()
    for find in FINDERS:
        for region, identity in find(graph):
            if (region.kind, identity) not in seen:
                seen.add((region.kind, identity))
                counts[region] += 1
    return counts


def embeddings(graph: Graph) -> FoundRegions:
    """Yields the embeddings. One form is a lookup of rows in a table, with the way in which its indices are made valid;
    the other is a slice of the table of positions."""
    for op in graph.named("gather"):
        if len(op.operands[0].shape) == 2 and list(op.attributes["slice_sizes"]) == [1, op.operands[0].shape[1]]:
            kind = "embedding" if op.operands[1] in graph.dependent else "position embedding"
            yield Region(kind, f"gather, indices {guards(op.operands[1])}"), op.result
    for op in graph.named("slice"):
        table = source(op.operands[0])
        users = {user.name for user in graph.consumers(op.result, LAYOUT | {"multiply"})}  # PyTorch's add has a factor
        if table in graph.arguments and table.shape[-1] == op.result.shape[-1] and "add" in users:
            yield Region("position embedding", "slice of the table"), op.result


def guards(indices: Value) -> str:
    passed = {maker.name for maker in ancestors(indices, INDEXING)}
    return " and ".join(sorted({words for name, words in GUARDS.items() if name in passed})) or "as they are"


def norms(graph: Graph) -> FoundRegions:
    """Yields layer, batch and RMS norms: a single operation, or arithmetic around a square root."""
    for op in graph.named("batch_norm_training", "batch_norm_inference"):
        yield Region(kind_of_one_operation(op), op.name), source(op.operands[0])
    for op in graph.named("rsqrt", "sqrt"):
        if op.name == "rsqrt" or divides(graph, op):
            yield from enumerated_norm(graph, op)


def kind_of_one_operation(op: Op) -> str:
    """Returns the kind of norm that one batch norm operation is. PyTorch/XLA writes a layer norm as the batch norm of
    one image whose channels are the items to be normalised."""
    shape, feature = op.operands[0].shape, op.attributes["feature_index"]
    others = [size for axis, size in enumerate(shape) if axis != feature]
    return "layer norm" if others[0] == 1 and sum(size > 1 for size in others) == 1 else "batch norm"


def divides(graph: Graph, root: Op) -> bool:
    return any(
        user.name == "divide" and source(user.operands[1]) is root.result for user in graph.consumers(root.result)
    )


def enumerated_norm(graph: Graph, root: Op) -> FoundRegions:
    """Yields the norm to which a square root belongs, if any, where the norm is written out in single operations. A
    norm takes the root of a mean of squares plus an epsilon."""
    variance = graph.bare(root.operands[0], ("add", "maximum", "select"))
    if squares := mean_of(graph, variance):
        total, squared = squares
        base = square_of(squared)
        if base is None:
            return
        centred = made_by(base, "subtract")
        if centred and mean_of(graph, centred.operands[1]):
            region = Region(kind_of_mean(total, "layer norm"), "enumerated: squared differences")
            yield region, source(centred.operands[0])
        else:
            yield Region(kind_of_mean(total, "RMS norm"), "enumerated: mean of squares"), base
    elif difference := made_by(variance, "subtract"):  # E[x²] - E[x]²
        squares, mean = mean_of(graph, difference.operands[0]), square_of(difference.operands[1])
        base = square_of(squares[1]) if squares else None
        if squares and base is not None and mean is not None and mean_of(graph, mean):
            form = "enumerated: mean of squares less the mean's square"
            yield Region(kind_of_mean(squares[0], "layer norm"), form), base


def kind_of_mean(total: Op, of_features: str) -> str:
    """Returns the kind of a norm, by the dimensions over which its mean is taken. One dimension is that of an item's
    features: the norm is of the kind `of_features`. A batch norm's mean is over all dimensions except the channels."""
    return of_features if len(total.attributes["dimensions"]) == 1 else "batch norm"


def mean_of(graph: Graph, value: Value) -> tuple[Op, Value] | None:
    total = made_by(graph.bare(value, SCALES), "reduce")
    return (total, source(total.operands[0])) if total and total.attributes["by"] == "add" else None


def square_of(value: Value) -> Value | None:
    op = made_by(value, "multiply", "power", "square")
    if op is None:
        return None
    left, right = source(op.operands[0]), source(op.operands[-1])
    return left if op.name != "multiply" or left is right else None


def attention(graph: Graph) -> FoundRegions:
    """Yields attention: two products with a softmax between them. Its form is the products' dimensions."""
    for op in graph.named("exponential"):
        shares, shifted = softmax(graph, op), made_by(op.operands[0], "subtract")
        if shares is None or shifted is None:
            continue
        scores = made_by(graph.bare(shifted.operands[0], (*SCALES, "add", "select")), *PRODUCTS)
        later = graph.consumers(shares, LAYOUT | {"select"})  # PyTorch's for rows that are all masked
        weigh = next((user for user in later if user.name in PRODUCTS), None)
        if scores and weigh:
            yield Region("attention", " and ".join(dict.fromkeys(map(product, (scores, weigh))))), scores.result


def softmax(graph: Graph, op: Op) -> Value | None:
    """Returns the softmax to which an exponential belongs: the exponential divided by its own sum. None if there is
    none."""
    for user in graph.consumers(op.result):
        total = made_by(user.operands[1], "reduce") if user.name == "divide" else None
        if total and source(total.operands[0]) is op.result:
            return user.result
    return None


def product(op: Op) -> str:
    batch = len(op.attributes.get("lhs_batching_dimensions", ()))
    return f"{len(op.result.shape)}-dimensional products, {batch} batch dimension{'s' * (batch != 1)}"


def gelu(graph: Graph) -> FoundRegions:
    """Yields GELU. It is recognised by the tanh of a cubic polynomial, or by the error function. The error function is
    one operation, or an approximation of its complement, which has exp(-x²) and tests whether |x| exceeds 1."""
    for op in graph.named("tanh"):
        variable = variable_of_cubic(graph, graph.bare(op.operands[0], SCALES))
        if variable is not None:
            yield Region("GELU", "tanh of a cubic polynomial"), variable
    for op in graph.named("erf", "erfc"):
        yield Region("GELU", op.name), graph.bare(op.operands[0], (*SCALES, "negate"))
    for op in graph.named("exponential"):
        negated = made_by(op.operands[0], "negate")
        x = square_of(negated.operands[0]) if negated else None
        if x is not None and any(user.name == "abs" for user in graph.consumers(x)):
            yield Region("GELU", "erfc, enumerated"), graph.bare(x, (*SCALES, "negate"))


def variable_of_cubic(graph: Graph, value: Value) -> Value | None:
    """Returns x if a value is x + c x³ or x (1 + c x²); else None."""
    op = made_by(value, "add", "multiply")
    for x, rest in (op.operands, op.operands[::-1]) if op else ():
        of_rest = graph.bare(rest, SCALES if op and op.name == "add" else (*SCALES, "add"))
        if source(x) is (cube_of(of_rest) if op and op.name == "add" else square_of(of_rest)):
            return source(x)
    return None


def cube_of(value: Value) -> Value | None:
    op = made_by(value, "multiply", "power")
    if op is None or op.name == "power":
        return source(op.operands[0]) if op else None
    sides = [source(operand) for operand in op.operands]
    return next((x for x, rest in (sides, sides[::-1]) if square_of(rest) is x), None)


FINDERS: tuple[Callable[[Graph], FoundRegions], ...] = (embeddings, norms, attention, gelu)
