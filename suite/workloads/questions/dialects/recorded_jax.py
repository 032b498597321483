"""What the parts of a JAX model are given and return, as it runs without being compiled."""

import sys
from contextlib import ExitStack, contextmanager
from functools import wraps
from unittest.mock import patch

import jax
import numpy as np

from suite.workloads.questions.dialects.modules_jax import dotted, submodules


@contextmanager
def recorded():
    """Yields a list, to which each call of a part of a module is added: (path, class, arrays, results). A part of an
    Equinox module is called for one element of a batch, inside `jax.vmap`: a callback is given the whole batch's."""
    found, paths = [], {}

    def add(path, module, arguments, named, results):
        given = [each for each in (*arguments, *named.values()) if isinstance(each, jax.Array)]
        if path and not any(isinstance(each, jax.core.Tracer) for each in jax.tree.leaves((given, results))):
            found.append((path, type(module).__name__, given, results))
        return results

    def watched(original, iter_modules):
        @wraps(original)  # nnx.Sequential looks at what a layer takes
        def call(module, *arguments, **named):
            if id(module) not in paths:  # the model, of which the others are parts
                paths.update({id(each): dotted(path) for path, each in iter_modules(module)})
            return add(paths[id(module)], module, arguments, named, original(module, *arguments, **named))

        return call

    def tapped(original):
        @wraps(original)
        def call(module, *arguments, **named):
            if not paths:
                paths.update({id(each): name for name, each in submodules(module, sys.modules["equinox"].Module)})
            results = original(module, *arguments, **named)
            given = [each for each in (*arguments, *named.values()) if isinstance(each, jax.Array)]
            if not (path := paths.get(id(module))) or not isinstance(results, jax.Array):
                return results

            def note(results, *given):
                found.append((path, type(module).__name__, given, np.asarray(results)))
                return results

            form = jax.ShapeDtypeStruct(results.shape, results.dtype)
            return jax.pure_callback(note, form, results, *given, vmap_method="broadcast_all")

        return call

    def of_linen(function, arguments, named, context):
        return add(".".join(context.module.path), context.module, arguments, named, function(*arguments, **named))

    with ExitStack() as contexts:
        if nnx := sys.modules.get("flax.nnx"):
            for kind in [kind for kind in subclasses(nnx.Module) if "__call__" in vars(kind)]:
                contexts.enter_context(patch.object(kind, "__call__", watched(kind.__call__, nnx.iter_modules)))
        if linen := sys.modules.get("flax.linen"):
            contexts.enter_context(linen.intercept_methods(of_linen))
        if equinox := sys.modules.get("equinox"):
            for kind in [kind for kind in subclasses(equinox.Module) if "__call__" in vars(kind)]:
                contexts.enter_context(patch.object(kind, "__call__", tapped(kind.__call__)))
        yield found


def subclasses(kind):
    return [each for below in kind.__subclasses__() for each in (below, *subclasses(below))]
