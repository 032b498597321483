"""The modules of JAX's libraries in one form: their parameters, their buffers, and a call that takes both as arguments.

`opened` returns `parameters` and `buffers`, the arrays that a module was made with, by dotted name; `fan_in` of those
whose shape doesn't say it; `kinds`, the classes of modules by their names, where they are known; `takes`, the function
whose parameters are the inputs; and `call(parameters, buffers, arguments, training)`, which returns (outputs, new
buffers). It takes both nested, as `base.nested` has them. It puts the arrays into the module's structure, as users of
the library do under jit, and does nothing else.
"""

import inspect
import math
import sys
from functools import partial
from types import SimpleNamespace

import jax
import jax.numpy as jnp

from suite.stacks import base
from suite.workloads.questions.models import taken

# Arguments of a call that say its mode: in evaluation, and in training. Dropout is off in both.
MODES = {
    **dict.fromkeys(("train", "training", "is_training"), (False, True)),
    "use_running_average": (True, False),
    "deterministic": (True, True),
}
RATES = ("rate", "p", "prob")  # of a class whose name says that it drops
SINGLE = (jnp.float32, "float32")


def opened(made, inputs=None, *, wide=False):
    """Takes what a question's `jax_model` returned. `inputs` are example arguments: a linen module has no arrays
    without them, but can be called. If `wide`, what a module computes in float32 by itself it computes in float64."""
    first, second = made if isinstance(made, tuple) and len(made) == 2 else (made, None)
    settle = partial(settled, wide=wide)
    if is_of("flax.nnx", made):
        return of_nnx(made, settle)
    if is_of("flax.linen", made):
        return of_linen(made, settle, inputs)
    if callable(second):
        return of_function(first, second)
    if is_of("equinox", first):
        return of_equinox(first, second, settle)
    raise TypeError(
        f"jax_model returns a {type(made).__name__}; it may return a module of flax.nnx, flax.linen or Equinox, or "
        "(params, apply)"
    )


def is_of(library, made):
    return library in sys.modules and isinstance(made, sys.modules[library].Module)


def settled(module, *, wide):
    """Sets the rates of dropout in a module's own attributes to zero, also of dropout that isn't a module of its own;
    and, if `wide`, its types to float64."""
    drops = "drop" in type(module).__name__.lower()
    for name, value in [*vars(module).items()]:
        if isinstance(value, float) and ("drop" in name or (drops and name in RATES)):
            object.__setattr__(module, name, 0.0)  # linen's and Equinox's modules are frozen
        elif wide and "dtype" in name and value in SINGLE:
            object.__setattr__(module, name, jnp.float64)


def flags_of(call):
    """Returns what a call takes beside the inputs: (in evaluation, in training)."""
    takes = inspect.signature(call).parameters
    key = {"key": jax.random.key(0)} if "key" in takes and takes["key"].default is inspect.Parameter.empty else {}
    return [key | {name: value[mode] for name, value in MODES.items() if name in takes} for mode in (0, 1)]


def of_function(params, apply):
    (parameters, filled), flags = split(params), flags_of(apply)

    def call(parameters, buffers, arguments, *, training):
        return apply(filled(parameters), **flags[training] | arguments), buffers

    return SimpleNamespace(parameters=parameters, buffers={}, fan_in={}, kinds={}, takes=apply, call=call)


def of_linen(model, settle, inputs):
    from flax import linen

    kinds = {}

    def settling(function, arguments, named, context):
        settle(context.module)
        kinds[".".join(context.module.path)] = type(context.module).__name__
        return function(*arguments, **named)

    flags, key = flags_of(model.__call__), jax.random.key(0)
    rngs = {"params": key, "dropout": key}
    with linen.intercept_methods(settling):  # its modules are made in the call
        made = {} if inputs is None else model.lazy_init(rngs, **flags[0] | taken(model.__call__, inputs, ()))
    made = linen.unbox(made)
    if others := made.keys() - {"params", "batch_stats"}:
        raise TypeError(f"a module with parameters and batch statistics is taken; this one has {', '.join(others)} too")

    def call(parameters, buffers, arguments, *, training):
        variables = {"params": parameters, "batch_stats": buffers}
        with linen.intercept_methods(settling):
            outputs, updated = model.apply(
                variables, rngs={"dropout": key}, mutable=["batch_stats"] * training, **flags[training] | arguments
            )
        return outputs, updated.get("batch_stats", buffers)

    order = {path: place for place, path in enumerate(kinds)}  # in which modules are called; jit sorts names
    parameters, buffers = (
        dict(sorted(leaves.items(), key=lambda item: order.get(item[0].rpartition(".")[0], len(order))))
        for leaves, _ in (split(made.get(name, {})) for name in ("params", "batch_stats"))
    )
    takes = model.__call__
    return SimpleNamespace(parameters=parameters, buffers=buffers, fan_in={}, kinds=kinds, takes=takes, call=call)


def of_nnx(model, settle):
    from flax import nnx

    def of_variable(path):
        return dotted(path[:-1])  # the last is `value`

    def trained(path, value):
        return isinstance(value, nnx.Param) and jnp.issubdtype(value.dtype, jnp.inexact)

    kinds = {}
    for path, module in nnx.iter_modules(model):
        settle(module)
        kinds[dotted(path)] = type(module).__name__
    graphs = []
    for training in (False, True):  # as `model.eval()` and `model.train()` do, but for dropout
        model.set_attributes(deterministic=True, use_running_average=not training, raise_if_not_found=False)
        graph, *states = nnx.split(model, trained, nnx.BatchStat, ...)
        graphs.append(graph)
    # The last state is neither, such as the keys of random numbers: each call begins with it as it was made.
    (parameters, filled), (buffers, refilled), (rest, others) = (split(state, of_variable) for state in states)
    flags, rest, names = flags_of(model.__call__), base.nested(rest), [*buffers]

    def call(parameters, buffers, arguments, *, training):
        module = nnx.merge(graphs[training], filled(parameters), refilled(buffers), others(rest))
        outputs = module(**flags[training] | arguments)
        return outputs, renamed(names, nnx.state(module, nnx.BatchStat)) if training else buffers

    order = {name: place for place, name in enumerate(written(model))}
    parameters, buffers = (
        dict(sorted(of.items(), key=lambda item: order.get(item[0], len(order)))) for of in (parameters, buffers)
    )
    takes = model.__call__
    return SimpleNamespace(parameters=parameters, buffers=buffers, fan_in={}, kinds=kinds, takes=takes, call=call)


def written(node, name="", seen=()):
    """Yields the dotted names of what is in a module of nnx, in the order in which it was set; nnx itself sorts."""
    if isinstance(node, (list, tuple)):
        branches = [*enumerate(node)]
    else:
        branches = [*(node if isinstance(node, dict) else getattr(node, "__dict__", {})).items()]
    for key, branch in branches:
        if id(branch) not in seen and not str(key).startswith("_"):
            yield from written(branch, f"{name}.{key}".lstrip("."), (*seen, id(node)))
    yield name


def of_equinox(model, state, settle):
    import equinox as eqx

    def is_index(node):
        return isinstance(node, eqx.nn.StateIndex)

    def of_statistic(path):
        return f"{places[path[0].key]}.{dotted(path[1:])}".rstrip(".")

    if state is None:  # as `eqx.nn.make_with_state` does
        state, model = eqx.nn.State(model), eqx.nn.delete_init_state(model)
    modules = dict(submodules(model, eqx.Module))
    for module in modules.values():
        settle(module)
        if isinstance(module, eqx.nn.BatchNorm) and module.mode == "ema":  # as after its first step
            mean, variance = state.get(module.ema_state_index)
            state = state.set(module.ema_state_index, (mean, jnp.ones_like(variance)))
            state = state.set(module.ema_first_time_index, jnp.zeros((), bool))
    kept = []
    for training in (False, True):
        for module in modules.values():
            if hasattr(module, "inference"):
                stateful = any(map(is_index, jax.tree.leaves(module, is_leaf=is_index)))
                object.__setattr__(module, "inference", not (training and stateful))
        trained, static = eqx.partition(model, eqx.is_inexact_array)
        kept.append(static)
    paths = jax.tree.leaves_with_path(model, is_leaf=is_index)
    places = [*{leaf.marker: dotted(path) for path, leaf in paths if is_index(leaf)}.values()]  # as in the state
    statistics, counts = eqx.partition(state, eqx.is_inexact_array)
    (parameters, filled), (buffers, refilled) = split(trained), split(statistics, of_statistic)
    flags, names = flags_of(model.__call__), [*buffers]

    def call(parameters, buffers, arguments, *, training):
        module = eqx.combine(filled(parameters), kept[training])
        if not places:
            return module(**flags[training] | arguments), buffers
        outputs, after = module(**flags[training] | arguments, state=eqx.combine(refilled(buffers), counts))
        return outputs, renamed(names, eqx.filter(after, eqx.is_inexact_array))

    convolutions = {
        name: each for name, each in modules.items() if isinstance(each, (eqx.nn.Conv, eqx.nn.ConvTranspose))
    }
    fan_in = {f"{name}.weight": math.prod(each.weight.shape[1:]) for name, each in convolutions.items()}
    kinds, takes = {name: type(module).__name__ for name, module in modules.items()}, model.__call__
    return SimpleNamespace(parameters=parameters, buffers=buffers, fan_in=fan_in, kinds=kinds, takes=takes, call=call)


def submodules(module, kind, name=""):
    """Yields (dotted name, module) of a module in Equinox and of all in it."""
    yield name, module
    below = jax.tree.leaves_with_path(module, is_leaf=lambda node: node is not module and isinstance(node, kind))
    for path, each in below:
        if isinstance(each, kind):
            yield from submodules(each, kind, f"{name}.{dotted(path)}".lstrip("."))


def dotted(path):
    return jax.tree_util.keystr(path, simple=True, separator=".")


def split(tree, name_of=dotted):
    """Returns a tree's arrays by name, and a function that puts arrays of these names, nested as `base.nested` has
    them, into the tree."""
    paths, form = jax.tree.flatten_with_path(tree)
    named = {name_of(path): leaf for path, leaf in paths}
    places = jax.tree.leaves(base.nested({name: place for place, name in enumerate(named)}))
    order = sorted(range(len(places)), key=places.__getitem__)

    def filled(nested):
        leaves = jax.tree.leaves(nested)
        return jax.tree.unflatten(form, [leaves[place] for place in order])

    return named, filled


def renamed(names, tree):
    """Returns the arrays of a tree that `split` gave these names, nested."""
    return base.nested(dict(zip(names, jax.tree.leaves(tree), strict=True)))
